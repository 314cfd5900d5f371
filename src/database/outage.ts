import type { Logger } from 'pino';
import { Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { Database } from './database.ts';
import { failureOf } from './failure.ts';

/**
 * The log of everything that runs in the background. During an outage of the database every loop and every batch fails
 * with the same error: the log has one line when the outage begins, and one when it is over. A server that is read-only
 * or out of disk still answers queries, so an outage is over only when nothing has failed since the last look either.
 */
export type OutageLog = Pick<Logger, 'info' | 'warn' | 'error'> & { stop(): void };

function isConsequence(error: unknown): boolean {
  return error instanceof Problem && error.slug === 'unavailable';
}

export function createOutageLog(database: Pick<Database, 'query' | 'refusal'>, log: Logger): OutageLog {
  let isOut = false;
  let hasFailed = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    if (isStopped) return;
    hasFailed = false;
    timer = setTimeout(() => {
      database.query('select 1').then(() => {
        if (hasFailed) return look();
        isOut = false;
        log.info('the database is available again');
      }, look);
    }, LIMITS.outageLookMs);
    timer.unref();
  }

  function warn(facts: { err?: unknown }, text: string): void {
    // A node that must not use the database has logged that already, with the reason.
    const isKnown = isOut || database.refusal() !== undefined;
    if (failureOf(facts.err) !== 'unavailable') {
      // During an outage, a command that was refused as unavailable adds nothing.
      if (!isKnown || !isConsequence(facts.err)) log.warn(facts, text);
      return;
    }
    hasFailed = true;
    if (isKnown) return;
    isOut = true;
    log.warn(facts, 'the database is unavailable; background work is paused until it is available again');
    look();
  }

  return {
    info: log.info.bind(log),
    error: log.error.bind(log),
    warn: warn as Logger['warn'],
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

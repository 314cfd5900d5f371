import type { Logger } from 'pino';
import { Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { Database } from './database.ts';
import { failureOf } from './failure.ts';

/**
 * The log of everything that goes on in the background. While the database is away each loop fails in each round, with
 * the same words: it is said once when that begins, and once when it is over. All else is logged as it comes.
 */
export type OutageLog = Pick<Logger, 'info' | 'warn' | 'error'> & { stop(): void };

function isConsequence(error: unknown): boolean {
  return error instanceof Problem && error.slug === 'unavailable';
}

export function createOutageLog(database: Pick<Database, 'query' | 'refusal'>, log: Logger): OutageLog {
  let isAway = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    if (isStopped) return;
    timer = setTimeout(() => {
      database.query('select 1').then(() => {
        isAway = false;
        log.info('the database is back');
      }, look);
    }, LIMITS.outageLookMs);
    timer.unref();
  }

  function warn(facts: { err?: unknown }, text: string): void {
    // A node that may not use the database has said so itself, with the reason.
    const isKnown = isAway || database.refusal() !== undefined;
    if (failureOf(facts.err) !== 'away') {
      // Commands that are refused meanwhile say only the same thing once more.
      if (!isKnown || !isConsequence(facts.err)) log.warn(facts, text);
      return;
    }
    if (isKnown) return;
    isAway = true;
    log.warn(facts, 'the database is away, and background work waits until it is back');
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

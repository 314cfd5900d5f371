import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { recordRefused } from '../events/append.ts';
import { type Actor, workerActor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Problem } from '../kernel/problem.ts';
import { repeat } from '../kernel/repeat.ts';
import type { Worker } from '../kernel/worker.ts';
import { LIMITS } from '../limits.ts';

/** An attempt at a privileged action that was refused. */
export type Refusal = {
  readonly actor: Actor;
  readonly action: string;
  readonly problem: Problem;
  /** What it was about, if the path names it. */
  readonly resourceId?: string | undefined;
};

type Counted = Refusal & { attempts: number; writtenAtMs: number | undefined };

const OTHERS = workerActor('refusals');

/**
 * Counts refused attempts, and writes them to the audit log: the first one of an actor at an action soon, those that follow
 * within a minute as one line with their number. So nobody can fill the disk by being refused.
 */
export function createRefusals({
  database,
  clock,
  log,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}): { note(refusal: Refusal): void; readonly worker: Worker } {
  const counted = new Map<string, Counted>();

  function note(refusal: Refusal): void {
    const { actor, action, problem } = refusal;
    let key = [actor.kind, actor.id, action, problem.slug].join(' ');
    let noted = refusal;
    if (!counted.has(key) && counted.size >= LIMITS.refusedActorsMax) {
      key = `others ${problem.slug}`;
      noted = { actor: OTHERS, action: 'privileged.attempt', problem };
    }
    const known = counted.get(key);
    if (known === undefined) counted.set(key, { ...noted, attempts: 1, writtenAtMs: undefined });
    else known.attempts += 1;
  }

  /** Those that are due; keys without an attempt for an interval are forgotten. */
  function due(isLast: boolean): Counted[] {
    const nowMs = performance.now();
    const found: Counted[] = [];
    for (const [key, one] of counted) {
      const isDue = one.writtenAtMs === undefined || nowMs - one.writtenAtMs >= LIMITS.refusedIntervalMs;
      if (one.attempts > 0 && (isDue || isLast)) found.push(one);
      else if (one.attempts === 0 && isDue) counted.delete(key);
    }
    return found;
  }

  async function write(isLast: boolean): Promise<void> {
    const found = due(isLast);
    if (found.length === 0) return;
    const at = clock.now();
    const lines = found.map(({ actor, action, problem, resourceId = '-', attempts }) => ({
      actor,
      action: `${action}.refused`,
      customerId: actor.customerId ?? null,
      resourceId,
      at,
      after: { problem: problem.slug, detail: problem.message, attempts },
    }));
    // Attempts that come in meanwhile are counted for the next line.
    for (const [index, one] of found.entries()) one.attempts -= lines[index]!.after.attempts;
    await database
      .transaction((tx) => recordRefused(tx, lines))
      .catch((error: unknown) => {
        for (const [index, one] of found.entries()) one.attempts += lines[index]!.after.attempts;
        throw error;
      });
    for (const one of found) one.writtenAtMs = performance.now();
  }

  const loop = repeat(
    LIMITS.refusedDelayMs,
    async () => {
      await write(false);
      return 'wait';
    },
    (error) => log.warn({ err: error }, 'could not record refused attempts'),
  );
  const worker: Worker = {
    name: 'refused attempts',
    stage: 'core',
    start: () => loop.start(),
    async stop() {
      await loop.stop();
      await write(true).catch((error: unknown) =>
        log.warn({ err: error }, 'could not record refused attempts'),
      );
    },
  };
  return { note, worker };
}

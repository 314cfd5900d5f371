import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../database/database.ts';
import { failureOf } from '../../database/failure.ts';
import type { Assets } from '../../kernel/asset.ts';
import type { Instant } from '../../kernel/instant.ts';
import { type Problem, unavailable } from '../../kernel/problem.ts';
import { LIMITS } from '../../limits.ts';
import { createMissingBalances } from '../balance-rows.ts';
import type { Command } from '../command.ts';
import { BatchFailure, type BatchResult, type Doubt, MissingBalances, runBatch } from './batch.ts';
import type { Cache } from './cache.ts';
import type { WritePathObserver } from './observer.ts';
import { answerAll, rejectAll, type Waiting } from './queue.ts';
import { createStuckBalances, type StuckBalances } from './stuck.ts';

/**
 * Executes a batch, handles every kind of failure, and answers every caller:
 *
 *   RUN ── committed ─────────────────────────> callers get their answers
 *    │ ^
 *    │ └── conflict, missing balance row, connection lost before the commit: run again, a bounded number of times
 *    ├──── balance stuck ─────────────────────> its commands are refused, the others run again
 *    ├──── rejected, or another lock is stuck ─> bisected, each half runs
 *    ├──── database unavailable ──────────────> refused
 *    └──── commit interrupted ────────────────> in doubt (`doubt.ts`)
 */
export type Executor = {
  execute(batch: readonly Waiting[]): Promise<void>;
  /** Handles a batch of the optimistic lane that was not committed. */
  recover(batch: readonly Waiting[], failure: BatchFailure): Promise<void>;
  /** The last instant that this node has used. */
  lastInstant(): Instant;
  advance(instant: Instant): void;
};

type Dependencies = {
  readonly database: Database;
  readonly assets: Assets;
  readonly observer: WritePathObserver;
  readonly cache: Cache;
  /** Resolves when that flight of the optimistic lane, and all before it, have landed. */
  landed(flight: number): Promise<void>;
  resolveDoubt(batch: readonly Waiting[], doubt: Doubt): Promise<void>;
};

const commandsOf = (batch: readonly Waiting[]): Command<unknown>[] => batch.map(({ command }) => command);

const BUSY = (): Problem =>
  unavailable('Another session has locked a balance of this request. Nothing was executed; retry.');
const UNAVAILABLE = (): Problem =>
  unavailable('The service is temporarily unavailable. Nothing was executed; retry with the same ref_id.');

/**
 * Nothing is committed, and a retry may succeed at once. A lost connection is replaced once: the server ends the session of
 * a node that was suspended during a batch, and an operator or a failover may end any session.
 */
const isWorthRetrying = ({ cause, inDoubt, lostEarly }: BatchFailure, attempt: number): boolean =>
  inDoubt === undefined && (failureOf(cause) === 'conflict' || (lostEarly && attempt === 1));

/** Answers the callers of a committed batch. Never throws: such a batch must not reach the code that retries failed ones. */
function finish(
  { cache, observer }: Pick<Dependencies, 'cache' | 'observer'>,
  batch: readonly Waiting[],
  { verdicts, changed, seen }: BatchResult,
): void {
  try {
    cache.learnBalances(seen.balances);
    cache.learnTime(seen.nowNs, seen.heardAt);
    cache.learnRows(seen.rows);
  } catch (error) {
    observer.trouble('bug', error);
  }
  try {
    answerAll(batch, verdicts, observer);
    observer.committed?.(changed);
  } catch (error) {
    observer.trouble('bug', error);
  }
}

/** Nothing is committed, or the commit is in doubt. */
async function endUnavailable(
  { observer, resolveDoubt }: Pick<Dependencies, 'observer' | 'resolveDoubt'>,
  batch: readonly Waiting[],
  { cause, inDoubt }: BatchFailure,
): Promise<void> {
  observer.trouble(inDoubt === undefined ? 'unavailable' : 'in-doubt', cause);
  if (inDoubt !== undefined) return resolveDoubt(batch, inDoubt);
  rejectAll(batch, UNAVAILABLE());
}

/** Refuses the commands on balances that are known to be stuck, and returns the others. */
async function withoutStuck(stuck: StuckBalances, batch: readonly Waiting[]): Promise<readonly Waiting[]> {
  const isBlocked = await stuck.blocks(commandsOf(batch)).catch(() => () => false);
  const blocked = batch.filter(({ command }) => isBlocked(command));
  if (blocked.length === 0) return batch;
  rejectAll(blocked, BUSY());
  return batch.filter(({ command }) => !isBlocked(command));
}

export function createExecutor(dependencies: Dependencies): Executor {
  const { database, assets, observer, cache, landed } = dependencies;
  const stuck = createStuckBalances(database);
  let lastInstant: Instant = 0n;

  function advance(instant: Instant): void {
    if (instant > lastInstant) lastInstant = instant;
  }

  async function bisect(batch: readonly Waiting[], isPatient: boolean): Promise<void> {
    const middle = Math.ceil(batch.length / 2);
    await execute(batch.slice(0, middle), isPatient);
    await execute(batch.slice(middle), isPatient);
  }

  /** If the database rejects a batch, it is bisected until the failing command is isolated. */
  async function fail(batch: readonly Waiting[], failure: BatchFailure, isPatient: boolean): Promise<void> {
    const kind = failureOf(failure.cause);
    if (kind === 'unavailable' || failure.inDoubt !== undefined)
      return endUnavailable(dependencies, batch, failure);
    observer.trouble('isolated', failure.cause);
    // Bisecting would wait for the lock at every level. If the lock is on a balance, the commands that need the balance
    // are refused, and the others are executed together. If it is another lock, each half waits only briefly.
    if (kind === 'timeout' && isPatient) {
      const isBalance = await stuck.learn(commandsOf(batch)).catch(() => false);
      return execute(batch, isBalance);
    }
    if (batch.length > 1) return bisect(batch, isPatient);
    rejectAll(batch, kind === 'rejected' ? failure.cause : BUSY());
  }

  async function run(commands: readonly Command<unknown>[], isPatient: boolean): Promise<BatchResult> {
    const balances = commands.flatMap((command) => command.balances);
    const flight = cache.suspend(balances);
    try {
      await landed(flight);
      return await runBatch(database, assets, commands, lastInstant, isPatient);
    } finally {
      cache.resume(balances);
    }
  }

  async function execute(given: readonly Waiting[], isPatient = true): Promise<void> {
    const batch = await withoutStuck(stuck, given);
    if (batch.length === 0) return;
    const commands = commandsOf(batch);
    for (let attempt = 1; ; attempt += 1) {
      try {
        const result = await run(commands, isPatient);
        advance(result.lastInstant);
        return finish(dependencies, batch, result);
      } catch (error) {
        const last = attempt >= LIMITS.batchAttemptsMax;
        if (error instanceof MissingBalances && !last) {
          // If this fails, the rows are missing in the next attempt as well, and the last attempt reports it.
          await createMissingBalances(database, error.keys).catch(() => undefined);
        } else if (error instanceof BatchFailure && isWorthRetrying(error, attempt) && !last) {
          observer.trouble(error.lostEarly ? 'connection-lost' : 'conflict', error.cause);
          await sleep(Math.random() * 10 * attempt);
        } else {
          return fail(batch, error instanceof BatchFailure ? error : new BatchFailure(error), isPatient);
        }
      }
    }
  }

  return {
    execute,
    async recover(batch, failure) {
      const kind = failureOf(failure.cause);
      if (kind === 'unavailable' || failure.inDoubt !== undefined)
        return endUnavailable(dependencies, batch, failure);
      if (kind === 'timeout') return fail(batch, failure, true);
      observer.trouble('stale-cache', failure.cause);
      return execute(batch);
    },
    lastInstant: () => lastInstant,
    advance,
  };
}

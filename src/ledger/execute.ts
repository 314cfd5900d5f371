import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import { failureOf } from '../database/failure.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Instant } from '../kernel/instant.ts';
import { unavailable } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import { BatchFailure, type BatchResult, type Doubt, MissingBalances, runBatch } from './batch.ts';
import type { Command } from './command.ts';
import type { Memory } from './memory.ts';
import { createMissingBalances, isStored, type TransactionOutcome } from './store.ts';
import { rejectAll, rejectUnknown, settle, type Waiting } from './waiting.ts';
import type { WritePathObserver } from './write-path.ts';

/** Sees batches through to their end, whatever happens on the way, and tells everybody who waits. */
export type Executor = {
  execute(batch: readonly Waiting[]): Promise<void>;
  /** A batch that went ahead, and was not committed. */
  recover(batch: readonly Waiting[], failure: BatchFailure): Promise<void>;
  /** Of all commands of this node so far. */
  lastInstant(): Instant;
  advance(instant: Instant): void;
};

type Dependencies = {
  readonly database: Database;
  readonly assets: Assets;
  readonly observer: WritePathObserver;
  readonly memory: Memory;
  /** Resolves when that flight, and all before it, are committed or have failed. */
  landed(flight: number): Promise<void>;
  /** A batch has nothing to do but to wait until its outcome is known, or is through with that. */
  waitsForOutcome(isSo: boolean): void;
};

export function createExecutor({
  database,
  assets,
  observer,
  memory,
  landed,
  waitsForOutcome,
}: Dependencies): Executor {
  let lastInstant: Instant = 0n;

  function advance(instant: Instant): void {
    if (instant > lastInstant) lastInstant = instant;
  }

  /** Never throws: what is committed must not reach the code that runs failed batches again. */
  function finish(
    batch: readonly Waiting[],
    { verdicts, changed, lastInstant: last, seen }: BatchResult,
  ): void {
    advance(last);
    try {
      memory.learnBalances(seen.balances);
      memory.learnTime(seen.nowNs, seen.heardAt);
      memory.learnRows(seen.rows);
    } catch (error) {
      observer.trouble('faulty', error);
    }
    try {
      settle(batch, verdicts, observer);
      observer.committed?.(changed);
    } catch (error) {
      observer.trouble('faulty', error);
    }
  }

  /**
   * A server that crashed before the commit was on disk has forgotten the transaction, and gives its id out again: so
   * "committed" counts only with a row of this very batch, and without one says that the batch was lost.
   */
  async function outcomeOf(doubt: Doubt): Promise<TransactionOutcome> {
    const outcome = await doubt.ended(database);
    if (outcome !== 'committed') return outcome;
    const stored = await isStored(database, doubt.evidence);
    if (stored === undefined) return null;
    return stored ? 'committed' : 'aborted';
  }

  /** The commit was cut off. Ask what became of it; never send the commands again before that is known. */
  async function resolveDoubt(batch: readonly Waiting[], doubt: Doubt): Promise<void> {
    const deadline = performance.now() + LIMITS.commitInDoubtMs;
    while (performance.now() < deadline) {
      const outcome = await outcomeOf(doubt).catch(() => 'in progress' as const);
      if (outcome === 'committed') return settle(batch, doubt.verdicts, observer);
      if (outcome === 'aborted') {
        return rejectAll(
          batch,
          unavailable('The database went away before the request was committed; nothing was done.'),
        );
      }
      if (outcome === null) break;
      await sleep(100);
    }
    rejectUnknown(batch);
  }

  async function halve(batch: readonly Waiting[], waits: boolean): Promise<void> {
    const middle = Math.ceil(batch.length / 2);
    await execute(batch.slice(0, middle), waits);
    await execute(batch.slice(middle), waits);
  }

  async function seeAway(batch: readonly Waiting[], { cause, inDoubt }: BatchFailure): Promise<void> {
    observer.trouble(inDoubt === undefined ? 'away' : 'in-doubt', cause);
    if (inDoubt !== undefined) {
      waitsForOutcome(true);
      return resolveDoubt(batch, inDoubt).finally(() => waitsForOutcome(false));
    }
    rejectAll(batch, unavailable('The database is away; nothing was done.'));
  }

  /** A batch that the database refuses is halved until the one command that it refuses is alone. */
  async function fail(batch: readonly Waiting[], failure: BatchFailure, waits: boolean): Promise<void> {
    const kind = failureOf(failure.cause);
    if (kind === 'away') return seeAway(batch, failure);
    observer.trouble('isolated', failure.cause);
    // Halving would pay the lock timeout once per level, and once more for each command that needs the row. Passing
    // over locked rows refuses exactly those commands at once.
    if (kind === 'stuck' && waits) return execute(batch, false);
    if (batch.length > 1) return halve(batch, waits);
    rejectAll(
      batch,
      kind === 'rejected' ? failure.cause : unavailable('The balances are busy; nothing was done.'),
    );
  }

  async function run(commands: readonly Command<unknown>[], waits: boolean): Promise<BatchResult> {
    const balances = commands.flatMap((command) => command.balances);
    const flight = memory.lend(balances);
    let result: BatchResult | undefined;
    try {
      await landed(flight);
      result = await runBatch(database, assets, commands, lastInstant, waits);
    } finally {
      memory.takeBack(balances);
    }
    return result;
  }

  async function execute(batch: readonly Waiting[], waits = true): Promise<void> {
    const commands = batch.map((waiting) => waiting.command);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return finish(batch, await run(commands, waits));
      } catch (error) {
        const last = attempt >= LIMITS.batchAttemptsMax;
        if (error instanceof MissingBalances && !last) {
          // If that fails, the rows are missing again, and the last attempt says so.
          await createMissingBalances(database, error.keys).catch(() => undefined);
        } else if (error instanceof BatchFailure && failureOf(error.cause) === 'conflict' && !last) {
          observer.trouble('conflict', error.cause);
          await sleep(Math.random() * 10 * attempt);
        } else {
          return fail(batch, error instanceof BatchFailure ? error : new BatchFailure(error), waits);
        }
      }
    }
  }

  return {
    execute,
    async recover(batch, failure) {
      const kind = failureOf(failure.cause);
      if (kind === 'away') return seeAway(batch, failure);
      observer.trouble('not-as-remembered', failure.cause);
      return execute(batch, kind !== 'stuck');
    },
    lastInstant: () => lastInstant,
    advance,
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, Database } from '../database/database.ts';
import { failureOf } from '../database/failure.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Instant } from '../kernel/instant.ts';
import { type Problem, unavailable } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import { BatchFailure, type BatchResult, type Doubt, MissingBalances, runBatch } from './batch.ts';
import type { Command } from './command.ts';
import type { Confirmation } from './confirmation.ts';
import type { Memory } from './memory.ts';
import { createMissingBalances, isStored, type TransactionOutcome, timelineOfPrimary } from './store.ts';
import { createStuckBalances } from './stuck.ts';
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
  readonly confirmation: Confirmation;
  /** Resolves when that flight, and all before it, are committed or have failed. */
  landed(flight: number): Promise<void>;
  /** A batch has nothing to do but to wait until its outcome is known, or is through with that. */
  waitsForOutcome(isSo: boolean): void;
};

const commandsOf = (batch: readonly Waiting[]): Command<unknown>[] => batch.map(({ command }) => command);

const BUSY = (): Problem => unavailable('The balances are busy; nothing was done.');

/**
 * Nothing is committed, and the same work may succeed at once. A lost connection is replaced once: the server ends the
 * session of a node that stood still inside a batch, and an operator or a failover may end any.
 */
const isWorthRetrying = ({ cause, inDoubt, lostEarly }: BatchFailure, attempt: number): boolean =>
  inDoubt === undefined && (failureOf(cause) === 'conflict' || (lostEarly && attempt === 1));

/** What one server says of a commit in doubt; with its timeline, if it has the commit. */
type Finding =
  | { readonly outcome: 'committed'; readonly timeline: string }
  | { readonly outcome: Exclude<TransactionOutcome, 'committed'>; readonly timeline?: undefined };

export function createExecutor({
  database,
  assets,
  observer,
  memory,
  confirmation,
  landed,
  waitsForOutcome,
}: Dependencies): Executor {
  const stuck = createStuckBalances(database);
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

  /** All questions on one connection: two connections might lead to two servers. */
  async function lookUp(doubt: Doubt, connection: Connection): Promise<Finding> {
    const timeline = await timelineOfPrimary(connection);
    // A standby, or a primary that was left behind by a promotion, does not know what the commit's server did.
    if (timeline === undefined || timeline < doubt.timeline) return { outcome: 'in progress' };
    const outcome = await doubt.ended(connection);
    if (outcome !== 'committed') return { outcome };
    // A server that crashed before the commit was on disk has forgotten the transaction, and reuses its id: so
    // "committed" counts only together with a row of this very batch. Without one the batch was lost.
    const stored = await isStored(connection, doubt.evidence);
    if (stored === undefined) return { outcome: null };
    return stored ? { outcome: 'committed', timeline } : { outcome: 'aborted' };
  }

  async function outcomeOf(doubt: Doubt): Promise<TransactionOutcome> {
    const connection = await database.reserve();
    const { outcome, timeline } = await lookUp(doubt, connection).finally(() => connection.release());
    if (outcome !== 'committed') return outcome;
    // What was found counts once the standby has it, and on no other server than the one where it was found.
    return (await confirmation.confirm()) === timeline ? 'committed' : 'in progress';
  }

  /** Null when it will never be known. */
  async function untilKnown(doubt: Doubt, signal: AbortSignal): Promise<TransactionOutcome> {
    while (!signal.aborted) {
      const outcome = await outcomeOf(doubt).catch(() => 'in progress' as const);
      if (outcome !== 'in progress') return outcome;
      await sleep(100);
    }
    return null;
  }

  /** The commit was cut off. Ask what became of it; never send the commands again before that is known. */
  async function resolveDoubt(batch: readonly Waiting[], doubt: Doubt): Promise<void> {
    const late = new AbortController();
    const tooLate = sleep(LIMITS.commitInDoubtMs, null, { signal: late.signal }).catch(() => null);
    const outcome = await Promise.race([untilKnown(doubt, late.signal), tooLate]);
    late.abort();
    if (outcome === 'committed') settle(batch, doubt.verdicts, observer);
    else if (outcome === 'aborted') {
      rejectAll(
        batch,
        unavailable('The database went away before the request was committed; nothing was done.'),
      );
    } else rejectUnknown(batch);
  }
  async function halve(batch: readonly Waiting[], isPatient: boolean): Promise<void> {
    const middle = Math.ceil(batch.length / 2);
    await execute(batch.slice(0, middle), isPatient);
    await execute(batch.slice(middle), isPatient);
  }

  async function seeAway(batch: readonly Waiting[], { cause, inDoubt }: BatchFailure): Promise<void> {
    observer.trouble(inDoubt === undefined ? 'away' : 'in-doubt', cause);
    if (inDoubt !== undefined) {
      waitsForOutcome(true);
      return resolveDoubt(batch, inDoubt).finally(() => waitsForOutcome(false));
    }
    rejectAll(batch, unavailable('The database is away; nothing was done.'));
  }

  /** A batch that the database rejects is bisected until the command at fault is isolated. */
  async function fail(batch: readonly Waiting[], failure: BatchFailure, isPatient: boolean): Promise<void> {
    const kind = failureOf(failure.cause);
    if (kind === 'unavailable' || failure.inDoubt !== undefined) return seeAway(batch, failure);
    observer.trouble('isolated', failure.cause);
    // Bisecting would wait for the lock once per level. If it is a balance, the commands that need it are refused and
    // all others executed together; if it is another lock, each part waits only a moment.
    if (kind === 'timeout' && isPatient) {
      const isBalance = await stuck.learn(commandsOf(batch)).catch(() => false);
      return execute(batch, isBalance);
    }
    if (batch.length > 1) return halve(batch, isPatient);
    rejectAll(batch, kind === 'rejected' ? failure.cause : BUSY());
  }

  async function run(commands: readonly Command<unknown>[], isPatient: boolean): Promise<BatchResult> {
    const balances = commands.flatMap((command) => command.balances);
    const flight = memory.lend(balances);
    let result: BatchResult | undefined;
    try {
      await landed(flight);
      result = await runBatch(database, assets, commands, lastInstant, isPatient);
    } finally {
      memory.takeBack(balances);
    }
    return result;
  }

  /** Refuses the commands on balances that are known to be stuck, and gives the others back. */
  async function withoutStuck(batch: readonly Waiting[]): Promise<readonly Waiting[]> {
    const isBlocked = await stuck.blocks(commandsOf(batch)).catch(() => () => false);
    const blocked = batch.filter(({ command }) => isBlocked(command));
    if (blocked.length === 0) return batch;
    rejectAll(blocked, BUSY());
    return batch.filter(({ command }) => !isBlocked(command));
  }

  async function execute(given: readonly Waiting[], isPatient = true): Promise<void> {
    const batch = await withoutStuck(given);
    if (batch.length === 0) return;
    const commands = commandsOf(batch);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return finish(batch, await run(commands, isPatient));
      } catch (error) {
        const last = attempt >= LIMITS.batchAttemptsMax;
        if (error instanceof MissingBalances && !last) {
          // If that fails, the rows are missing again, and the last attempt says so.
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
      if (kind === 'unavailable' || failure.inDoubt !== undefined) return seeAway(batch, failure);
      if (kind === 'timeout') return fail(batch, failure, true);
      observer.trouble('not-as-remembered', failure.cause);
      return execute(batch);
    },
    lastInstant: () => lastInstant,
    advance,
  };
}

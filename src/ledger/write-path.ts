import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import { failureOf } from '../database/failure.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Instant } from '../kernel/instant.ts';
import { Problem, unavailable } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import { BatchFailure, type BatchResult, MissingBalances, runBatch, type Verdict } from './batch.ts';
import type { BalanceKey, Command, Outcome } from './command.ts';
import { createMissingBalances, isStored, type TransactionOutcome, transactionOutcome } from './store.ts';

/**
 * The one way in: every change of value, and everything that must be consistent with one, is a command that waits
 * here until the batch before it is committed, and is then committed together with all that waited beside it.
 */
export type WritePath = {
  /** Resolves once the command is committed. Rejects with the problem that refused it. */
  submit<Answer>(command: Command<Answer>): Promise<Outcome<Answer>>;
  /** Takes no more commands, finishes those that wait. */
  stop(): Promise<void>;
};

export type WritePathObserver = {
  batch(commands: number, milliseconds: number): void;
  queue(length: number): void;
  /** A batch was committed, and changed these balances. Not called for a batch whose outcome was in doubt. */
  committed?(changed: readonly BalanceKey[]): void;
  /** For the log: batches started anew, commands isolated, commits in doubt. */
  trouble(what: 'conflict' | 'isolated' | 'in-doubt' | 'away' | 'faulty', error: unknown): void;
};

type Waiting = {
  readonly command: Command<unknown>;
  resolve(outcome: Outcome<unknown>): void;
  reject(error: unknown): void;
};

/** Repeating is safe only under a ref_id. Without one there is no hint to retry, for a client that would heed it. */
function unknownOutcome(command: Command<unknown>): Problem {
  const detail = 'The database went away while the request was committed, and its outcome is not known yet.';
  return command.key === undefined
    ? new Problem('unavailable', `${detail} It had no ref_id: look whether it was done before you repeat it.`)
    : unavailable(`${detail} Repeat it with the same ref_id.`);
}

type Dependencies = {
  readonly database: Database;
  readonly assets: Assets;
  readonly observer: WritePathObserver;
};

export function createWritePath({ database, assets, observer }: Dependencies): WritePath {
  const queue: Waiting[] = [];
  let batches = 0;
  let opening = 0;
  const answers: (() => void)[] = [];
  let isScheduled = false;
  let stopping = false;
  let lastInstant: Instant = 0n;
  const whenIdle: (() => void)[] = [];

  function settle(batch: readonly Waiting[], verdicts: readonly Verdict[]): void {
    for (const [index, waiting] of batch.entries()) {
      const verdict = verdicts[index]!;
      if (verdict.kind === 'done') waiting.resolve({ replayed: false, answer: verdict.answer });
      else if (verdict.kind === 'replay')
        waiting.resolve({ replayed: true, resourceId: verdict.resourceId, request: verdict.request });
      else if (verdict.kind === 'refused') waiting.reject(verdict.problem);
      else {
        observer.trouble('faulty', verdict.error);
        waiting.reject(verdict.error);
      }
    }
  }

  /** Never throws: what is committed must not reach the code that runs failed batches again. */
  function finish(batch: readonly Waiting[], result: BatchResult): void {
    if (result.lastInstant > lastInstant) lastInstant = result.lastInstant;
    const answer = (): void => {
      try {
        settle(batch, result.verdicts);
        observer.committed?.(result.changed);
      } catch (error) {
        observer.trouble('faulty', error);
      }
    };
    if (opening === 0) answer();
    else {
      if (answers.length === 0) setTimeout(giveAnswers, LIMITS.answersDeferredMs);
      answers.push(answer);
    }
  }

  /**
   * Answering hundreds of callers takes milliseconds. While the next batch has its locks, or is about to get them, the
   * database would wait for its writes all that time; so those go first, and the answers meanwhile.
   */
  function giveAnswers(): void {
    for (const answer of answers.splice(0)) answer();
    tellIfIdle();
  }

  /** Says that a batch waits for its locks; the function that comes back, that it does so no more. */
  function waitsForLocks(): () => void {
    opening += 1;
    let isOpening = true;
    return () => {
      if (!isOpening) return;
      isOpening = false;
      opening -= 1;
      if (opening === 0 && answers.length > 0) setImmediate(giveAnswers);
    };
  }

  function rejectAll(batch: readonly Waiting[], error: unknown): void {
    for (const waiting of batch) waiting.reject(error);
  }

  /**
   * A server that crashed before the commit was on disk has forgotten the transaction, and gives its id out again: so
   * "committed" counts only with a row of this very batch, and without one says that the batch was lost.
   */
  async function outcomeOf(doubt: NonNullable<BatchFailure['inDoubt']>): Promise<TransactionOutcome> {
    const outcome = await transactionOutcome(database, doubt.xid);
    if (outcome !== 'committed') return outcome;
    const stored = await isStored(database, doubt.evidence);
    if (stored === undefined) return null;
    return stored ? 'committed' : 'aborted';
  }

  /** The commit was cut off. Ask what became of it; never send the commands again before that is known. */
  async function resolveDoubt(
    batch: readonly Waiting[],
    doubt: NonNullable<BatchFailure['inDoubt']>,
  ): Promise<void> {
    const deadline = Date.now() + LIMITS.commitInDoubtMs;
    while (Date.now() < deadline) {
      const outcome = await outcomeOf(doubt).catch(() => 'in progress' as const);
      if (outcome === 'committed') return settle(batch, doubt.verdicts);
      if (outcome === 'aborted') {
        return rejectAll(
          batch,
          unavailable('The database went away before the request was committed; nothing was done.'),
        );
      }
      if (outcome === null) break;
      await sleep(100);
    }
    for (const { command, reject } of batch) reject(unknownOutcome(command));
  }

  async function halve(batch: readonly Waiting[], waits: boolean): Promise<void> {
    const middle = Math.ceil(batch.length / 2);
    await execute(batch.slice(0, middle), waits);
    await execute(batch.slice(middle), waits);
  }

  /** A batch that the database refuses is halved until the one command that it refuses is alone. */
  async function fail(batch: readonly Waiting[], failure: BatchFailure, waits: boolean): Promise<void> {
    const kind = failureOf(failure.cause);
    if (kind === 'away') {
      observer.trouble(failure.inDoubt === undefined ? 'away' : 'in-doubt', failure.cause);
      if (failure.inDoubt !== undefined) return resolveDoubt(batch, failure.inDoubt);
      return rejectAll(batch, unavailable('The database is away; nothing was done.'));
    }
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

  async function execute(batch: readonly Waiting[], waits: boolean): Promise<void> {
    const commands = batch.map((waiting) => waiting.command);
    for (let attempt = 1; ; attempt += 1) {
      const sent = waitsForLocks();
      try {
        const result = await runBatch(database, assets, commands, lastInstant, waits, sent);
        sent();
        return finish(batch, result);
      } catch (error) {
        sent();
        const last = attempt >= LIMITS.batchAttemptsMax;
        if (error instanceof MissingBalances && !last) {
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

  /** As many commands as fit, oldest first. */
  function take(): Waiting[] {
    let balances = 0;
    let count = 0;
    while (count < queue.length && count < LIMITS.batchCommandsMax) {
      balances += queue[count]!.command.balances.length;
      if (count > 0 && balances > LIMITS.batchBalancesMax) break;
      count += 1;
    }
    return queue.splice(0, count);
  }

  async function run(batch: readonly Waiting[]): Promise<void> {
    const started = performance.now();
    try {
      await execute(batch, true);
    } catch (error) {
      // Not reached by design; but a caller must never be left waiting.
      rejectAll(batch, error);
    }
    batches -= 1;
    observer.batch(batch.length, performance.now() - started);
    startBatches();
    tellIfIdle();
  }

  const isIdle = (): boolean => batches === 0 && queue.length === 0 && answers.length === 0;

  function tellIfIdle(): void {
    if (isIdle()) for (const idle of whenIdle.splice(0)) idle();
  }

  /**
   * While the database works on one batch, a second one is prepared and sent: so neither waits for the other. It starts
   * only when enough commands wait, since what a batch costs by itself is shared by those that are in it.
   */
  function startBatches(): void {
    isScheduled = false;
    while (
      queue.length >= (batches === 0 ? 1 : LIMITS.secondBatchCommandsMin) &&
      batches < LIMITS.batchesMax
    ) {
      const batch = take();
      batches += 1;
      observer.queue(queue.length);
      void run(batch);
    }
  }

  return {
    submit<Answer>(command: Command<Answer>): Promise<Outcome<Answer>> {
      if (stopping) return Promise.reject(unavailable('The service is stopping; nothing was done.'));
      if (queue.length >= LIMITS.queueCommandsMax) {
        return Promise.reject(unavailable(`${queue.length} requests are waiting already; nothing was done.`));
      }
      return new Promise((resolve, reject) => {
        queue.push({ command, resolve: resolve as Waiting['resolve'], reject });
        if (isScheduled || batches === LIMITS.batchesMax) return;
        isScheduled = true;
        // After the events of this turn: requests that arrived together make one batch.
        setImmediate(startBatches);
      });
    },
    stop() {
      stopping = true;
      return isIdle() ? Promise.resolve() : new Promise((resolve) => whenIdle.push(resolve));
    },
  };
}

import type { Database } from '../database/database.ts';
import type { Assets } from '../kernel/asset.ts';
import { unavailable } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import { type Flight, openSession, type Session, sendAhead } from './ahead.ts';
import { BatchFailure } from './batch.ts';
import type { BalanceKey, Command, Outcome } from './command.ts';
import { createConfirmation } from './confirmation.ts';
import { createExecutor } from './execute.ts';
import { createMemory } from './memory.ts';
import { rejectAll, settle, takeSome, type Waiting } from './waiting.ts';

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

/**
 * What can go wrong with a batch:
 * - conflict: it deadlocked with another one, or read what another one changed; it is retried;
 * - not-as-remembered: the cache was stale, which is normal where nodes share balances; it is decided again on locked rows;
 * - connection-lost: before its commit; it is retried on another connection;
 * - isolated: the database rejected it, and it is bisected until the command at fault is isolated;
 * - in-doubt: its commit was cut off, and the database is asked what became of it;
 * - away: the database is unavailable, and its commands are refused;
 * - faulty: a bug of ours, in a rule or an observer.
 */
export const TROUBLES = [
  'conflict',
  'not-as-remembered',
  'connection-lost',
  'isolated',
  'in-doubt',
  'away',
  'faulty',
] as const;
export type Trouble = (typeof TROUBLES)[number];

export type WritePathObserver = {
  batch(commands: number, milliseconds: number): void;
  queue(length: number): void;
  /** A batch was committed, and changed these balances. Not called for a batch whose outcome was in doubt. */
  committed?(changed: readonly BalanceKey[]): void;
  /** For the log: batches started anew, commands isolated, commits in doubt. */
  trouble(what: Trouble, error: unknown): void;
};

type Dependencies = {
  readonly database: Database;
  readonly assets: Assets;
  readonly observer: WritePathObserver;
};

/**
 * While the database works on one batch, the next one is prepared and sent: so neither waits for the other. But only if
 * enough commands wait: what a batch costs by itself is shared by those that are in it.
 */
function isWorthABatch(waiting: number, batchesUnderWay: number, batchesMax: number): boolean {
  if (batchesUnderWay === 0) return waiting > 0;
  return waiting >= LIMITS.secondBatchCommandsMin && batchesUnderWay < batchesMax;
}

export function createWritePath({ database, assets, observer }: Dependencies): WritePath {
  const memory = createMemory();
  const confirmation = createConfirmation(database);
  const executor = createExecutor({
    database,
    assets,
    observer,
    memory,
    confirmation,
    landed,
    waitsForOutcome,
  });
  /** Those that ask the database first, and those that need not. */
  const asking: Waiting[] = [];
  const ahead: Waiting[] = [];
  let askingBatches = 0;
  /** Batches that do nothing but wait for the outcome of their commit: nobody waits for them. */
  let doubtfulBatches = 0;
  /** Flights land in the order in which they were sent. */
  let flightsSent = 0;
  let flightsLanded = 0;
  const whenLanded: { readonly flight: number; tell(): void }[] = [];
  /** One connection for all that go ahead: so each batch comes after those that it was decided on. */
  let session: Session | undefined;
  let isConnecting = false;
  let lastFlight = { count: 0, landedMs: 0 };
  let isGathering = false;
  /** After a failure nothing goes ahead for a while: whoever shares its balances with other nodes fails every time. */
  let aheadFailures = 0;
  let aheadFromMs = 0;
  let isScheduled = false;
  let stopping = false;
  const whenIdle: (() => void)[] = [];

  function startBatches(): void {
    isScheduled = false;
    while (isWorthABatch(asking.length, askingBatches, LIMITS.batchesMax)) void ask();
    if (session !== undefined && !session.connection.isOpen() && underWay() === 0) disconnect();
    if (session !== undefined) while (isWorthAFlight()) send(session);
    if (session === undefined && !isConnecting && ahead.length > 0) void connect();
    if (isIdle()) {
      if (stopping) disconnect();
      for (const idle of whenIdle.splice(0)) idle();
    }
  }

  /** Where several callers are there, those that just got their answers are given a moment to come again. */
  function isWorthAFlight(): boolean {
    const waiting = ahead.length;
    if (underWay() > 0 || waiting === 0) return isWorthABatch(waiting, underWay(), LIMITS.flightsMax);
    if (lastFlight.count < LIMITS.gatherCommandsMin || waiting >= lastFlight.count) return true;
    const leftMs = lastFlight.landedMs + LIMITS.gatherMs - performance.now();
    if (leftMs <= 0) return true;
    if (!isGathering) {
      isGathering = true;
      setTimeout(() => {
        isGathering = false;
        startBatches();
      }, leftMs);
    }
    return false;
  }

  const isIdle = (): boolean =>
    askingBatches === 0 &&
    doubtfulBatches === 0 &&
    underWay() === 0 &&
    !isConnecting &&
    asking.length === 0 &&
    ahead.length === 0;

  async function timed(batch: readonly Waiting[], work: Promise<void>): Promise<void> {
    const started = performance.now();
    askingBatches += 1;
    try {
      await work;
    } catch (error) {
      // Not reached by design; but a caller must never be left waiting.
      rejectAll(batch, error);
    }
    askingBatches -= 1;
    observer.batch(batch.length, performance.now() - started);
    startBatches();
  }

  function waitsForOutcome(isSo: boolean): void {
    doubtfulBatches += isSo ? 1 : -1;
    askingBatches += isSo ? -1 : 1;
    if (isSo) schedule();
  }

  function ask(): Promise<void> {
    const batch = takeSome(asking, askingBatches);
    observer.queue(asking.length + ahead.length);
    return timed(batch, executor.execute(batch));
  }

  async function connect(): Promise<void> {
    isConnecting = true;
    try {
      session = await openSession(database);
      setTimeout(disconnectIfIdle, LIMITS.aheadIdleMs).unref();
    } catch {
      // Those who ask find out why, and say so.
      asking.push(...ahead.splice(0));
    }
    isConnecting = false;
    startBatches();
  }

  function disconnect(): void {
    session?.connection.release();
    session = undefined;
  }

  /** Others may need the connection; and one that lies idle for long may be gone without anybody knowing. */
  function disconnectIfIdle(): void {
    if (
      underWay() === 0 &&
      ahead.length === 0 &&
      performance.now() >= lastFlight.landedMs + LIMITS.aheadIdleMs
    )
      disconnect();
    else if (session !== undefined) setTimeout(disconnectIfIdle, LIMITS.aheadIdleMs).unref();
  }

  type Sent = { readonly batch: readonly Waiting[]; readonly flight: Flight; readonly started: number };

  /** Whoever cannot go ahead asks. */
  function send(through: Session): void {
    const started = performance.now();
    const taken = takeSome(ahead, underWay());
    observer.queue(asking.length + ahead.length);
    const commands = taken.map((waiting) => waiting.command);
    const flight = sendAhead(through, memory, assets, commands, executor.lastInstant(), flightsSent + 1);
    executor.advance(flight.lastInstant);
    const batch: Waiting[] = [];
    for (const [index, waiting] of taken.entries()) {
      (flight.verdicts[index] === undefined ? asking : batch).push(waiting);
    }
    if (flight.committed === undefined) {
      if (asking.length > 0) schedule();
      return;
    }
    flightsSent += 1;
    const sent = { batch, flight, started };
    flight.committed.then(
      () => finish(sent),
      (error: unknown) => fail(sent, error),
    );
  }

  function underWay(): number {
    return flightsSent - flightsLanded;
  }

  function land(): void {
    flightsLanded += 1;
    while (whenLanded.length > 0 && whenLanded[0]!.flight <= flightsLanded) whenLanded.shift()!.tell();
  }

  function landed(flight: number): Promise<void> {
    if (flight <= flightsLanded) return Promise.resolve();
    return new Promise((tell) => {
      whenLanded.push({ flight, tell });
      whenLanded.sort((one, other) => one.flight - other.flight);
    });
  }

  function finish({ batch, flight, started }: Sent): void {
    land();
    lastFlight = { count: batch.length, landedMs: performance.now() };
    aheadFailures = 0;
    // The next batch first: hundreds of answers take milliseconds, in which the database would have nothing to do.
    startBatches();
    const verdicts = flight.verdicts.filter((verdict) => verdict !== undefined);
    settle(batch, verdicts, observer);
    try {
      observer.committed?.(flight.changed);
      observer.batch(batch.length, performance.now() - started);
    } catch (error) {
      observer.trouble('faulty', error);
    }
  }

  /** Nothing was written, or nobody knows. */
  function fail({ batch }: Sent, error: unknown): void {
    land();
    const failure = error instanceof BatchFailure ? error : new BatchFailure(error);
    aheadFailures += 1;
    const pauseMs = Math.min(2 ** (aheadFailures - 1) * LIMITS.aheadPauseMs, LIMITS.aheadPauseMaxMs);
    aheadFromMs = performance.now() + pauseMs;
    asking.push(...ahead.splice(0));
    void timed(batch, executor.recover(batch, failure));
  }

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    // After the events of this turn: requests that arrived together make one batch.
    setImmediate(startBatches);
  }

  return {
    submit<Answer>(command: Command<Answer>): Promise<Outcome<Answer>> {
      if (stopping) return Promise.reject(unavailable('The service is stopping; nothing was done.'));
      if (confirmation.isOverdue()) {
        return Promise.reject(unavailable('The standby does not confirm commits; nothing was done.'));
      }
      const waiting = asking.length + ahead.length;
      if (waiting >= LIMITS.queueCommandsMax) {
        return Promise.reject(unavailable(`${waiting} requests are waiting already; nothing was done.`));
      }
      return new Promise((resolve, reject) => {
        const queue = command.ahead === true && performance.now() >= aheadFromMs ? ahead : asking;
        queue.push({ command, resolve: resolve as Waiting['resolve'], reject });
        // One turn may bring hundreds, and take as long as a batch: the database need not wait for its end.
        const isBatch = queue === ahead && queue.length % LIMITS.secondBatchCommandsMin === 0;
        if (isBatch && underWay() > 0) startBatches();
        else schedule();
      });
    },
    stop() {
      stopping = true;
      if (!isIdle()) return new Promise((resolve) => whenIdle.push(resolve));
      disconnect();
      return Promise.resolve();
    },
  };
}

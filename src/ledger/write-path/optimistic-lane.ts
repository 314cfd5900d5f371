import type { Database } from '../../database/database.ts';
import type { Assets } from '../../kernel/asset.ts';
import { backOffMs } from '../../kernel/back-off.ts';
import { LIMITS } from '../../limits.ts';
import { BatchFailure } from './batch.ts';
import type { Cache } from './cache.ts';
import type { Executor } from './execute.ts';
import { type Flight, type Session, sendFlight } from './flight.ts';
import type { Flights } from './flights.ts';
import { createLaneConnection } from './lane-connection.ts';
import type { WritePathObserver } from './observer.ts';
import {
  answerAll,
  createCommandQueue,
  isWorthABatch,
  secondBatchMin,
  sizeOfAll,
  type Waiting,
} from './queue.ts';

/**
 * The lane for commands that may be decided on cached balances, which the transaction then confirms. All batches use one
 * connection, so that each is executed after those whose effects it is based on.
 *
 * The pessimistic lane gets what cannot be decided here: a single command, if the cache lacks something or the command would
 * be refused; a batch that failed; and after a failure all commands for a while, because nodes that share balances would
 * fail every time.
 */
export type OptimisticLane = {
  /** False while commands have to take the pessimistic lane. */
  takes(): boolean;
  push(waiting: readonly Waiting[]): void;
  readonly queued: number;
  pump(): void;
  isIdle(): boolean;
  close(): void;
};

type Dependencies = {
  readonly database: Database;
  readonly assets: Assets;
  readonly observer: WritePathObserver;
  readonly cache: Cache;
  readonly flights: Flights;
  readonly executor: Executor;
  queued(): number;
  /** Commands that this lane cannot execute. */
  passOn(waiting: readonly Waiting[]): void;
  recover(batch: readonly Waiting[], failure: BatchFailure): void;
  readonly pump: { now(): void; soon(): void };
};

/** See migration 0044. */
const isStaleShard = (error: unknown): boolean =>
  error instanceof BatchFailure &&
  (error.cause as Error | undefined)?.message?.startsWith('a shard changed') === true;

type Sent = { readonly batch: readonly Waiting[]; readonly flight: Flight; readonly startedMs: number };

const BACK_OFF = { firstMs: LIMITS.optimisticBackOffMs, maxMs: LIMITS.optimisticBackOffMaxMs };

/** How long commands take the pessimistic lane after failures of this one. */
function createBackOff() {
  let failures = 0;
  let failedMs = Number.NEGATIVE_INFINITY;
  let untilMs = 0;
  return {
    isOver: () => performance.now() >= untilMs,
    /**
     * Returns how many batches have failed in a row. One that was in flight when another failed was based on it, and does not
     * count: otherwise a single conflict would cost a back-off of 80 ms instead of 10.
     */
    extend(startedMs: number): number {
      const nowMs = performance.now();
      if (startedMs > failedMs) {
        failures += 1;
        untilMs = nowMs + backOffMs(BACK_OFF, failures);
      }
      failedMs = nowMs;
      return failures;
    },
    /** The next failure begins with the shortest pause again. */
    reset() {
      failures = 0;
    },
  };
}

/** After a large batch, waits briefly, so that callers that just got their answers can submit their next commands. */
function createGathering(resume: () => void): {
  landed(count: number): void;
  idleMs(): number;
  isWorthWaiting(queued: number): boolean;
} {
  let last = { count: 0, landedMs: 0 };
  let isWaiting = false;
  return {
    landed(count) {
      last = { count, landedMs: performance.now() };
    },
    idleMs: () => performance.now() - last.landedMs,
    isWorthWaiting(queued) {
      if (last.count < LIMITS.gatherCommandsMin || queued >= last.count) return false;
      const leftMs = last.landedMs + LIMITS.gatherMs - performance.now();
      if (leftMs <= 0) return false;
      if (!isWaiting) {
        isWaiting = true;
        setTimeout(() => {
          isWaiting = false;
          resume();
        }, leftMs);
      }
      return true;
    },
  };
}

export function createOptimisticLane(dependencies: Dependencies): OptimisticLane {
  const { database, assets, observer, cache, flights, executor, queued, passOn, recover, pump } =
    dependencies;
  const queue = createCommandQueue();
  const gathering = createGathering(pump.now);
  const hasWork = (): boolean => flights.inFlight() > 0 || queue.size > 0;
  const connection = createLaneConnection(
    database,
    () => !hasWork() && gathering.idleMs() >= LIMITS.optimisticIdleMs,
  );
  const backOff = createBackOff();
  /** A shard was moved or split since the connection was made. */
  let isOutdated = false;

  async function open(): Promise<void> {
    // If it fails, the pessimistic lane gets the same error, and reports it.
    if (!(await connection.open())) passOn(queue.takeAll());
    pump.now();
  }

  function isWorthAFlight(): boolean {
    const inFlight = flights.inFlight();
    if (!isWorthABatch(queue.size, inFlight, LIMITS.flightsMax, secondBatchMin(database))) return false;
    return inFlight > 0 || !gathering.isWorthWaiting(queue.size);
  }

  function send(session: Session): void {
    const startedMs = performance.now();
    const taken = queue.take(flights.inFlight(), secondBatchMin(database));
    observer.queue(queued());
    const commands = taken.map((waiting) => waiting.command);
    const flight = sendFlight(session, cache, assets, commands, executor.lastInstant(), flights.next());
    executor.advance(flight.lastInstant);
    const batch = taken.filter((_, index) => flight.verdicts[index] !== undefined);
    const others = taken.filter((_, index) => flight.verdicts[index] === undefined);
    if (others.length > 0) {
      passOn(others);
      pump.soon();
    }
    if (flight.committed === undefined) return;
    flights.send();
    const sent = { batch, flight, startedMs };
    flight.committed.then(
      () => finish(sent),
      (error: unknown) => fail(sent, error),
    );
  }

  function finish({ batch, flight, startedMs }: Sent): void {
    flights.land();
    const size = sizeOfAll(batch);
    gathering.landed(size);
    backOff.reset();
    // The next batch first: hundreds of answers take milliseconds, during which the database would be idle.
    pump.now();
    const verdicts = flight.verdicts.filter((verdict) => verdict !== undefined);
    answerAll(batch, verdicts, observer);
    try {
      observer.committed?.(flight.changed);
      observer.batch(size, performance.now() - startedMs);
    } catch (error) {
      observer.trouble('bug', error);
    }
  }

  /** Nothing was written, or the commit is in doubt. */
  function fail({ batch, startedMs }: Sent, error: unknown): void {
    flights.land();
    if (isStaleShard(error)) {
      isOutdated = true;
      database.dropConnections();
    }
    // Another node has changed many balances. Batch by batch, it would take minutes of back-off to find out which.
    if (backOff.extend(startedMs) > 1) cache.forgetAllBalances();
    passOn(queue.takeAll());
    recover(batch, error instanceof BatchFailure ? error : new BatchFailure(error));
  }

  return {
    takes: backOff.isOver,
    push: queue.push,
    get queued() {
      return queue.size;
    },
    pump() {
      const isLost = isOutdated || connection.session()?.connection.isOpen() === false;
      if (isLost && flights.inFlight() === 0) {
        isOutdated = false;
        connection.close();
      }
      const session = connection.session();
      if (session === undefined) {
        if (connection.isClosed() && queue.size > 0) void open();
      } else if (!isOutdated) while (isWorthAFlight()) send(session);
    },
    isIdle: () => !hasWork() && !connection.isOpening(),
    close: connection.close,
  };
}

import type { Database } from '../../database/database.ts';
import { LIMITS } from '../../limits.ts';
import type { BatchFailure } from './batch.ts';
import type { Executor } from './execute.ts';
import type { WritePathObserver } from './observer.ts';
import {
  createCommandQueue,
  isWorthABatch,
  rejectAll,
  secondBatchMin,
  sizeOfAll,
  type Waiting,
} from './queue.ts';

/**
 * The lane for every command: batches lock what they touch, decide on the locked rows, write and commit.
 *
 *             a slot is free         commit interrupted
 *   QUEUED ──────────────────> RUNNING ────────────────> IN DOUBT
 *                                 │                        │
 *                                 └──────> ANSWERED <──────┘
 *
 * Only running batches take a slot: a batch in doubt only waits, and does not delay others.
 */
export type PessimisticLane = {
  push(waiting: readonly Waiting[]): void;
  readonly queued: number;
  /** Starts as many batches as are worthwhile. */
  pump(): void;
  /** Executes a batch of the optimistic lane that was not committed there. */
  recover(batch: readonly Waiting[], failure: BatchFailure): void;
  /** A running batch is in doubt from now on, until the returned function is called. */
  beginDoubt(): () => void;
  isIdle(): boolean;
};

type Dependencies = {
  readonly database: Database;
  readonly executor: Executor;
  readonly observer: WritePathObserver;
  /** Queued commands of the whole write path. */
  queued(): number;
  /** Called when a batch has ended or is in doubt: there may be a slot for the next one. */
  readonly pump: { now(): void; soon(): void };
};

export function createPessimisticLane(dependencies: Dependencies): PessimisticLane {
  const { database, executor, observer, queued, pump } = dependencies;
  const queue = createCommandQueue();
  let running = 0;
  let inDoubt = 0;

  async function run(batch: readonly Waiting[], work: Promise<void>): Promise<void> {
    const started = performance.now();
    running += 1;
    try {
      await work;
    } catch (error) {
      // Not expected; but no caller must be left without an answer.
      rejectAll(batch, error);
    }
    running -= 1;
    observer.batch(sizeOfAll(batch), performance.now() - started);
    pump.now();
  }

  return {
    push: queue.push,
    get queued() {
      return queue.size;
    },
    pump() {
      while (isWorthABatch(queue.size, running, LIMITS.batchesMax, secondBatchMin(database))) {
        const batch = queue.take(running, secondBatchMin(database));
        observer.queue(queued());
        void run(batch, executor.execute(batch));
      }
    },
    recover(batch, failure) {
      void run(batch, executor.recover(batch, failure));
    },
    beginDoubt() {
      running -= 1;
      inDoubt += 1;
      pump.soon();
      return () => {
        inDoubt -= 1;
        running += 1;
      };
    },
    isIdle: () => running === 0 && inDoubt === 0 && queue.size === 0,
  };
}

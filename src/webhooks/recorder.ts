import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { type Outcome, recordOutcomes } from './delivery-store.ts';

/** Writes down what became of attempts: those of all endpoints that end meanwhile share a transaction. */
export type Recorder = {
  /** Resolves with false when it could not be written: the lease is lost, or the database away for too long. */
  record(outcome: Outcome): Promise<boolean>;
};

type Waiting = { readonly outcome: Outcome; readonly resolve: (recorded: boolean) => void };

const OUTCOMES_MAX = 500;
const RETRIES_MAX = 20;
const RETRY_MS = 250;

export function createRecorder(database: Database, log: Pick<Logger, 'warn'>): Recorder {
  let waiting: Waiting[] = [];
  let isRunning = false;

  async function write(batch: readonly Waiting[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const recorded = await recordOutcomes(
          database,
          batch.map((one) => one.outcome),
        );
        for (const { outcome, resolve } of batch) resolve(recorded.has(outcome.deliveryId));
        return;
      } catch (error) {
        log.warn({ err: error, attempt }, 'outcomes of deliveries could not be recorded');
        if (attempt === RETRIES_MAX) break;
        await sleep(RETRY_MS);
      }
    }
    // They will be delivered once more, which receivers have to expect.
    for (const { resolve } of batch) resolve(false);
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, OUTCOMES_MAX);
      waiting = waiting.slice(OUTCOMES_MAX);
      await write(batch);
    }
    isRunning = false;
  }

  return {
    record(outcome) {
      return new Promise((resolve) => {
        waiting.push({ outcome, resolve });
        if (isRunning) return;
        isRunning = true;
        // Those that end in the same turn go together.
        setImmediate(() => void run());
      });
    },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { type Outcome, recordOutcomes } from './delivery-store.ts';

/** Records the outcomes of attempts. Outcomes that arrive while a transaction runs share the next one. */
export type Recorder = {
  /** Resolves with false if it could not be recorded: the lease is lost, or the database was unavailable for too long. */
  record(outcome: Outcome): Promise<boolean>;
};

type Unrecorded = { readonly outcome: Outcome; readonly resolve: (recorded: boolean) => void };

const OUTCOMES_MAX = 500;
const RETRIES_MAX = 20;
const RETRY_MS = 250;

export function createRecorder(database: Database, log: Pick<Logger, 'warn'>): Recorder {
  let waiting: Unrecorded[] = [];
  let isRunning = false;

  async function write(batch: readonly Unrecorded[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const recorded = await recordOutcomes(
          database,
          batch.map((one) => one.outcome),
        );
        for (const { outcome, resolve } of batch) resolve(recorded.has(outcome.deliveryId));
        return;
      } catch (error) {
        log.warn({ err: error, attempt }, 'could not record the outcomes of deliveries');
        if (attempt === RETRIES_MAX) break;
        await sleep(RETRY_MS);
      }
    }
    // These events are sent again; receivers have to expect duplicates.
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
        // Outcomes of the same turn of the event loop share a transaction.
        setImmediate(() => void run());
      });
    },
  };
}

import type { Database } from '../database/database.ts';
import { LIMITS } from '../limits.ts';
import type { Endpoint } from './endpoint.ts';
import type { Lease } from './lease.ts';
import { fanOut } from './lease-store.ts';
import type { Queue } from './queue.ts';

/** Moves new events from the feed into the queue of one endpoint. */
export type Intake = {
  /** The feed may have new events. */
  expectEvents(): void;
  /** Whether there may be new events, and room for them. */
  isWanted(): boolean;
  dueInMs(): number;
  /** `changed`: the settings are no longer those of the generation, and nothing was taken. */
  take(endpoint: Endpoint, generation: bigint): Promise<'taken' | 'changed'>;
};

type Dependencies = {
  readonly database: Database;
  readonly lease: Lease;
  readonly queue: Queue;
  nowMs(): number;
};

export function createIntake({ database, lease, queue, nowMs }: Dependencies): Intake {
  let mayHaveEvents = true;
  let nextTakeMs = 0;

  function room(): number {
    return Math.min(LIMITS.webhookFanOutMax, LIMITS.webhookPendingMax - queue.size);
  }

  return {
    expectEvents() {
      mayHaveEvents = true;
    },
    isWanted: () => mayHaveEvents && room() >= LIMITS.webhookFanOutMax / 2,
    dueInMs: () => nextTakeMs - performance.now(),
    async take(endpoint, generation) {
      mayHaveEvents = false;
      nextTakeMs = performance.now() + LIMITS.webhookFanOutIntervalMs;
      const { token } = lease;
      const taken = await fanOut(database, endpoint, { token, generation, nowMs: nowMs(), limit: room() });
      if (taken === 'changed') return 'changed';
      queue.add(taken.deliveries);
      if (taken.hasMore) {
        mayHaveEvents = true;
        nextTakeMs = 0;
      }
      return 'taken';
    },
  };
}

import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import { createLoop } from '../kernel/loop.ts';
import { LIMITS } from '../limits.ts';
import { customersBetween, feedHead, markFeed, sequence } from './feed-store.ts';

/**
 * Assigns positions in the feed to committed events, and reports whose feeds have grown. Every commit of this node wakes it;
 * a short poll finds the commits of other nodes.
 */
export type Sequencer = {
  /** This node has committed something. */
  wake(): void;
  start(): Promise<void>;
  stop(): Promise<void>;
};

export type SequencerOptions = {
  readonly database: Database;
  readonly log: Pick<Logger, 'warn'>;
  /** The feeds of these customers have grown. */
  grown(customerIds: readonly string[]): void;
  readonly intervalMs?: number;
  readonly pollMs?: number;
};

export function createSequencer(options: SequencerOptions): Sequencer {
  const { database, log, grown } = options;
  const { intervalMs = LIMITS.eventSequenceIntervalMs, pollMs = LIMITS.eventPollMs } = options;
  let seen = 0n;
  let nextMarkMs = 0;
  let isFailing = false;

  /** The end of the feed once everything that is committed has its position. */
  async function headAfterAll(): Promise<bigint> {
    for (;;) {
      const { count, position } = await sequence(database, LIMITS.eventSequenceGroupsMax);
      if (count < LIMITS.eventSequenceGroupsMax) return position;
    }
  }

  async function markIfDue(): Promise<void> {
    if (performance.now() < nextMarkMs) return;
    nextMarkMs = performance.now() + LIMITS.eventMarkIntervalMs;
    await markFeed(database, BigInt(LIMITS.eventMarkIntervalMs) * NS_PER_MS);
  }

  const loop = createLoop({
    spacingMs: intervalMs,
    async turn(hasCommitted) {
      // After a commit of this node there are events without a position; otherwise a query is cheaper than the lock.
      const head = hasCommitted ? undefined : await feedHead(database);
      const position = head === undefined || head.waiting ? await headAfterAll() : head.position;
      if (position > seen) {
        grown(await customersBetween(database, seen, position));
        seen = position;
      }
      await markIfDue();
      isFailing = false;
      return pollMs;
    },
    failed(error) {
      if (!isFailing) log.warn({ err: error }, 'could not assign positions in the feed to events');
      isFailing = true;
      return pollMs;
    },
  });

  return {
    wake: loop.wake,
    async start() {
      // Readers start later, and read themselves what is in the feed by then.
      seen = (await feedHead(database)).position;
      loop.start();
    },
    stop: loop.stop,
  };
}

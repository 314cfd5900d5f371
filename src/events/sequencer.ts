import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';
import { customersBetween, feedHead, markFeed, sequence } from './feed-store.ts';

/**
 * Keeps the feed moving on this node: gives committed events their positions, and says whose feed has grown. Woken
 * after every commit of this node; what other nodes do is noticed by a short poll.
 */
export type Sequencer = {
  /** Something was committed here. */
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
  const intervalMs = options.intervalMs ?? LIMITS.eventSequenceIntervalMs;
  const pollMs = options.pollMs ?? LIMITS.eventPollMs;
  let seen = 0n;
  let isWoken = false;
  let stopped = true;
  let interrupt: (() => void) | undefined;
  let running: Promise<void> | undefined;
  let nextMarkMs = 0;
  let isFailing = false;

  /** Where the feed ends when all that is committed has its position. */
  async function headAfterAll(): Promise<bigint> {
    for (;;) {
      const { count, position } = await sequence(database, LIMITS.eventSequenceGroupsMax);
      if (count < LIMITS.eventSequenceGroupsMax) return position;
    }
  }

  async function turn(hasCommitted: boolean): Promise<void> {
    // After a commit of our own there is something to be done; otherwise a look is cheaper than taking the lock.
    const head = hasCommitted ? undefined : await feedHead(database);
    const position = head === undefined || head.waiting ? await headAfterAll() : head.position;
    if (position > seen) {
      grown(await customersBetween(database, seen, position));
      seen = position;
    }
    if (performance.now() >= nextMarkMs) {
      nextMarkMs = performance.now() + LIMITS.eventMarkIntervalMs;
      await markFeed(database, BigInt(LIMITS.eventMarkIntervalMs) * NS_PER_MS);
    }
  }

  /** Until the next poll is due, or something was committed here. */
  async function pause(): Promise<void> {
    if (isWoken || stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pollMs);
      timer.unref();
      interrupt = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    interrupt = undefined;
  }

  async function run(): Promise<void> {
    for (;;) {
      if (stopped) return;
      const hasCommitted = isWoken;
      isWoken = false;
      try {
        await turn(hasCommitted);
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.warn({ err: error }, 'events cannot be put in order');
        isFailing = true;
        isWoken = false;
      }
      // Commits that come in quick succession share a turn.
      await sleep(intervalMs, undefined, { ref: false });
      await pause();
    }
  }

  return {
    wake() {
      isWoken = true;
      interrupt?.();
    },
    async start() {
      // Readers come after the start, and look for themselves at what is there.
      seen = (await feedHead(database)).position;
      stopped = false;
      running = run();
    },
    async stop() {
      stopped = true;
      interrupt?.();
      await running;
    },
  };
}

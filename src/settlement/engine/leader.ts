import type { Connection, Database } from '../../database/database.ts';
import { NS_PER_MS } from '../../kernel/instant.ts';
import { createModes } from '../../kernel/mode.ts';
import { LIMITS } from '../../limits.ts';
import * as store from '../engine-store.ts';
import type { Engine } from './engine.ts';
import type { SetAside } from './set-aside.ts';

/**
 * One node leads at a time: it finds windows that open or end, and work that other nodes left undone.
 *
 *                 the session lock is free (tried every settlementLeadMs)
 *   FOLLOWING ──────────────────────────────────────────────────────────> LEADING
 *       ^                                                                    │
 *       └───────────────── resign: a turn failed, or the worker stops ───────┘
 *
 * The leader reads through the connection that holds the lock: if the connection is lost, the node no longer leads.
 */
export type Leader = {
  /** As a follower, tries to become the leader at an interval; as the leader, does what is due. */
  turn(): Promise<void>;
  dueInMs(): number;
  resign(): Promise<void>;
};

type Mode = { readonly name: 'FOLLOWING' } | { readonly name: 'LEADING'; readonly connection: Connection };

type Dependencies = {
  readonly database: Database;
  readonly engine: Engine;
  readonly setAside: Pick<SetAside, 'ids'>;
};

/** Expires transactions whose window has ended, and tries those whose window has opened. */
async function tryDue(
  { engine, setAside }: Pick<Dependencies, 'engine' | 'setAside'>,
  connection: Connection,
  { nowNs, nextStartNs, nextEndNs }: store.Due,
): Promise<{ found: number; done: number }> {
  const without = setAside.ids();
  let found = 0;
  let done = 0;
  if (nextEndNs !== null && nextEndNs <= nowNs) {
    const ended = await store.endedSettlements(connection, without, LIMITS.settlementPageMax);
    found += ended.length;
    done += await engine.expire(ended);
  }
  if (nextStartNs !== null && nextStartNs <= nowNs) {
    const opened = await store.openedSettlements(connection, without, LIMITS.settlementPageMax);
    found += opened.length;
    done += await engine.tryThese(opened);
  }
  return { found, done };
}

export function createLeader({ database, engine, setAside }: Dependencies): Leader {
  const modes = createModes<Mode>(
    'the settlement leader',
    { name: 'FOLLOWING' },
    { FOLLOWING: ['LEADING'], LEADING: ['FOLLOWING'] },
  );
  // By the monotonic clock, so that a change of the wall clock causes no delay.
  let nextTryAt = 0;
  let nextPollAt = 0;
  let nextGrownAt = 0;

  async function tryToLead(): Promise<void> {
    nextTryAt = performance.now() + LIMITS.settlementLeadMs;
    const connection = await database.reserve();
    try {
      if (await store.tryLead(connection)) modes.become({ name: 'LEADING', connection });
    } finally {
      if (!modes.is('LEADING')) connection.release();
    }
  }

  /** Reads one row for each balance that transactions wait for: the more there are, the less often. */
  async function tryGrown(connection: Connection): Promise<number> {
    const started = performance.now();
    if (started < nextGrownAt) return 0;
    const found = await store.grownAnywhere(connection, LIMITS.settlementPageMax);
    const spentMs = performance.now() - started;
    nextGrownAt = started + Math.max(LIMITS.settlementPollMs - 1, 20 * spentMs);
    return engine.tryGrown(found);
  }

  async function poll(connection: Connection): Promise<void> {
    const started = performance.now();
    if (started < nextPollAt) return;
    const due = await store.nextDue(connection);
    const { found, done } = await tryDue({ engine, setAside }, connection, due);
    const settled = await tryGrown(connection);
    const ended = performance.now();
    // After any progress there may be more; otherwise wait for the next window, or the next poll.
    if (done + settled > 0) nextPollAt = 0;
    else if (found > 0) nextPollAt = ended + LIMITS.settlementRetryMs;
    else nextPollAt = ended + Math.min(LIMITS.settlementPollMs, nextWindowInMs(due, ended - started));
  }

  return {
    async turn() {
      if (modes.is('FOLLOWING') && performance.now() >= nextTryAt) await tryToLead();
      const mode = modes.now();
      if (mode.name === 'LEADING') await poll(mode.connection);
    },
    dueInMs: () => (modes.is('LEADING') ? nextPollAt : nextTryAt) - performance.now(),
    async resign() {
      const mode = modes.now();
      if (mode.name !== 'LEADING') return;
      modes.become({ name: 'FOLLOWING' });
      // A connection that is lost has lost the lock as well.
      await store.resign(mode.connection).catch(() => undefined);
      mode.connection.release();
    },
  };
}

/** Milliseconds until the next window opens or ends, rounded up: a poll that comes early finds nothing. */
function nextWindowInMs({ nowNs, nextStartNs, nextEndNs }: store.Due, spentMs: number): number {
  const delays = [nextStartNs, nextEndNs].flatMap((instant) =>
    instant === null || instant <= nowNs
      ? []
      : [Math.ceil(Number(instant - nowNs) / Number(NS_PER_MS)) - spentMs],
  );
  return Math.max(0, Math.min(...delays));
}

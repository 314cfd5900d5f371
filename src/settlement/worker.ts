import type { Database } from '../database/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import { createLoop } from '../kernel/loop.ts';
import type { BalanceKey } from '../ledger/command.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { LIMITS } from '../limits.ts';
import type { EngineTables } from './engine/commands.ts';
import { createEngine } from './engine/engine.ts';
import { createLeader } from './engine/leader.ts';
import { createPacer } from './engine/pace.ts';
import type { DisabledProfiles } from './engine/plan.ts';
import { createSetAside } from './engine/set-aside.ts';
import { createWatchedBalances } from './engine/watch.ts';
import { grownOf } from './engine-store.ts';
import type { Settlement } from './transaction.ts';

/**
 * Tries transactions when something happens that may let them settle:
 *
 * - an affirmation on this node (reported by the route), and a credit on this node to a balance that a transaction waits
 *   for (reported by the write path): at once;
 * - a window that opens or ends: one node, the leader, sleeps until the next one, which it reads from an index;
 * - anything that happened on other nodes, or was lost in a crash: the leader polls every `settlementPollMs`. All
 *   remaining work can be found in the database, through indexes that contain nothing else.
 *
 * Several nodes may try the same transaction; commands decide on locked rows, so it settles once. The worker is a loop of
 * turns (src/kernel/loop.ts) in which this node follows or leads:
 *
 *             start               the lock is free
 *   STOPPED ────────> FOLLOWING ───────────────────> LEADING
 *      ^                │   ^                         │   │
 *      │                │   └───── a turn failed ─────┘   │
 *      └──────── stop ──┴─────────────────────────────────┘
 */
export type SettlementWorker = {
  start(): void;
  stop(): Promise<void>;
  /** A transaction was affirmed on this node. */
  readonly affirmed: (settlement: Settlement) => void;
  /** This node has changed balances. */
  readonly changed: (keys: readonly BalanceKey[]) => void;
};

export type SettlementWorkerDependencies = {
  readonly database: Database;
  readonly writePath: WritePath;
  readonly tables: EngineTables;
  readonly disabledProfiles: DisabledProfiles;
  readonly clock: Clock;
  readonly failed: (error: unknown, what: string) => void;
};

/** Milliseconds from the affirmation until the window opens; zero or less if it is open. */
function opensInMs({ windowStartNs, updatedAtNs }: Settlement): number {
  return Math.ceil(Number(windowStartNs - updatedAtNs) / Number(NS_PER_MS));
}

export function createSettlementWorker(dependencies: SettlementWorkerDependencies): SettlementWorker {
  const { database, failed } = dependencies;
  const affirmedIds = new Set<string>();
  const watched = createWatchedBalances(database);
  const setAside = createSetAside(failed);
  const engine = createEngine({ ...dependencies, watch: watched, setAside });
  const leader = createLeader({ database, engine, setAside });
  // Limits unsuccessful work to a fifth of the time: a balance that grows with every batch must not keep the engine busy.
  const pacer = createPacer(LIMITS.settlementRetryMs, LIMITS.settlementRetryPause);

  async function tryAffirmed(): Promise<void> {
    if (affirmedIds.size === 0) return;
    const ids = [...affirmedIds].slice(0, LIMITS.settlementPageMax);
    for (const id of ids) affirmedIds.delete(id);
    await engine.tryIds(ids);
  }

  async function tryGrownHere(): Promise<void> {
    if (!watched.hasChanges() || !pacer.due()) return;
    await pacer.run(async () => engine.tryGrown(await grownOf(database, watched.takeChanges())));
  }

  function nextTurnInMs(): number {
    if (affirmedIds.size > 0) return 0;
    const delays = [watched.refreshInMs(), leader.dueInMs()];
    if (watched.hasChanges()) delays.push(pacer.dueInMs());
    return Math.max(0, Math.min(...delays));
  }

  const loop = createLoop({
    async turn() {
      await tryAffirmed();
      await tryGrownHere();
      await watched.refreshIfDue();
      await leader.turn();
      return nextTurnInMs();
    },
    async failed(error) {
      failed(error, 'the settlement engine could not look for work');
      await leader.resign();
      return LIMITS.settlementLeadMs;
    },
  });

  function tryNow(id: string): void {
    affirmedIds.add(id);
    loop.wake();
  }

  return {
    start: () => loop.start(),
    async stop() {
      await loop.stop();
      await leader.resign();
    },
    affirmed(settlement) {
      if (!loop.isRunning()) return;
      const delayMs = opensInMs(settlement);
      if (delayMs <= 0) tryNow(settlement.id);
      // The leader may be another node, which finds it only with its next poll.
      else if (delayMs < 2 * LIMITS.settlementPollMs) setTimeout(tryNow, delayMs, settlement.id).unref();
    },
    changed(keys) {
      if (loop.isRunning() && watched.noteChanges(keys)) loop.wake();
    },
  };
}

import type { Connection, Database } from '../database/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import { balanceKeyText } from '../ledger/book.ts';
import type { BalanceKey } from '../ledger/command.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { LIMITS } from '../limits.ts';
import { createEngine, type DisabledProfiles } from './engine.ts';
import * as store from './engine-store.ts';
import { createPacer, createWakeup } from './pace.ts';
import type { EngineTables } from './settle.ts';
import type { Settlement } from './transaction.ts';

/**
 * Wakes for what may let a transaction settle, and tries just that:
 *
 * - an affirmation on this node, told by the route; a credit on this node, told by the write path, if somebody waits
 *   for that balance: at once;
 * - a window that opens or ends: one node, the leader, sleeps until the next one, which an index knows;
 * - whatever happened on other nodes, or was lost in a crash: the leader looks every `settlementPollMs`. Everything
 *   there is to do stands in the database, in indexes that hold nothing else.
 *
 * Several nodes may try the same transaction; commands decide on locked rows, so it settles once.
 */
export type SettlementWorker = {
  start(): void;
  stop(): Promise<void>;
  /** A transaction was affirmed here. */
  readonly affirmed: (settlement: Settlement) => void;
  /** Balances were changed here. */
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

export function createSettlementWorker(dependencies: SettlementWorkerDependencies): SettlementWorker {
  const { database, failed } = dependencies;
  const wakeup = createWakeup();
  const pacer = createPacer(LIMITS.settlementRetryMs, LIMITS.settlementRetryPause);
  const watched = new Set<string>();
  const grown = new Map<string, BalanceKey>();
  const affirmedIds = new Set<string>();
  const aside = new Map<string, number>();
  let stopped = true;
  let running: Promise<void> = Promise.resolve();
  let lead: Connection | undefined;
  // By the monotonic clock: a wall clock that is set back must not make anything wait.
  let nextLeadAt = 0;
  let nextPollAt = 0;
  let nextGrownAt = 0;
  let nextRefreshAt = 0;

  const engine = createEngine({
    ...dependencies,
    watch: {
      add(keys) {
        for (const { profileId, asset } of keys) {
          if (watched.size < LIMITS.settlementWatchedMax) watched.add(balanceKeyText(profileId, asset));
        }
      },
      remove(keys) {
        for (const { profileId, asset } of keys) watched.delete(balanceKeyText(profileId, asset));
      },
    },
    aside: {
      add(many, error, forMs) {
        failed(error, `settlement transactions could not be tried: ${many.map(({ id }) => id).join(', ')}`);
        for (const { id } of many) aside.set(id, performance.now() + forMs);
      },
      has: (id) => (aside.get(id) ?? 0) > performance.now(),
    },
  });

  function setAsideIds(): string[] {
    for (const [id, until] of aside) if (until < performance.now()) aside.delete(id);
    return [...aside.keys()];
  }

  function take<Key, Value>(from: Map<Key, Value>): Value[] {
    const some = [...from].slice(0, LIMITS.settlementPageMax);
    for (const [key] of some) from.delete(key);
    return some.map(([, value]) => value);
  }

  async function tryAffirmed(): Promise<void> {
    if (affirmedIds.size === 0) return;
    const ids = [...affirmedIds].slice(0, LIMITS.settlementPageMax);
    for (const id of ids) affirmedIds.delete(id);
    await engine.tryIds(ids);
  }

  async function tryGrown(found: readonly store.Grown[]): Promise<number> {
    let settled = 0;
    for (const one of found) settled += await engine.tryWaiting(one);
    return settled;
  }

  /** In vain at most a fifth of the time: a balance that grows with every batch must not keep the engine busy. */
  async function tryGrownHere(): Promise<void> {
    if (grown.size === 0 || !pacer.due()) return;
    await pacer.run(async () => tryGrown(await store.grownOf(database, take(grown))));
  }

  async function refreshWatched(): Promise<void> {
    if (performance.now() < nextRefreshAt) return;
    const started = performance.now();
    const keys = await store.watchedBalances(database, LIMITS.settlementWatchedMax);
    const spentMs = performance.now() - started;
    nextRefreshAt = performance.now() + Math.max(LIMITS.settlementWatchRefreshMs, 100 * spentMs);
    watched.clear();
    for (const { profileId, asset } of keys) watched.add(balanceKeyText(profileId, asset));
  }

  async function leads(): Promise<boolean> {
    if (lead !== undefined) return true;
    if (performance.now() < nextLeadAt) return false;
    nextLeadAt = performance.now() + LIMITS.settlementLeadMs;
    const connection = await database.reserve();
    try {
      if (await store.tryLead(connection)) lead = connection;
    } finally {
      if (lead === undefined) connection.release();
    }
    return lead !== undefined;
  }

  async function resign(): Promise<void> {
    const connection = lead;
    lead = undefined;
    if (connection === undefined) return;
    await store.resign(connection).catch(() => undefined);
    connection.release();
  }

  /** Reads one row for each balance that is waited for: less often where they are many. */
  async function tryGrownAnywhere(connection: Connection): Promise<number> {
    const started = performance.now();
    if (started < nextGrownAt) return 0;
    const found = await store.grownAnywhere(connection, LIMITS.settlementPageMax);
    const spentMs = performance.now() - started;
    nextGrownAt = started + Math.max(LIMITS.settlementPollMs - 1, 20 * spentMs);
    return tryGrown(found);
  }

  /** Windows, and what others left. Through the connection that holds the lead: if it is lost, so is the lead. */
  async function lookAround(connection: Connection): Promise<void> {
    const started = performance.now();
    if (started < nextPollAt) return;
    const { nowNs, nextStartNs, nextEndNs } = await store.nextDue(connection);
    const without = setAsideIds();
    let done = 0;
    let found = 0;
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
    done += await tryGrownAnywhere(connection);
    const spentMs = performance.now() - started;
    // More of the same at once, if there was any progress; else when the next window opens or ends, or the next poll.
    if (done > 0) nextPollAt = 0;
    else if (found > 0) nextPollAt = performance.now() + LIMITS.settlementRetryMs;
    else
      nextPollAt =
        performance.now() + Math.min(LIMITS.settlementPollMs, nextIn(nowNs, spentMs, nextStartNs, nextEndNs));
  }

  async function pass(): Promise<void> {
    await tryAffirmed();
    await tryGrownHere();
    await refreshWatched();
    if (await leads()) await lookAround(lead!);
  }

  async function loop(): Promise<void> {
    for (;;) {
      try {
        await pass();
      } catch (error) {
        if (!stopped) failed(error, 'the settlement engine could not look for work');
        await resign();
        await wakeup.sleep(LIMITS.settlementLeadMs);
      }
      if (stopped) break;
      if (affirmedIds.size > 0) continue;
      const waits = [
        nextRefreshAt - performance.now(),
        lead === undefined ? nextLeadAt - performance.now() : nextPollAt - performance.now(),
      ];
      if (grown.size > 0) waits.push(pacer.dueInMs());
      await wakeup.sleep(Math.max(0, Math.min(...waits)));
    }
    await resign();
  }

  return {
    start() {
      stopped = false;
      running = loop();
    },
    async stop() {
      stopped = true;
      wakeup.wake();
      await running;
    },
    affirmed({ id, windowStartNs, updatedAtNs }) {
      if (stopped) return;
      const opensInMs = Number(windowStartNs - updatedAtNs) / Number(NS_PER_MS);
      const tell = (): void => {
        affirmedIds.add(id);
        wakeup.wake();
      };
      if (opensInMs <= 0) tell();
      // The leader may be another node, and not hear of it in time.
      else if (opensInMs < 2 * LIMITS.settlementPollMs) setTimeout(tell, Math.ceil(opensInMs)).unref();
    },
    changed(keys) {
      if (stopped || watched.size === 0) return;
      let any = false;
      for (const key of keys) {
        const text = balanceKeyText(key.profileId, key.asset);
        if (!watched.has(text)) continue;
        grown.set(text, { profileId: key.profileId, asset: key.asset });
        any = true;
      }
      if (any) wakeup.wake();
    },
  };
}

/** Milliseconds until the next window opens or ends, rounded up: a wake-up that comes early would find nothing. */
function nextIn(nowNs: bigint, spentMs: number, ...instants: readonly (bigint | null)[]): number {
  const delays = instants.flatMap((instant) =>
    instant === null || instant <= nowNs
      ? []
      : [Math.ceil(Number(instant - nowNs) / Number(NS_PER_MS)) - spentMs],
  );
  return Math.max(0, Math.min(...delays));
}

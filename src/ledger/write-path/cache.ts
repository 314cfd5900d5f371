import { type Instant, NS_PER_SECOND } from '../../kernel/instant.ts';
import { LIMITS } from '../../limits.ts';
import { type BalanceRow, balanceKeyText } from '../book.ts';
import type { BalanceKey, Table } from '../command.ts';

/**
 * What a node has read from the database, so that it can decide without reading again. It may be stale: the transaction
 * that writes a decision confirms everything that the decision was based on.
 */
export type Cache = {
  balance(profileId: string, asset: string): BalanceRow | undefined;
  row(table: Table<unknown>, key: string): unknown;
  /** The database's time, never ahead of it. Undefined until it was read once. */
  now(): Instant | undefined;
  /** Whether this node used the key recently. A hint: it can be wrong either way, and `true` is wrong very rarely. */
  wasUsed(keyText: string): boolean;

  /**
   * A batch is about to lock and change these balances: drops them, and caches nothing about them until every such batch
   * has called `resume`. Returns the last flight that changed any of them: locking before it has landed would make it fail.
   */
  suspend(keys: readonly BalanceKey[]): number;
  resume(keys: readonly BalanceKey[]): void;
  learnBalances(rows: Iterable<BalanceRow>): void;
  learnRows(rows: ReadonlyMap<Table<unknown>, ReadonlyMap<string, unknown>>): void;
  /** The database's time, and when this node received it, by its monotonic clock. */
  learnTime(nowNs: Instant, heardAt: bigint): void;
  learnKey(keyText: string): void;
  forgetBalances(keys: readonly BalanceKey[]): void;
  forgetRows(table: Table<unknown>, keys: Iterable<string>): void;
  /** All balances. If batches in flight have changed some of them, commands on these may be decided twice. */
  forgetAllBalances(): void;
};

type Lru<Value> = {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
};

/** Keeps recently used entries in two generations: when the young one is full, the old one is dropped. */
export function createLru<Value>(entriesMax: number): Lru<Value> {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  function set(key: string, value: Value): void {
    young.set(key, value);
    if (young.size < entriesMax / 2) return;
    old = young;
    young = new Map();
  }
  return {
    get(key) {
      const recent = young.get(key);
      if (recent !== undefined) return recent;
      const value = old.get(key);
      if (value !== undefined) {
        old.delete(key);
        set(key, value);
      }
      return value;
    },
    set,
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

/**
 * Texts that were added recently, stored only as hashes: thousands of texts per second that live for a minute each would
 * burden the garbage collector.
 */
export function createRecent(entriesMax: number): { has(text: string): boolean; add(text: string): void } {
  const hashes = new Uint32Array(entriesMax);
  return {
    has(text) {
      const value = hash(text);
      return value !== 0 && hashes[value % entriesMax] === value;
    },
    add(text) {
      const value = hash(text);
      hashes[value % entriesMax] = value;
    },
  };
}

export function createCache(hrtime: () => bigint = process.hrtime.bigint): Cache {
  // Two levels, because a concatenated key would have to be hashed again for each lookup.
  const balances = new Map<string, Lru<BalanceRow>>();
  /** How many batches have suspended each balance. */
  const suspended = new Map<string, number>();
  const rows = new Map<Table<unknown>, Lru<unknown>>();
  const keys = createRecent(LIMITS.cachedKeysMax);
  let clock: { readonly offset: bigint; readonly heardAt: bigint } | undefined;

  function cacheOf<Key, Value>(caches: Map<Key, Lru<Value>>, key: Key, entriesMax: number): Lru<Value> {
    let cache = caches.get(key);
    if (cache === undefined) {
      cache = createLru<Value>(entriesMax);
      caches.set(key, cache);
    }
    return cache;
  }

  function forgetBalances(forgotten: readonly BalanceKey[]): void {
    for (const { profileId, asset } of forgotten) balances.get(asset)?.delete(profileId);
  }

  return {
    balance: (profileId, asset) => balances.get(asset)?.get(profileId),
    row: (table, key) => rows.get(table)?.get(key),
    now: () => clock && clock.offset + hrtime(),
    wasUsed: keys.has,

    suspend(keysGiven) {
      let flight = 0;
      for (const { profileId, asset } of keysGiven) {
        flight = Math.max(flight, balances.get(asset)?.get(profileId)?.flight ?? 0);
        const text = balanceKeyText(profileId, asset);
        suspended.set(text, (suspended.get(text) ?? 0) + 1);
      }
      forgetBalances(keysGiven);
      return flight;
    },
    resume(keysGiven) {
      for (const { profileId, asset } of keysGiven) {
        const text = balanceKeyText(profileId, asset);
        const count = suspended.get(text)! - 1;
        if (count === 0) suspended.delete(text);
        else suspended.set(text, count);
      }
    },
    learnBalances(learnt) {
      for (const row of learnt) {
        if (suspended.size > 0 && suspended.has(balanceKeyText(row.profileId, row.asset))) continue;
        cacheOf(balances, row.asset, LIMITS.cachedBalancesMax).set(row.profileId, row);
      }
    },
    learnRows(learnt) {
      for (const [table, found] of learnt) {
        if (table.canCache === undefined) continue;
        const cache = cacheOf(rows, table, LIMITS.cachedRowsMax);
        for (const [key, row] of found) if (table.canCache(row)) cache.set(key, row);
      }
    },
    learnTime(nowNs, heardAt) {
      const offset = nowNs - heardAt;
      // Answers are delayed by different amounts: within a second, the one with the least delay is the most accurate.
      if (clock === undefined || offset > clock.offset || heardAt - clock.heardAt > NS_PER_SECOND)
        clock = { offset, heardAt };
    },
    learnKey: keys.add,
    forgetBalances,
    forgetAllBalances: () => balances.clear(),
    forgetRows(table, forgotten) {
      const cache = rows.get(table);
      for (const key of forgotten) cache?.delete(key);
    },
  };
}

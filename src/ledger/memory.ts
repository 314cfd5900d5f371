import type { Instant } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';
import { type BalanceRow, balanceKeyText } from './book.ts';
import type { BalanceKey, Table } from './command.ts';

/**
 * What a node remembers of the database, so that it can decide before it has asked. Nothing here is trusted: whatever
 * is decided on it is confirmed by the transaction that writes it.
 */
export type Memory = {
  balance(profileId: string, asset: string): BalanceRow | undefined;
  row(table: Table<unknown>, key: string): unknown;
  /** The database's time: never later than it is there. Undefined until it was heard once. */
  now(): Instant | undefined;
  /** Whether the key was used by this node a short while ago; may be wrong either way, hardly ever for yes. */
  wasUsed(keyText: string): boolean;

  /**
   * Somebody is about to lock these and change them: what is remembered of them will not be so for long. Says which
   * flight was the last one to change any of them; whoever locks before it has landed makes it fail.
   */
  lend(keys: readonly BalanceKey[]): number;
  /** Until everybody who has them is done with them, nothing is learnt about them. */
  takeBack(keys: readonly BalanceKey[]): void;
  learnBalances(rows: Iterable<BalanceRow>): void;
  learnRows(rows: ReadonlyMap<Table<unknown>, ReadonlyMap<string, unknown>>): void;
  /** The time of the database, and when this node heard of it, by its own counter. */
  learnTime(nowNs: Instant, heardAt: bigint): void;
  learnKey(keyText: string): void;
  forgetBalances(keys: readonly BalanceKey[]): void;
  forgetRows(table: Table<unknown>, keys: Iterable<string>): void;
};

type Cache<Value> = {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
};

/** Keeps what was used last: the younger half whole, of the older half what is asked for again. */
export function createCache<Value>(entriesMax: number): Cache<Value> {
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
 * Texts that were added lately, by their hash alone: nothing that the garbage collector would have to look after, as
 * thousands of texts a second would be that are kept for a minute each.
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

const NS_PER_SECOND = 1_000_000_000n;

export function createMemory(hrtime: () => bigint = process.hrtime.bigint): Memory {
  // Two steps: a text put together for each lookup would have to be hashed anew each time.
  const balances = new Map<string, Cache<BalanceRow>>();
  /** How many have each of them. */
  const lent = new Map<string, number>();
  const rows = new Map<Table<unknown>, Cache<unknown>>();
  const keys = createRecent(LIMITS.rememberedKeysMax);
  let clock: { readonly offset: bigint; readonly heardAt: bigint } | undefined;

  function cacheOf<Key, Value>(caches: Map<Key, Cache<Value>>, key: Key, entriesMax: number): Cache<Value> {
    let cache = caches.get(key);
    if (cache === undefined) {
      cache = createCache<Value>(entriesMax);
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

    lend(keysLent) {
      let flight = 0;
      for (const { profileId, asset } of keysLent) {
        flight = Math.max(flight, balances.get(asset)?.get(profileId)?.flight ?? 0);
        const text = balanceKeyText(profileId, asset);
        lent.set(text, (lent.get(text) ?? 0) + 1);
      }
      forgetBalances(keysLent);
      return flight;
    },
    takeBack(keysLent) {
      for (const { profileId, asset } of keysLent) {
        const text = balanceKeyText(profileId, asset);
        const count = lent.get(text)! - 1;
        if (count === 0) lent.delete(text);
        else lent.set(text, count);
      }
    },
    learnBalances(learnt) {
      for (const row of learnt) {
        if (lent.size > 0 && lent.has(balanceKeyText(row.profileId, row.asset))) continue;
        cacheOf(balances, row.asset, LIMITS.rememberedBalancesMax).set(row.profileId, row);
      }
    },
    learnRows(learnt) {
      for (const [table, found] of learnt) {
        if (table.canRemember === undefined) continue;
        const cache = cacheOf(rows, table, LIMITS.rememberedRowsMax);
        for (const [key, row] of found) if (table.canRemember(row)) cache.set(key, row);
      }
    },
    learnTime(nowNs, heardAt) {
      const offset = nowNs - heardAt;
      // Answers are late, some more and some less: of those of a second the quickest one is nearest to the truth.
      if (clock === undefined || offset > clock.offset || heardAt - clock.heardAt > NS_PER_SECOND)
        clock = { offset, heardAt };
    },
    learnKey: keys.add,
    forgetBalances,
    forgetRows(table, forgotten) {
      const cache = rows.get(table);
      for (const key of forgotten) cache?.delete(key);
    },
  };
}

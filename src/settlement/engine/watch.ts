import type { Queryable } from '../../database/database.ts';
import { balanceKeyText } from '../../ledger/book.ts';
import type { BalanceKey } from '../../ledger/command.ts';
import { LIMITS } from '../../limits.ts';
import { watchedBalances } from '../engine-store.ts';

/** The balances that transactions wait for, as far as this node knows. */
export type Watch = {
  add(keys: readonly BalanceKey[]): void;
  remove(keys: readonly BalanceKey[]): void;
};

/** The same, and those of them that this node has changed since the engine last tried them. */
export type WatchedBalances = Watch & {
  /** Returns whether any of them is watched. */
  noteChanges(keys: readonly BalanceKey[]): boolean;
  hasChanges(): boolean;
  /** A page of the changed balances; they count as unchanged from then on. */
  takeChanges(): BalanceKey[];
  /** Reads the watched balances from the database, including those of transactions that began to wait on other nodes. */
  refreshIfDue(): Promise<void>;
  refreshInMs(): number;
};

const textOf = ({ profileId, asset }: BalanceKey): string => balanceKeyText(profileId, asset);

export function createWatchedBalances(database: Queryable): WatchedBalances {
  const watched = new Set<string>();
  const changed = new Map<string, BalanceKey>();
  // By the monotonic clock, so that a change of the wall clock causes no delay.
  let nextRefreshAt = 0;

  return {
    add(keys) {
      for (const key of keys) if (watched.size < LIMITS.settlementWatchedMax) watched.add(textOf(key));
    },
    remove(keys) {
      for (const key of keys) watched.delete(textOf(key));
    },
    noteChanges(keys) {
      if (watched.size === 0) return false;
      let isAnyWatched = false;
      for (const key of keys) {
        const text = textOf(key);
        if (!watched.has(text)) continue;
        changed.set(text, { profileId: key.profileId, asset: key.asset });
        isAnyWatched = true;
      }
      return isAnyWatched;
    },
    hasChanges: () => changed.size > 0,
    takeChanges() {
      const page = [...changed].slice(0, LIMITS.settlementPageMax);
      for (const [text] of page) changed.delete(text);
      return page.map(([, key]) => key);
    },
    async refreshIfDue() {
      const started = performance.now();
      if (started < nextRefreshAt) return;
      const keys = await watchedBalances(database, LIMITS.settlementWatchedMax);
      const ended = performance.now();
      nextRefreshAt = ended + Math.max(LIMITS.settlementWatchRefreshMs, 100 * (ended - started));
      watched.clear();
      for (const key of keys) watched.add(textOf(key));
    },
    refreshInMs: () => nextRefreshAt - performance.now(),
  };
}

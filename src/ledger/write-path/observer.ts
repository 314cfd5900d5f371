import type { BalanceKey } from '../command.ts';

/**
 * What can go wrong with a batch:
 * - conflict: it deadlocked with another one, or read what another one changed; it is retried;
 * - stale-cache: it was decided on cached balances that have changed, which is normal where nodes share balances; it is
 *   decided again on locked rows;
 * - connection-lost: before its commit; it is retried on another connection;
 * - isolated: the database rejected it, and it is bisected until the failing command is isolated;
 * - in-doubt: its commit was interrupted, and the database is asked for the outcome;
 * - unavailable: the database cannot be used, and its commands are refused;
 * - bug: a rule or an observer threw.
 */
export const TROUBLES = [
  'conflict',
  'stale-cache',
  'connection-lost',
  'isolated',
  'in-doubt',
  'unavailable',
  'bug',
] as const;
export type Trouble = (typeof TROUBLES)[number];

export type WritePathObserver = {
  batch(commands: number, milliseconds: number): void;
  queue(length: number): void;
  /** A batch was committed, and changed these balances. Not called for a batch whose outcome was in doubt. */
  committed?(changed: readonly BalanceKey[]): void;
  /** For the log and the metrics. */
  trouble(what: Trouble, error: unknown): void;
};

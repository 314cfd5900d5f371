/** Bounds on reading the books and on reconciliation. */
export const BOOK_LIMITS = {
  /**
   * How far behind the database's clock the instants of a batch may be: the past before is final. A node that was frozen
   * between its decision and its commit decides again. Seconds, so that slow networks do not cause that.
   */
  clockBehindMaxMs: 2_000,
  /** How long a reader of the past waits for transactions in flight, which take milliseconds, before it gets a 503. */
  finalityWaitMs: 5_000,
  /** Entries that a statement reads at once: a few milliseconds, and all that it keeps in memory. */
  statementEntriesMax: 1_000,
  /** Statements that one customer may read at a time on one node: each of them reads page after page. */
  statementsMax: 4,
  /** Balances, or entries of one account, that a trial balance reads in one statement: 100 ms at most. */
  trialBalanceRowsMax: 10_000,
} as const;

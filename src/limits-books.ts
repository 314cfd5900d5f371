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
  /** A statement that is imported: a day of 10,000 payments as camt.053. It is parsed in slices, and kept in memory meanwhile. */
  statementBytesMax: 4 * 1024 * 1024,
  /** Its nesting, elements and lines. A camt.053 needs 12 levels, and 20 elements for a line. */
  statementDepthMax: 24,
  statementElementsMax: 200_000,
  statementLinesMax: 10_000,
  /** Tags of a document that are read in one turn of the event loop: a millisecond. */
  xmlTagsPerSlice: 500,
  /** Pairs of equal reference and amount that one round of matching considers. */
  reconciliationPairsMax: 50_000,
  /** References that are looked up in one statement. */
  reconciliationReferencesAtOnce: 1_000,
  /** Entries of the ledger that become items at once, and how often a node looks for new ones. */
  reconciliationEntriesMax: 1_000,
  reconciliationIntervalMs: 10_000,
  /** Items that an operator matches by hand at once. */
  matchedItemsMax: 100,
} as const;

/** Bounds on the audit of the ledger. Part of `LIMITS`. */
export const AUDIT_LIMITS = {
  /** Violations that an audit lists; beyond that it only reports that there are more. */
  auditViolationsMax: 100,
  /** How often the background audit runs. It reads what is new. */
  auditIntervalMs: 5 * 60_000,
  /** Checkpoints that are verified at once: there are a hundred thousand of a year. */
  auditCheckpointsMax: 1_000,
  /** The first audit runs soon after the start: until then the metric is NaN. */
  auditFirstMs: 2_000,
  /** Entries of one slice: a statement about them takes a tenth of a second, and no snapshot is held for longer. */
  auditSliceEntriesMax: 20_000,
  /** Late entries of a shard that are audited together. */
  auditLateMax: 1_000,
  /** Between two slices: an audit that has to catch up leaves the database to the service for half of the time. */
  auditPauseMs: 100,
  /** On a cluster, how often a violation is looked for again before it counts, and after which pause. */
  auditLooksMax: 5,
  auditLookAgainMs: 200,
  /**
   * Entries become visible when their transaction commits, a moment after their instant. What is younger is audited, but not
   * covered by a checkpoint yet. Transactions that are open for longer are waited for.
   */
  auditLagMs: 60_000,
  /** The first slice, if there is no checkpoint; later ones are as long as the number of entries allows. */
  auditSliceMs: 3_600_000,
  /** Balances that each slice compares with their last entry, whether or not they moved: all of them in the course of time. */
  auditSweepBalances: 1_000,
} as const;

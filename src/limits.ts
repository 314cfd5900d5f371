/** Every bound of the service in one place, each with its reason. */
export const LIMITS = {
  /** Commands that may wait for the write path. At 10,000 a second a full queue is one second of waiting. */
  queueCommandsMax: 10_000,
  /** Commands in one batch: large enough to share one commit, small enough to keep the slowest caller's wait short. */
  batchCommandsMax: 512,
  /** Balance rows that one batch locks; a settlement with many legs fills a batch by itself. */
  batchBalancesMax: 2_048,
  /** Postings of one command: lines and postings are numbered in a smallint, twice as many lines as postings. */
  commandPostingsMax: 10_000,
  /** Times a batch is started anew after a deadlock or a missing balance row before its commands are refused. */
  batchAttemptsMax: 5,
  /** How long callers are kept waiting for the outcome of a commit that was cut off, before they get a 503. */
  commitInDoubtMs: 8_000,
  /** Connections of one node: the write path uses one, reads and workers share the others. */
  databaseConnectionsMax: 10,
  /** A statement of the service that runs longer is a fault, not work. Audits and migrations set their own. */
  statementTimeoutMs: 10_000,
  /** Longest wait for another node's row lock. Batches hold locks for milliseconds; a second is a stuck session. */
  lockTimeoutMs: 2_000,
  /** A node that dies inside a transaction must not hold its locks for longer. */
  idleInTransactionTimeoutMs: 10_000,
  databaseConnectTimeoutMs: 3_000,
  /** Closing the pool waits that long for connections in use, then cuts them. */
  databaseCloseMs: 3_000,
  /** Audits, migrations: as long as they take, within reason. */
  patientStatementTimeoutMs: 24 * 3_600_000,
  /** Violations that an audit lists one by one; beyond that it only says that there are more. */
  auditViolationsMax: 100,
  /** From the signal to the end of the process. */
  shutdownMs: 9_000,
  /** Deltas of the service's own accounts that one roll-up folds. */
  rollupDeltasMax: 10_000,
  rollupIntervalMs: 1_000,
  /** How often the metrics' audit runs. It reads every entry, so not often. */
  auditIntervalMs: 15 * 60_000,
  pageLimitDefault: 100,
  pageLimitMax: 1_000,
  filterValuesMax: 100,
  requestBodyBytesMax: 256 * 1024,
  requestIdLengthMax: 128,
  refIdLengthMax: 128,
  metadataPairsMax: 6,
  metadataTextMax: 100,
} as const;

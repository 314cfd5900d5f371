/** Bounds on the files that are exchanged with banks. */
export const BANK_LIMITS = {
  /** Payments in one file, unless the configuration says otherwise. A file of them has 2 MB. */
  filePaymentsDefault: 1_000,
  /** Most banks accept no larger files, and one transaction stores the file. */
  filePaymentsMax: 10_000,
  /** A file from the bank: a statement with 10,000 entries has 15 MB. It is read as a whole. */
  receivedBytesMax: 32 * 1024 * 1024,
  /** Nesting and elements of one; a camt.053 needs 15 levels, and 40 elements for each entry. */
  receivedDepthMax: 32,
  receivedElementsMax: 1_500_000,
  /** Entries or statuses in one. Their effect is one transaction. */
  receivedEntriesMax: 20_000,
  /** Files of the bank that one turn takes, so that the lease is renewed in between. */
  receivedFilesMax: 50,
  /** Statements that one turn puts beside the ledger. Those of today wait for the end of the day. */
  statementsMax: 100,
  /** Names in a directory of the bank. More of them mean that nobody takes files away. */
  listedFilesMax: 10_000,
  /** A call of the transport. Uploads and downloads of the largest file take seconds on a slow line. */
  transportTimeoutMs: 60_000,
  /** To connect and authenticate. */
  connectTimeoutMs: 15_000,
  /** A node that does not renew its lease for this long has stopped. Longer than a call of the transport. */
  leaseMs: 120_000,
  /** How often a node that has no lease tries to get it, and how often the holder looks at the queue. */
  turnMs: 5_000,
  /** After a turn that failed: the bank or the database is unavailable. */
  failedTurnMs: 30_000,
  /** `ask` reads our own database; outcomes arrive as notices before. */
  nextAskMs: 900_000,
  /** A request is one insert. If it is not there after this, the statement has ended without it. */
  horizonMs: 30_000,
  /** Characters of the remittance text that are searched for memos, and that suspense keeps. */
  remittanceTextMax: 1_000,
  /** The largest amounts that the networks of the Federal Reserve accept, in cents: FedNow since November 2025. */
  fedwireUnitsMax: 999_999_999_999n,
  fednowUnitsMax: 1_000_000_000n,
  /** How long before the cut-off everything that waits is sent. */
  beforeCutOffMs: 5 * 60_000,
} as const;

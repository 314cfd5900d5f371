/** Bounds on what the service does with chains. */
export const CHAIN_LIMITS = {
  /** How long a node keeps a lane or scans a network without renewing its lease: after a crash another one takes over. */
  chainLeaseMs: 30_000,
  /** How often a node without the lease tries to get it. */
  chainLeaseTryMs: 1_000,
  /** Timeout of one call to a node: a block with traces is the largest answer. */
  chainCallTimeoutMs: 10_000,
  /** Timeout of one step of a keeper or scanner, which makes several calls. Well below the lease. */
  chainStepTimeoutMs: 15_000,
  /** Payments that a plan chooses from: as many as one transaction of a UTXO network makes. */
  chainPlanPaymentsMax: 100,
  /** Assignments of a lane that are not final: 256 confirmations, and some transactions in each block. */
  chainOpenMax: 1_000,
  /** Assignments that are made in one turn of a keeper, before it looks again at those that are open. */
  chainAssignMax: 32,
  /** Assignments that are observed at the same time. */
  chainObserveMax: 8,
  /** Coins that a plan chooses from. */
  chainCoinsMax: 2_000,
  /** A transaction that is in no block is sent again after this time: nodes forget what they have not mined. */
  chainRebroadcastMs: 30_000,
  /** A first signature is committed within this time after the check of the freezes: a call of the signer, and the commit. */
  chainSigningMs: 20_000,
  /** A signer whose limits on amounts are reached is asked again after this time: its log has a line for each refusal. */
  chainVelocityRetryMs: 10_000,
  /** How often a keeper without waiting payments looks for small coins to join: they become many over hours, not minutes. */
  chainUpkeepMs: 60_000,
  /** How often wallets are compared with the ledger, and moves between them are looked for: they are in no hurry. */
  chainMovesMs: 30_000,
  /** Sweeps of one network that wait for confirmations: deposits come in no faster than they are swept. */
  chainSweepsMax: 64,
  /** Deposit addresses that are looked at for one sweep: as many as fit into a transaction of Solana. */
  chainSweepRowsMax: 16,
  /** Deposit addresses whose balances are read in one turn: four calls to a node for each. */
  chainHeldMax: 100,
  /** A difference between a wallet and the ledger that lasts longer is an alarm: transactions in flight explain shorter ones. */
  treasuryDifferenceMs: 600_000,
  /** A look at the wallets that is older is an alarm: the nodes or the scanner do not answer. */
  treasuryStaleMs: 900_000,
  /** Payments that a lane must be able to pay the fees of: below that it is out of gas. */
  treasuryGasPayments: 10,
  /** An assignment that is mined is looked at again at the latest after this time. */
  chainLookMsMax: 60_000,
  /** Blocks that are scanned in one turn, so that deposits are reported while the scanner catches up. */
  chainScanBlocksMax: 50,
  /** Blocks that are kept below the last final one: a reorganisation that goes deeper needs an operator. */
  chainBlocksKept: 1_000,
  /** Addresses that are read at once. */
  chainAddressPageMax: 10_000,
  /**
   * Addresses after the last one that was handed out, at which deposits are noticed: a database that was restored does not know who
   * has them. As many as other wallets look ahead (BIP-44); each takes two milliseconds when the scanner starts.
   */
  chainAddressesAhead: 20,
  /** Addresses that `ferry rails recover` skips: more than a busy service hands out between a backup and the restore. */
  chainAddressesSkipped: 1_000,
  chainAddressesSkippedMax: 1_000_000,
  /** Addresses that are derived before other work gets its turn: a few milliseconds. */
  chainAddressSlice: 10,
  /** Deposits that are reported in one transaction. */
  chainReportsMax: 500,
  /** Shortest and longest pause of a keeper or scanner that has nothing to do. */
  chainPauseMsMin: 50,
  chainPauseMsMax: 5_000,
  /** Until the local nodes of the sandbox answer: a second each on an idle machine. */
  localChainStartMs: 60_000,
  /** How often a start that takes longer says that it goes on. */
  localChainProgressMs: 2_000,
} as const;

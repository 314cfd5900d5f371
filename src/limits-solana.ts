/** Bounds on Solana. */
export const SOLANA_LIMITS = {
  /** Bytes of a transaction with its signatures: what fits into one packet. The network refuses more. */
  solanaTransactionBytesMax: 1_232,
  /** Time for one call of a node. A block of the main network takes about a second. */
  solanaCallMs: 15_000,
  /** A node that has not answered for this long when the caller gives up is asked last, too. */
  solanaSlowMs: 2_000,
  /** Bytes of one answer of a node: several times the largest block, so that a broken node cannot fill the memory. */
  solanaAnswerBytesMax: 128 * 1_024 * 1_024,
  /** How long a node that failed is asked last, doubled with each further failure. */
  solanaNodeBackOffMs: 1_000,
  solanaNodeBackOffMaxMs: 60_000,
  /** Nodes of one rail: a call that fails asks them one after the other. */
  solanaNodesMax: 8,
  /** Durable nonce accounts of a lane, each of which is one transaction in flight. Each holds 0.0015 SOL of rent. */
  solanaNonceAccountsMax: 64,
  /** Nonce accounts that one transaction creates: more do not fit. */
  solanaNonceAccountsPerUpkeep: 4,
  /**
   * Addresses beyond the configured number at which a nonce account is looked for: a stranger who sends coins to a derived
   * address makes it unusable, and pays more for that than it costs us to skip it.
   */
  solanaNonceAccountsSkippedMax: 16,
  /** Payments that are considered for one transaction: more coin transfers than this never fit. */
  solanaPaymentsMax: 16,
  /** Used values of nonces that the driver keeps, so that a node that is behind cannot offer one again: 100 bytes each. */
  solanaUsedNoncesMax: 10_000,
  /** Accounts that a node returns in one call. */
  solanaAccountsPerCall: 100,
  /** Signatures that a node returns in one call, and pages of them that are read to find who has used a nonce. */
  solanaSignaturesPerCall: 1_000,
  solanaSignaturePagesMax: 10,
  /** Transactions that are read in full to find who has used a nonce. */
  solanaNonceCandidatesMax: 20,
  /** Calls in flight when many addresses are read. */
  solanaCallsInFlightMax: 8,
  /** Compute units of a transaction: the bound of the network. */
  solanaComputeUnitsMax: 1_400_000,
  /** Compute units of a payment that could not be simulated: a token transfer that creates the account takes about 40,000. */
  solanaComputeUnitsPerPayment: 80_000,
  /** Compute units of a transaction without payments. */
  solanaComputeUnitsBase: 10_000,
  /** Slots that a node may be behind the newest that was seen before nothing is planned on it: half a minute. */
  solanaPlanBehindSlotsMax: 75,
  /** Slots that a node may be behind the others before `ferry rails check` reports it. */
  solanaBehindSlotsMax: 150,
  /** How far the time of the newest block may be from the clock of this machine: finality takes 13 seconds. */
  solanaClockSkewMaxMs: 60_000,
} as const;

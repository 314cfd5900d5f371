/** Bounds on rails of coins (Bitcoin, Litecoin, Bitcoin Cash). */
export const UTXO_LIMITS = {
  /** Payments in one transaction: 4,300 vbytes of outputs at most, so that a replacement stays affordable. */
  paymentsMax: 100,
  /** Coins that one transaction spends. With the payments at most 11,200 vbytes; nodes relay up to 100,000. */
  coinsMax: 100,
  /**
   * Unconfirmed transactions of our own that a new one may build on. Nodes refuse more than 25, and more than 101,000 vbytes
   * together with the new one: nine of the largest ones stay below.
   */
  unconfirmedMax: 8,
  /** Largest coins that are not joined, so that several payments can be in flight beside each other. */
  coinsKept: 10,
  /** Other coins from which a transaction that joins them is worth its overhead. */
  consolidationMin: 40,
  /** Blocks below the height of an assignment that are searched after a reorganisation. */
  reorganisationMax: 100,
  /** Confirmations of a block before its coinbase can be spent: a rule of all three networks. */
  coinbaseMaturity: 100,
  /** A call to a node. Nodes answer within milliseconds; a block of 32 MB takes seconds. */
  callMs: 15_000,
  /** A search of all unspent outputs takes a node minutes. */
  scanMs: 600_000,
  /** After a failed call, a node is asked last for this long. */
  restMs: 10_000,
  /** An answer: a block of 32 MB in hexadecimal, with the JSON around it. */
  answerBytesMax: 70_000_000,
  /** Blocks whose index is kept: 100 KB each for full blocks of Bitcoin. */
  indexedBlocksMax: 150,
  /** Assignments for which it is remembered up to which block the chain was searched; others are searched from their start. */
  searchesMax: 2_000,
  /** Coinbases that are kept until they mature; a longer gap is read again from the node. */
  coinbasesMax: 120,
  /** Transactions of a block that are read, or whose addresses are compared, in one turn: about two milliseconds each. */
  readSlice: 25,
  compareSlice: 8,
  /** Derived keys that are kept: a derivation takes a millisecond, an entry 500 bytes. */
  keysMax: 10_000,
  /** Addresses of each branch of the account whose coins `ferry rails check` adds up. */
  checkedAddressesMax: 200,
} as const;

/** Bounds of the signer and of the service's calls to it, each with its reason. */
export const SIGNER_LIMITS = {
  /** A PSBT of 1,000 inputs and 101 outputs has 200 KB, twice that as hex. */
  signerBodyBytesMax: 1024 * 1024,
  /** Requests that a signer accepts at once; they are decided one after the other, each within milliseconds. */
  signerRequestsMax: 64,
  /** Connections of all services to one signer. */
  signerConnectionsMax: 128,
  /** For a request to arrive, and for the database and the keys to answer. */
  signerRequestMs: 10_000,
  /** The service waits longer than the signer takes, so that it gets the answer instead of its own timeout. */
  signerCallMs: 15_000,
  /** Ids of requests that a signer remembers: an older one gets the same signature again, of the same assignment. */
  signerRequestIdsMax: 100_000,
  /** Public keys of coins in the cache: about 200 bytes each. */
  signerPublicKeysMax: 10_000,
  /** Refusals per minute that get a line in the log; a service that repeats one must not fill the disk. */
  signerRefusalsLoggedMax: 600,
  /** A line of the log: the largest batch has 100 payments. */
  signerLogLineBytesMax: 256 * 1024,
  /** Open assignments that must be in the log when a signer starts: an empty log beside a used database is a mistake. */
  signerOpenCheckedMax: 10_000,
  /** Sending addresses of one network. */
  signerLanesMax: 100,
  /** Addresses for deposits on SOLANA that a signer derives when it starts, each within a millisecond. */
  signerDepositsMax: 100_000,
  /** Each request reads an assignment with three short statements. */
  signerDatabaseConnectionsMax: 4,
  /** Destinations of an allow-list. */
  signerDestinationsMax: 10_000,
  /** Memory that scrypt needs for the passphrase, with a cost of 2^17: 128 MB, about half a second. */
  signerScryptMemoryBytesMax: 256 * 1024 * 1024,
} as const;

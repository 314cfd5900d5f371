import type { CryptoNetwork } from '../networks/crypto.ts';

/**
 * The only holder of keys, embedded in the sandbox and a process of its own everywhere else. It decodes the bytes by itself, and
 * signs only what the committed assignment says: the same payments, lane, slot and coins.
 */
export type Signer = {
  /** One signature for each key that the bytes need, in their order, as hex. Throws SignerRefusal if it must not sign. */
  sign(request: SignRequest, signal: AbortSignal): Promise<readonly string[]>;
  /** Public keys of a network: an account xpub, or addresses. */
  account(network: CryptoNetwork, signal: AbortSignal): Promise<SignerAccount>;
  /**
   * Signs nothing for the assignment and the payments from now on. Throws SignerRefusal if it has signed something that may still be
   * executed: then the chain decides. It can be repeated.
   */
  discard?(request: DiscardRequest, signal: AbortSignal): Promise<void>;
};

export type DiscardRequest = {
  /** New for each request. */
  readonly requestId: string;
  readonly network: CryptoNetwork;
  /** Null if the payments have no assignment. */
  readonly assignmentId: string | null;
  readonly keys: readonly string[];
};

/**
 * What each family sends, and what it gets for each key. All of it is hex; a prefix 0x is accepted, and never returned.
 *
 * | family | unsigned                                           | signature                                       |
 * |--------|----------------------------------------------------|-------------------------------------------------|
 * | EVM    | an EIP-1559 transaction without signature (0x02 …) | r, s, and the parity of y as 00 or 01: 65 bytes |
 * | UTXO   | a PSBT of version 0, on all three networks         | r and s, for each input: 64 bytes               |
 * | Solana | a message without a version                        | 64 bytes, for each account that signs           |
 */
export type SignRequest = {
  /** New for each request. A second request with the same id is refused. */
  readonly requestId: string;
  readonly network: CryptoNetwork;
  readonly assignmentId: string;
  /** The number of the version that the signature is for. */
  readonly version: number;
  readonly unsigned: string;
};

export type SignerAccount = {
  /** The sending addresses. */
  readonly lanes: readonly string[];
  /** For deposit addresses, if the network has hierarchical keys. */
  readonly xpub?: string;
  /** Addresses for deposits, if it has not. */
  readonly deposits?: readonly string[];
};

/** A line of the signer's log: a transaction that it has signed, with all that is needed to recognise it later. */
export type SignedRecord = {
  readonly atMs: number;
  readonly assignmentId: string;
  readonly version: number;
  readonly lane: string;
  readonly purpose: string;
  readonly slot: string | null;
  readonly details: Readonly<Record<string, string>>;
  /** As `txHash:output`. */
  readonly coins: readonly string[];
  /** Of each coin, what a database that has lost it needs to know. Absent in lines of earlier releases. */
  readonly coinFacts?: readonly SignedCoin[];
  readonly payments: readonly SignedPayment[];
  readonly feeUnitsMax: string;
  /** Of the transaction. */
  readonly hash: string;
};

export type SignedCoin = {
  readonly units: string;
  /** Of its key, below the account. */
  readonly path: string;
  /** Follows from the path. Not in the log: the rail that reads the log adds it. */
  readonly address?: string;
};

export type SignedPayment = {
  readonly key: string;
  readonly asset: string;
  readonly units: string;
  readonly address: string;
};

/** `next` is the line of the log with which the next page begins; null after the last one. */
export type SignedPage = { readonly records: readonly SignedRecord[]; readonly next: number | null };

/** A signer with a log that can be read: after a restore from a backup, it knows what the database does not. */
export type RecordingSigner = Required<Signer> & {
  signed(network: CryptoNetwork, fromLine: number, signal: AbortSignal): Promise<SignedPage>;
};

export const REFUSAL_CODES = [
  'unknown-assignment',
  'other-payment',
  'other-slot',
  'other-lane',
  'other-chain',
  'fee-too-high',
  'not-allowed',
  'over-velocity',
  'replayed',
  'already-signed-elsewhere',
  'discarded',
  'unreadable',
] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** The signer must not sign this. Repeating the request does not help, unless it was over the velocity. */
export class SignerRefusal extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.name = 'SignerRefusal';
    this.code = code;
  }
}

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
};

export type SignRequest = {
  /** New for each request. A second request with the same id is refused. */
  readonly requestId: string;
  readonly network: CryptoNetwork;
  readonly assignmentId: string;
  /** The number of the version that the signature is for. */
  readonly version: number;
  /** Hex, in the family's own format: an EIP-1559 transaction, a PSBT, or a Solana message. */
  readonly unsigned: string;
};

export type SignerAccount = {
  /** The sending addresses. */
  readonly lanes: readonly string[];
  /** For deposit addresses, if the network has hierarchical keys. */
  readonly xpub?: string;
};

export type RefusalCode =
  | 'unknown-assignment'
  | 'other-payment'
  | 'other-slot'
  | 'not-allowed'
  | 'over-velocity'
  | 'replayed'
  | 'already-signed-elsewhere'
  | 'unreadable';

/** The signer must not sign this. Repeating the request does not help. */
export class SignerRefusal extends Error {
  readonly code: RefusalCode;
  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

import type { CryptoNetwork } from '../networks/crypto.ts';

/** What was committed before anything is signed, as the signer reads it. */

export type Purpose = 'PAYMENTS' | 'CANCELLATION' | 'SWEEP' | 'TO_COLD' | 'UPKEEP';

export type Intent = {
  readonly id: string;
  readonly network: CryptoNetwork;
  readonly lane: string;
  readonly purpose: Purpose;
  readonly slot: string | null;
  readonly details: Readonly<Record<string, string>>;
  readonly state: 'ASSIGNED' | 'SUCCEEDED' | 'FAILED' | 'SUPERSEDED';
  /** In the order of the transaction's outputs or instructions. */
  readonly payments: readonly IntentPayment[];
  /** Of UTXO networks. */
  readonly coins: readonly IntentCoin[];
};

/** A payment of the assignment, with the payment that the rail accepted and the transfer; null if there is none. */
export type IntentPayment = {
  readonly key: string;
  readonly asset: string;
  readonly units: bigint;
  readonly address: string;
  readonly active: boolean;
  readonly rail: string | null;
  readonly railState: string | null;
  readonly railAsset: string | null;
  readonly railUnits: bigint | null;
  readonly type: string | null;
  readonly direction: string | null;
  readonly status: string | null;
  readonly transferAsset: string | null;
  readonly transferUnits: bigint | null;
  readonly cryptoNetwork: string | null;
  readonly destinationAddress: string | null;
};

export type IntentCoin = {
  readonly txHash: string;
  readonly output: bigint;
  readonly units: bigint;
  /** Of its key, below the account. */
  readonly path: string;
};

/** Of an earlier assignment of the same payment. */
export type EarlierAssignment = {
  readonly state: Intent['state'];
  /** Whether it could still make the payment. */
  readonly active: boolean;
  /** The hashes of its versions that the database knows. */
  readonly hashes: readonly string[];
};

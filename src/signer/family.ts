import type { Networks } from '../networks/register.ts';
import type { SignerAccount } from './contract.ts';
import type { Intent } from './intent.ts';
import type { KeyName, Keys } from './keys.ts';
import type { NetworkPolicy } from './policy.ts';

/** What a family of chains (EVM, UTXO, Solana) knows: how its bytes are decoded, and which keys they need. */
export type Family = {
  /** Decodes the bytes, and compares them with the assignment. Throws SignerRefusal. */
  examine(intent: Intent, unsigned: Uint8Array): Promise<Examined>;
  account(): Promise<SignerAccount>;
};

export type Examined = {
  /** The most that the transaction can cost, in units of the native coin. */
  readonly feeUnitsMax: bigint;
  readonly signs: readonly { readonly key: KeyName; readonly bytes: Uint8Array }[];
  /** The signatures in the form of the contract, and the hash of the transaction. */
  finish(
    raw: readonly Uint8Array[],
  ): Promise<{ readonly signatures: readonly string[]; readonly hash: string }>;
};

export type FamilyParts = {
  readonly keys: Keys;
  readonly networks: Networks;
  readonly policy: NetworkPolicy;
};

/** Below an account, such as `0/17`. */
export const RELATIVE_PATH = /^[0-9]{1,9}\/[0-9]{1,9}$/;

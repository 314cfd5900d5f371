import { base58 } from '@scure/base';

/**
 * The slot of an assignment: the number of a durable nonce account of the lane, and the value that it held when the assignment
 * was planned, as `3:<base58>`. A nonce account never holds the same value twice, so a slot is used once for all time.
 */
export type NonceSlot = { readonly index: number; readonly value: string };

const SLOT = /^(0|[1-9]\d{0,3}):([1-9A-HJ-NP-Za-km-z]{32,44})$/;

export const formatSlot = ({ index, value }: NonceSlot): string => `${index}:${value}`;

export function parseSlot(text: string): NonceSlot {
  const match = SLOT.exec(text);
  if (match === null) throw new Error(`"${text}" is not a slot of Solana`);
  return { index: Number(match[1]), value: match[2]! };
}

/** A lane derives its nonce accounts from its own address with these seeds: creating one again fails. */
export const nonceSeed = (index: number): string => `ferry-nonce-${index}`;

/** Bytes of a nonce account: version, state, authority, value, and the fee at that time. */
export const NONCE_ACCOUNT_BYTES = 80;

export type NonceState = { readonly authority: string; readonly value: string };

/** Undefined if the account is not an initialized nonce account. */
export function readNonceAccount(data: Uint8Array): NonceState | undefined {
  if (data.length !== NONCE_ACCOUNT_BYTES) return undefined;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const [current, initialized] = [1, 1];
  if (view.getUint32(0, true) !== current || view.getUint32(4, true) !== initialized) return undefined;
  return { authority: base58.encode(data.subarray(8, 40)), value: base58.encode(data.subarray(40, 72)) };
}

import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';

/**
 * What all kinds of addresses share. An address family decides whether a payment can be sent to a text on its mainnet, and
 * if not, why. A payment cannot be recalled, so an ambiguous address is refused, with a message that says what to use
 * instead.
 *
 * The families use two small codecs and node's own sha256, because every process loads them at start. Import on node 24,
 * median of 25: @scure/base and @noble/hashes/sha3 10 ms and 5 MB together; @scure/btc-signer 63 ms and 9 MB,
 * @solana/kit 142 ms and 25 MB, @bitauth/libauth 169 ms and 32 MB, viem 288 ms and 34 MB. addresses.test.ts checks the
 * families against those four.
 */
export type AddressFamily = {
  /** As people call it: networks of one family have the same addresses. */
  readonly chain: string;
  /** Undefined when the address can be paid; otherwise a clause to follow "destination_address ". */
  fault(address: string): Fault;
  /** What kind of text this is in this family; undefined if it is none. It may still contain a typing error. */
  recognise(address: string): Form | undefined;
  /** One form for an address that can be written in several. Text that is no address is returned as it is. */
  canonical(address: string): string;
  /** One form for a transaction hash that can be written in several. */
  canonicalTxHash(hash: string): string;
  /** Whether a transaction numbers its outputs: it does where coins are spent and created (UTXO). */
  readonly numbersOutputs: boolean;
  /** Whether an address may begin with a prefix and a colon. */
  readonly hasPrefix: boolean;
  /** A valid address and a well-formed transaction hash made from 64 bytes, for the sandbox. */
  addressFrom(seed: Uint8Array): string;
  txHashFrom(seed: Uint8Array): string;
};

export type Fault = string | undefined;

/** `address` can be paid on the mainnet; the others only make the error message more precise. */
export type Form = 'address' | 'testnet address' | 'regtest address' | 'MWEB address' | 'private key';

// The longest text that is recognised is a Litecoin MWEB address (121). Decoding base58 takes time that grows with the
// square of the length, so base58 has its own limit: the longest text that is recognised there is a private key (52).
const addressLengthMax = 128;
const base58LengthMax = 64;

/** What is wrong with the text, whatever the family. */
export function textFault(address: string): Fault {
  if (address === '') return 'is empty';
  if (address.length > addressLengthMax) {
    return `is ${address.length} characters long, no address has more than ${addressLengthMax}`;
  }
  if (address.trim() !== address) return 'begins or ends with white space';
  const stray = /[^\x21-\x7e]/u.exec(address)?.[0].codePointAt(0);
  if (stray === undefined) return undefined;
  return `contains U+${stray.toString(16).toUpperCase().padStart(4, '0')}, an address is printable ASCII without spaces`;
}

/** The bytes, or the fault. */
export function base58Bytes(address: string): Uint8Array | string {
  if (address.length > base58LengthMax) {
    return `is ${address.length} characters long, a base58 address has at most 44`;
  }
  const stray = /[^1-9A-HJ-NP-Za-km-z]/.exec(address)?.[0];
  if (stray !== undefined) return `contains "${stray}", which base58 does not use`;
  return base58.decode(address);
}

export function base58WithChecksum(version: number, hash: Uint8Array): string {
  const bytes = Uint8Array.of(version, ...hash);
  return base58.encode(Uint8Array.of(...bytes, ...sha256(sha256(bytes)).subarray(0, 4)));
}

export function isBase58Checked(bytes: Uint8Array): boolean {
  const sum = sha256(sha256(bytes.subarray(0, -4)));
  return bytes.subarray(-4).every((byte, index) => byte === sum[index]);
}

/** The version byte of a base58 address with a correct checksum; undefined for any other text. */
export function base58Version(address: string): number | undefined {
  const bytes = base58Bytes(address);
  if (typeof bytes === 'string' || bytes.length !== 25 || !isBase58Checked(bytes)) return undefined;
  return bytes[0];
}

/** A hash of zeros comes from a buffer that was never filled, and nobody can spend from it. */
export function zeroHashFault(hash: Uint8Array): Fault {
  return hash.every((byte) => byte === 0) ? 'carries a hash of zeros' : undefined;
}

export function isOneCase(text: string): boolean {
  return text === text.toLowerCase() || text === text.toUpperCase();
}

export const bech32Alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

export function bech32Stray(data: string): string | undefined {
  return /[^qpzry9x8gf2tvdw0s3jn54khce6mua7l]/.exec(data)?.[0];
}

/** UTXO chains write a transaction hash in hexadecimal without 0x. */
export function canonicalUtxoHash(hash: string): string {
  return hexDigits(hash) ?? hash;
}

/** In lower case and without 0x; undefined when the text is not hexadecimal. */
export function hexDigits(text: string): string | undefined {
  return /^(?:0x)?([0-9a-f]+)$/i.exec(text)?.[1]?.toLowerCase();
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest();
}

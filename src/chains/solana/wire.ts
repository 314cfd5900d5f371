import { createPublicKey, verify } from 'node:crypto';
import { base58 } from '@scure/base';
import { LIMITS } from '../../limits.ts';
import type { Signed, Unsigned } from '../driver.ts';

/** Reads and joins the bytes of transactions, without a library: so it is pure, and needs nothing to be loaded. */

export type Message = {
  /** Of which the first `signatures` must sign; the first of all pays the fee. */
  readonly accounts: readonly string[];
  readonly signatures: number;
  readonly isWritable: (index: number) => boolean;
  /** A recent blockhash, or the value of a durable nonce. */
  readonly lifetime: string;
  readonly instructions: readonly MessageInstruction[];
};

export type MessageInstruction = {
  readonly program: string;
  /** Indexes into the accounts of the message. */
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
};

type Cursor = { readonly bytes: Uint8Array; at: number };

function take(cursor: Cursor, length: number): Uint8Array {
  const end = cursor.at + length;
  if (end > cursor.bytes.length) throw new Error('the Solana message ends too early');
  const taken = cursor.bytes.subarray(cursor.at, end);
  cursor.at = end;
  return taken;
}

const takeByte = (cursor: Cursor): number => take(cursor, 1)[0]!;

/** Lengths have 7 bits to a byte, and at most 16 bits. */
function takeLength(cursor: Cursor): number {
  let length = 0;
  for (let shift = 0; shift <= 14; shift += 7) {
    const byte = takeByte(cursor);
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) return length;
  }
  throw new Error('a length in the Solana message is too large');
}

function takeMany<Value>(cursor: Cursor, takeOne: () => Value): Value[] {
  return Array.from({ length: takeLength(cursor) }, takeOne);
}

/** A message without a version, which is what the driver builds: it needs no address tables. */
export function readMessage(bytes: Uint8Array): Message {
  const cursor: Cursor = { bytes, at: 0 };
  const signatures = takeByte(cursor);
  if (signatures >= 0x80) throw new Error('the Solana message has a version, which this driver does not use');
  const [readonlySigned, readonlyUnsigned] = [takeByte(cursor), takeByte(cursor)];
  const accounts = takeMany(cursor, () => base58.encode(take(cursor, 32)));
  const lifetime = base58.encode(take(cursor, 32));
  const account = (index: number): string => {
    const found = accounts[index];
    if (found === undefined) throw new Error(`the Solana message has no account ${index}`);
    return found;
  };
  const instructions = takeMany(cursor, () => ({
    program: account(takeByte(cursor)),
    accounts: takeMany(cursor, () => {
      const index = takeByte(cursor);
      account(index);
      return index;
    }),
    data: take(cursor, takeLength(cursor)),
  }));
  if (cursor.at !== bytes.length) throw new Error('the Solana message has bytes after its end');
  if (signatures === 0 || signatures > accounts.length)
    throw new Error('the Solana message has no fee payer');
  const isWritable = (index: number): boolean =>
    index < signatures ? index < signatures - readonlySigned : index < accounts.length - readonlyUnsigned;
  return { accounts, signatures, isWritable, lifetime, instructions };
}

function isSignedBy(address: string, message: Uint8Array, signature: Uint8Array): boolean {
  const x = Buffer.from(base58.decode(address)).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, message, key, signature);
}

const HEX_SIGNATURE = /^[0-9a-f]{128}$/i;

/**
 * The signatures in front of the message. Each is verified: wrong bytes would be committed and broadcast for ever, and no node
 * would say why. The hash of a transaction is its first signature.
 */
export function complete({ bytes }: Pick<Unsigned, 'bytes'>, signatures: readonly string[]): Signed {
  const message = Buffer.from(bytes, 'hex');
  const { accounts, signatures: needed } = readMessage(message);
  if (signatures.length !== needed) {
    throw new Error(`the Solana message needs ${needed} signatures, not ${signatures.length}`);
  }
  const decoded = signatures.map((signature, index) => {
    const raw = Buffer.from(signature, 'hex');
    if (!HEX_SIGNATURE.test(signature) || !isSignedBy(accounts[index]!, message, raw)) {
      throw new Error(`the signature of ${accounts[index]} does not fit the Solana message`);
    }
    return raw;
  });
  // A count below 128 is one byte.
  const wire = Buffer.concat([Uint8Array.of(decoded.length), ...decoded, message]);
  if (wire.length > LIMITS.solanaTransactionBytesMax) {
    throw new Error(`the Solana transaction has ${wire.length} bytes`);
  }
  return { hash: base58.encode(decoded[0]!), bytes: wire.toString('hex') };
}

/** Bytes of a transaction with that message. */
export const wireBytes = (message: Uint8Array): number => 1 + 64 * message[0]! + message.length;

/** The message of a signed transaction. */
export function messageOf(wire: string): Uint8Array {
  const bytes = Buffer.from(wire, 'hex');
  return bytes.subarray(1 + 64 * bytes[0]!);
}

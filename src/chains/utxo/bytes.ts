import { createHash } from 'node:crypto';

/** Reading and writing the byte formats of transactions and blocks. */

export const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
export const sha256Twice = (bytes: Uint8Array): Buffer => sha256(sha256(bytes));
export const hash160 = (bytes: Uint8Array): Buffer => createHash('ripemd160').update(sha256(bytes)).digest();

/** Hashes are written in the opposite order of their bytes. */
export const shownHash = (bytes: Uint8Array): string => Buffer.from(bytes).reverse().toString('hex');
export const hashBytes = (shown: string): Buffer => Buffer.from(shown, 'hex').reverse();

export type Reader = ReturnType<typeof createReader>;

/** Throws if there are too few bytes. Numbers that could be money are read as bigint. */
export function createReader(bytes: Buffer) {
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('the bytes end too early');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const u8 = (): number => take(1)[0]!;
  const u32 = (): number => take(4).readUInt32LE();
  const count = (): number => {
    const first = u8();
    if (first < 0xfd) return first;
    if (first === 0xfd) return take(2).readUInt16LE();
    if (first === 0xfe) return u32();
    throw new Error('a count is larger than any block');
  };
  return {
    take,
    u8,
    u32,
    u64: (): bigint => take(8).readBigUInt64LE(),
    count,
    sized: (): Buffer => take(count()),
    position: (): number => at,
    peek: (offset: number): number | undefined => bytes[at + offset],
    slice: (from: number, to: number): Buffer => bytes.subarray(from, to),
  };
}

export function writeU32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function writeU64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

export function writeCount(value: number): Buffer {
  if (value < 0xfd) return Buffer.of(value);
  if (value <= 0xffff) return Buffer.of(0xfd, value & 0xff, value >> 8);
  return Buffer.concat([Buffer.of(0xfe), writeU32(value)]);
}

export const writeSized = (bytes: Uint8Array): Buffer => Buffer.concat([writeCount(bytes.length), bytes]);

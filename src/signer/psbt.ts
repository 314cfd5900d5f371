import { createHash } from 'node:crypto';

/**
 * Reads the transaction of a PSBT (BIP-174, version 0). Everything else in the PSBT is advice that the signer does not take: it
 * knows amounts and keys of the coins from the assignment, and a signature with a wrong amount is not valid.
 */

export type UnsignedTransaction = {
  readonly version: number;
  readonly inputs: readonly { readonly txHash: string; readonly output: number; readonly sequence: number }[];
  readonly outputs: readonly { readonly units: bigint; readonly script: Buffer }[];
  readonly lockTime: number;
  /** As nodes show it. Signatures in witnesses do not change it. */
  readonly hash: string;
};

const MAGIC = Buffer.from('70736274ff', 'hex');

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
export const sha256Twice = (bytes: Uint8Array): Buffer => sha256(sha256(bytes));

function createReader(bytes: Buffer) {
  let at = 0;
  function take(length: number): Buffer {
    if (at + length > bytes.length) throw new Error('the bytes end too early');
    at += length;
    return bytes.subarray(at - length, at);
  }
  function count(): number {
    const first = take(1)[0]!;
    if (first < 0xfd) return first;
    if (first === 0xfd) return take(2).readUInt16LE();
    if (first === 0xfe) return take(4).readUInt32LE();
    throw new Error('a count is too large');
  }
  return { take, count, sized: () => take(count()), isAtEnd: () => at === bytes.length };
}

function many<Value>(count: number, read: () => Value): Value[] {
  const values: Value[] = [];
  for (let left = count; left > 0; left -= 1) values.push(read());
  return values;
}

function transactionIn(bytes: Buffer): UnsignedTransaction {
  const from = createReader(bytes);
  const version = from.take(4).readInt32LE();
  const inputs = many(from.count(), () => {
    const txHash = Buffer.from(from.take(32)).reverse().toString('hex');
    const output = from.take(4).readUInt32LE();
    if (from.sized().length > 0) throw new Error('an input has a signature already');
    return { txHash, output, sequence: from.take(4).readUInt32LE() };
  });
  const outputs = many(from.count(), () => ({ units: from.take(8).readBigUInt64LE(), script: from.sized() }));
  const lockTime = from.take(4).readUInt32LE();
  if (!from.isAtEnd() || inputs.length === 0 || outputs.length === 0)
    throw new Error('the transaction is empty, or has a witness');
  return { version, inputs, outputs, lockTime, hash: sha256Twice(bytes).reverse().toString('hex') };
}

/** Key type 0 of the first map. Throws if the bytes are something else. */
export function readPsbt(bytes: Buffer): UnsignedTransaction {
  const from = createReader(bytes);
  if (!from.take(MAGIC.length).equals(MAGIC)) throw new Error('the bytes are not a PSBT');
  for (;;) {
    const key = from.sized();
    if (key.length === 0) throw new Error('the PSBT has no transaction');
    const value = from.sized();
    if (key.length === 1 && key[0] === 0) return transactionIn(value);
  }
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

/** Scripts of payments have less than 253 bytes; others are refused before. */
const sized = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.of(bytes.length), bytes]);

const outpoint = ({ txHash, output }: UnsignedTransaction['inputs'][number]): Buffer =>
  Buffer.concat([Buffer.from(txHash, 'hex').reverse(), u32(output)]);

/** What is signed for each input (BIP-143): segwit, and Bitcoin Cash with its flag. It covers the amounts of the coins. */
export function digestsOf(
  { version, inputs, outputs, lockTime }: UnsignedTransaction,
  coins: readonly { readonly units: bigint; readonly covered: Uint8Array }[],
  sighash: number,
): Buffer[] {
  const outpoints = sha256Twice(Buffer.concat(inputs.map(outpoint)));
  const sequences = sha256Twice(Buffer.concat(inputs.map(({ sequence }) => u32(sequence))));
  const paid = sha256Twice(
    Buffer.concat(outputs.map(({ units, script }) => Buffer.concat([u64(units), sized(script)]))),
  );
  return inputs.map((input, index) => {
    const { units, covered } = coins[index]!;
    return sha256Twice(
      Buffer.concat([
        u32(version),
        outpoints,
        sequences,
        outpoint(input),
        sized(covered),
        u64(units),
        u32(input.sequence),
        paid,
        u32(lockTime),
        u32(sighash),
      ]),
    );
  });
}

const ORDER = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n;

function derInteger(value: bigint): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  const signed = bytes[0]! >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes;
  return Buffer.concat([Buffer.of(0x02, signed.length), signed]);
}

/** Nodes relay only the smaller one of the two values that are valid for `s`. */
function derSignature(raw: Uint8Array): Buffer {
  const at = (from: number): bigint =>
    BigInt(`0x${Buffer.from(raw.subarray(from, from + 32)).toString('hex')}`);
  const [r, s] = [at(0), at(32)];
  const body = Buffer.concat([derInteger(r), derInteger(s > ORDER / 2n ? ORDER - s : s)]);
  return Buffer.concat([Buffer.of(0x30, body.length), body]);
}

/** The hash of the transaction with its signatures where they are part of it, as on Bitcoin Cash. */
export function hashWithSignatures(
  { version, inputs, outputs, lockTime }: UnsignedTransaction,
  proofs: readonly { readonly raw: Uint8Array; readonly publicKey: Uint8Array }[],
  sighash: number,
): string {
  const count = (length: number): Buffer =>
    length < 0xfd ? Buffer.of(length) : Buffer.of(0xfd, length & 0xff, length >> 8);
  const bytes = Buffer.concat([
    u32(version),
    count(inputs.length),
    ...inputs.flatMap((input, index) => {
      const { raw, publicKey } = proofs[index]!;
      const signature = Buffer.concat([derSignature(raw), Buffer.of(sighash & 0xff)]);
      return [
        outpoint(input),
        sized(Buffer.concat([sized(signature), sized(publicKey)])),
        u32(input.sequence),
      ];
    }),
    count(outputs.length),
    ...outputs.flatMap(({ units, script }) => [u64(units), sized(script)]),
    u32(lockTime),
  ]);
  return sha256Twice(bytes).reverse().toString('hex');
}

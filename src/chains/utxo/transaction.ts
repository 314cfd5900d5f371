import {
  createReader,
  hashBytes,
  type Reader,
  sha256,
  sha256Twice,
  shownHash,
  writeCount,
  writeSized,
  writeU32,
  writeU64,
} from './bytes.ts';
import { keyHashScript } from './script.ts';

/** Transactions as nodes store them. Blocks are read with this too, so it takes everything that a chain contains. */

export type TxInput = {
  readonly txHash: string;
  readonly output: number;
  readonly script: Uint8Array;
  readonly sequence: number;
  readonly witness: readonly Uint8Array[];
};

export type TxOutput = { readonly units: bigint; readonly script: Uint8Array };

export type Transaction = {
  readonly version: number;
  readonly inputs: readonly TxInput[];
  readonly outputs: readonly TxOutput[];
  readonly lockTime: number;
};

export type ReadTransaction = Transaction & { readonly hash: string };

export const outpoint = ({ txHash, output }: Pick<TxInput, 'txHash' | 'output'>): string =>
  `${txHash}:${output}`;

const WITNESS = 1;
/** Litecoin: the transaction has a part in the extension block. What that holds is not visible, and not of concern here. */
const EXTENSION = 8;

function readInput(from: Reader): Omit<TxInput, 'witness'> {
  return { txHash: shownHash(from.take(32)), output: from.u32(), script: from.sized(), sequence: from.u32() };
}

function readList<Value>(from: Reader, read: () => Value): Value[] {
  const values: Value[] = [];
  for (let left = from.count(); left > 0; left -= 1) values.push(read());
  return values;
}

export function readTransaction(from: Reader): ReadTransaction {
  const start = from.position();
  const version = from.u32();
  // A transaction has inputs; 0 of them is the mark of a longer form, and the flags follow.
  const flags = from.peek(0) === 0 && from.peek(1) !== 0 ? from.take(2)[1]! : 0;
  if ((flags & ~(WITNESS | EXTENSION)) !== 0) throw new Error(`unknown flags ${flags} in a transaction`);
  const body = from.position();
  const inputs = readList(from, () => readInput(from));
  const outputs = readList(from, (): TxOutput => ({ units: from.u64(), script: from.sized() }));
  const bodyEnd = from.position();
  const witnesses =
    flags & WITNESS ? inputs.map(() => readList(from, () => from.sized())) : inputs.map(() => []);
  // In a block, this part is always absent: its place is a zero.
  if (flags & EXTENSION && from.u8() !== 0)
    throw new Error('a transaction of the extension block is in a block');
  const lockTime = from.u32();
  const hashed =
    flags === 0
      ? from.slice(start, from.position())
      : Buffer.concat([from.slice(start, start + 4), from.slice(body, bodyEnd), writeU32(lockTime)]);
  return {
    hash: shownHash(sha256Twice(hashed)),
    version,
    inputs: inputs.map((input, index) => ({ ...input, witness: witnesses[index]! })),
    outputs,
    lockTime,
  };
}

export function transactionFrom(hex: string): ReadTransaction {
  return readTransaction(createReader(Buffer.from(hex, 'hex')));
}

const writeOutpoint = (input: TxInput): Buffer =>
  Buffer.concat([hashBytes(input.txHash), writeU32(input.output)]);
const writeOutput = ({ units, script }: TxOutput): Buffer =>
  Buffer.concat([writeU64(units), writeSized(script)]);

export function writeTransaction({ version, inputs, outputs, lockTime }: Transaction): Buffer {
  const hasWitness = inputs.some(({ witness }) => witness.length > 0);
  return Buffer.concat([
    writeU32(version),
    ...(hasWitness ? [Buffer.of(0, WITNESS)] : []),
    writeCount(inputs.length),
    ...inputs.flatMap((input) => [writeOutpoint(input), writeSized(input.script), writeU32(input.sequence)]),
    writeCount(outputs.length),
    ...outputs.map(writeOutput),
    ...(hasWitness
      ? inputs.flatMap(({ witness }) => [writeCount(witness.length), ...witness.map(writeSized)])
      : []),
    writeU32(lockTime),
  ]);
}

/** The hash does not cover witnesses. */
export function hashOf(transaction: Transaction): string {
  const inputs = transaction.inputs.map((input) => ({ ...input, witness: [] }));
  return shownHash(sha256Twice(writeTransaction({ ...transaction, inputs })));
}

/**
 * What a signature of each input covers, by BIP-143: with segwit, and on Bitcoin Cash with another kind of signature. It
 * covers the amounts of the coins, so a signer that was told a wrong amount makes a signature that is not valid. The digest
 * that is signed is the SHA-256 of each; the caller hashes it, because some backends hash by themselves.
 */
export function signedHashes(
  transaction: Transaction,
  coins: readonly { readonly units: bigint; readonly keyHash: Uint8Array }[],
  sighash: number,
): Buffer[] {
  const { version, inputs, outputs, lockTime } = transaction;
  const shared = {
    outpoints: sha256Twice(Buffer.concat(inputs.map(writeOutpoint))),
    sequences: sha256Twice(Buffer.concat(inputs.map(({ sequence }) => writeU32(sequence)))),
    outputs: sha256Twice(Buffer.concat(outputs.map(writeOutput))),
  };
  return inputs.map((input, index) => {
    const { units, keyHash } = coins[index]!;
    return sha256(
      Buffer.concat([
        writeU32(version),
        shared.outpoints,
        shared.sequences,
        writeOutpoint(input),
        writeSized(keyHashScript(keyHash)),
        writeU64(units),
        writeU32(input.sequence),
        shared.outputs,
        writeU32(lockTime),
        writeU32(sighash),
      ]),
    );
  });
}

import { SLICES } from '../../kernel/slices.ts';
import { UTXO_LIMITS } from '../../limits-utxo.ts';
import { createReader, hash160, sha256, sha256Twice, shownHash } from './bytes.ts';
import type { Chain } from './chain.ts';
import { addressOf, walletScript, witnessScript } from './script.ts';
import { type ReadTransaction, readTransaction, type TxInput } from './transaction.ts';

/** Blocks as nodes store them. Their hash covers everything in them, so nodes need not be trusted with the content. */

export type RawBlock = {
  readonly hash: string;
  readonly parentHash: string;
  readonly timeMs: number;
  readonly transactions: readonly ReadTransaction[];
};

const HEADER_BYTES = 80;

function merkleRoot(hashes: readonly Buffer[]): Buffer {
  let level = [...hashes];
  while (level.length > 1) {
    const next: Buffer[] = [];
    for (let index = 0; index < level.length; index += 2)
      next.push(sha256Twice(Buffer.concat([level[index]!, level[index + 1] ?? level[index]!])));
    level = next;
  }
  return level[0]!;
}

/** Throws if the bytes are not the block with that hash. In slices: a full block takes hundreds of milliseconds. */
export async function readBlock(hex: string, hash: string): Promise<RawBlock> {
  const bytes = Buffer.from(hex, 'hex');
  const header = bytes.subarray(0, HEADER_BYTES);
  if (shownHash(sha256Twice(header)) !== hash)
    throw new Error(`the node returned another block than ${hash}`);
  const from = createReader(bytes.subarray(HEADER_BYTES));
  const transactions: ReadTransaction[] = [];
  for (let left = from.count(); left > 0; left -= 1) {
    transactions.push(readTransaction(from));
    if (left % UTXO_LIMITS.readSlice === 0) await SLICES.next();
  }
  const hashes = transactions.map((one) => Buffer.from(one.hash, 'hex').reverse());
  // Equal neighbours have the same root as one of them alone, so a block with them could be a forged list (CVE-2012-2459).
  const isForged = hashes.some((one, index) => index > 0 && one.equals(hashes[index - 1]!));
  if (hashes.length === 0 || isForged || !merkleRoot(hashes).equals(header.subarray(36, 68)))
    throw new Error(`the content of block ${hash} does not match its header`);
  return {
    hash,
    parentHash: shownHash(header.subarray(4, 36)),
    timeMs: header.readUInt32LE(68) * 1000,
    transactions,
  };
}

/** The key of an input that spends a coin of a wallet like ours: the last of two items. */
function keyOf(chain: Chain, { script, witness }: TxInput): Uint8Array | undefined {
  if (chain.hasSegwit) return script.length === 0 && witness.length === 2 ? witness[1] : undefined;
  const signatureLength = script[0] ?? 0;
  const key = script.subarray(signatureLength + 2);
  return script[signatureLength + 1] === key.length ? key : undefined;
}

/** The address of a script that several people may have to sign for, as cold wallets have it. */
function scriptSpentFrom(chain: Chain, { script, witness }: TxInput): string | undefined {
  const last = witness.at(-1);
  if (!chain.hasSegwit || script.length > 0 || witness.length < 3 || last === undefined) return undefined;
  return addressOf(chain, witnessScript(0, sha256(last)));
}

/** The address whose coin an input spends, if it is one of the kind that our wallets have, or a script in the witness. */
export function spentFrom(chain: Chain, input: TxInput): string | undefined {
  const key = keyOf(chain, input);
  if (key === undefined) return scriptSpentFrom(chain, input);
  return key?.length === 33 ? addressOf(chain, walletScript(chain, hash160(key))) : undefined;
}

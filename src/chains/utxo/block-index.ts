import { UTXO_LIMITS } from '../../limits-utxo.ts';
import type { RawBlock } from './block.ts';
import { outpoint, type TxInput } from './transaction.ts';

/**
 * Which transactions are in a block, and which coins it spends, in eight bytes each. With it, a payment is found in the chain
 * without an index in the node, and without reading a block again for every payment. A hit may be a coincidence, and must be
 * looked up in the block itself.
 */
export type IndexedBlock = {
  readonly hash: string;
  readonly parentHash: string;
  mayHave(txHash: string): boolean;
  maySpend(coin: Pick<TxInput, 'txHash' | 'output'>): boolean;
};

const PREFIX_DIGITS = 12;
const prefixOf = (hash: string): number => Number.parseInt(hash.slice(0, PREFIX_DIGITS), 16);
const outpointNumber = ({ txHash, output }: Pick<TxInput, 'txHash' | 'output'>): number =>
  prefixOf(txHash) + output;

function includes(sorted: Float64Array, wanted: number): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === wanted;
}

export function indexBlock({ hash, parentHash, transactions }: RawBlock): IndexedBlock {
  const hashes = Float64Array.from(transactions, (one) => prefixOf(one.hash)).sort();
  const spent = Float64Array.from(transactions.flatMap(({ inputs }) => inputs.map(outpointNumber))).sort();
  return {
    hash,
    parentHash,
    mayHave: (txHash) => includes(hashes, prefixOf(txHash)),
    maySpend: (coin) => includes(spent, outpointNumber(coin)),
  };
}

/** The transactions of a block that spend one of these coins. */
export function spendersIn({ transactions }: RawBlock, coins: ReadonlySet<string>): string[] {
  return transactions
    .filter(({ inputs }) => inputs.some((input) => coins.has(outpoint(input))))
    .map(({ hash }) => hash);
}

/** Keeps the values that were used last. */
export function createRecent<Value>(most: number) {
  const values = new Map<string, Value>();
  return {
    get(key: string): Value | undefined {
      const value = values.get(key);
      if (value === undefined) return undefined;
      values.delete(key);
      values.set(key, value);
      return value;
    },
    set(key: string, value: Value): void {
      values.set(key, value);
      if (values.size > most) values.delete(values.keys().next().value!);
    },
  };
}

export const createIndexCache = () => createRecent<IndexedBlock>(UTXO_LIMITS.indexedBlocksMax);

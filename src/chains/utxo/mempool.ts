import { UTXO_LIMITS } from '../../limits-utxo.ts';
import type { Coin, LaneState } from '../driver.ts';
import type { Nodes, View } from './nodes.ts';
import { RpcError } from './rpc.ts';
import { hashOf, outpoint, type ReadTransaction, transactionFrom, writeTransaction } from './transaction.ts';

/** Unconfirmed transactions of our own, on whose change a new one can build. */

export type Unconfirmed = {
  readonly hash: string;
  readonly coin: Pick<Coin, 'txHash' | 'output'>;
  readonly size: bigint;
  readonly feeUnits: bigint;
};

/** Undefined if the node does not have it in its mempool. */
export async function inMempool(
  nodes: Nodes,
  view: View,
  hash: string,
  signal: AbortSignal,
): Promise<ReadTransaction | undefined> {
  try {
    return transactionFrom((await nodes.ask(view, 'getrawtransaction', [hash], signal)) as string);
  } catch (error) {
    if (error instanceof RpcError) return undefined;
    throw error;
  }
}

function sizeInVbytes(transaction: ReadTransaction): bigint {
  const whole = writeTransaction(transaction).length;
  const inputs = transaction.inputs.map((input) => ({ ...input, witness: [] }));
  const stripped = writeTransaction({ ...transaction, inputs }).length;
  return BigInt(Math.ceil((3 * stripped + whole) / 4));
}

/**
 * The unconfirmed transactions that a coin depends on, its own first; undefined if the coin cannot be used: the node does not
 * have them, they are too many, or one of them is not ours.
 */
export async function ancestorsOf(
  nodes: Nodes,
  view: View,
  lane: LaneState,
  coin: Coin,
  signal: AbortSignal,
): Promise<readonly Unconfirmed[] | undefined> {
  const own = new Map(lane.open.flatMap(({ coins }) => coins.map((one) => [outpoint(one), one])));
  const found = new Map<string, Unconfirmed>();
  const next = [coin.txHash];
  for (const hash of next) {
    if (found.has(hash)) continue;
    const transaction = await inMempool(nodes, view, hash, signal);
    if (transaction === undefined) {
      // An ancestor of one that is in the mempool is either there too or in a block.
      if (hash === coin.txHash) return undefined;
      continue;
    }
    const coins = transaction.inputs.map((input) => own.get(outpoint(input)));
    if (found.size === UTXO_LIMITS.unconfirmedMax || coins.includes(undefined)) return undefined;
    const inUnits = coins.reduce((sum, one) => sum + one!.units, 0n);
    const { txHash, output } = transaction.inputs[0]!;
    found.set(hash, {
      hash: hashOf(transaction),
      coin: { txHash, output },
      size: sizeInVbytes(transaction),
      feeUnits: transaction.outputs.reduce((left, { units }) => left - units, inUnits),
    });
    next.push(...coins.filter((one) => one!.height === null).map((one) => one!.txHash));
  }
  return [...found.values()];
}

import { SLICES } from '../../kernel/slices.ts';
import { UTXO_LIMITS } from '../../limits-utxo.ts';
import type { Block, Received } from '../driver.ts';
import { spentFrom } from './block.ts';
import { createRecent } from './block-index.ts';
import type { Chain } from './chain.ts';
import type { Nodes, View } from './nodes.ts';
import { addressOf } from './script.ts';
import { outpoint, type ReadTransaction } from './transaction.ts';

/** What a block pays to us and spends of ours. */

export function createScan(chain: Chain, nodes: Nodes) {
  const coinbases = createRecent<ReadTransaction>(UTXO_LIMITS.coinbasesMax);

  function receivedIn(
    { hash: txHash, outputs }: ReadTransaction,
    isOurs: (address: string) => boolean,
  ): Received[] {
    return outputs.flatMap(({ script, units }, output) => {
      // Scripts without an address include those of Litecoin's extension block, whose coins are not visible here.
      const address = addressOf(chain, script);
      if (address === undefined || units === 0n || !isOurs(address)) return [];
      return [{ txHash, output, address, asset: chain.asset, units }];
    });
  }

  function spentIn({ inputs }: ReadTransaction, isOurs: (address: string) => boolean): string[] {
    const ours = inputs.filter((input) => {
      const address = spentFrom(chain, input);
      return address !== undefined && isOurs(address);
    });
    return ours.map(outpoint);
  }

  async function coinbaseAt(view: View, height: number, signal: AbortSignal): Promise<ReadTransaction> {
    const hash = await nodes.agreedHash(view, height, signal);
    const known = coinbases.get(hash);
    if (known !== undefined) return known;
    return (await nodes.block(view, hash, signal)).transactions[0]!;
  }

  return async function block(
    height: number,
    isOurs: (address: string) => boolean,
    signal: AbortSignal,
  ): Promise<Block> {
    const view = await nodes.view(signal);
    const hash = await nodes.agreedHash(view, height, signal);
    const { parentHash, timeMs, transactions } = await nodes.block(view, hash, signal);
    const [coinbase, ...others] = transactions as [ReadTransaction, ...ReadTransaction[]];
    coinbases.set(hash, coinbase);
    // A coinbase can be spent, and counts, only at the block that makes it mature. The first block's never can.
    const mature = height - UTXO_LIMITS.coinbaseMaturity + 1;
    const matured = mature > 0 ? [await coinbaseAt(view, mature, signal)] : [];
    const received: Received[] = matured.flatMap((one) => receivedIn(one, isOurs));
    const spent: string[] = [];
    for (const [index, transaction] of others.entries()) {
      received.push(...receivedIn(transaction, isOurs));
      spent.push(...spentIn(transaction, isOurs));
      if (index % UTXO_LIMITS.compareSlice === 0) await SLICES.next();
    }
    return {
      height,
      hash,
      parentHash,
      timeMs,
      received,
      spent,
    };
  };
}

import { SLICES } from '../../kernel/slices.ts';
import { UTXO_LIMITS } from '../../limits-utxo.ts';
import type { Block, Received } from '../driver.ts';
import type { RefillSeen } from '../treasury-driver.ts';
import { spentFrom } from './block.ts';
import { createRecent } from './block-index.ts';
import type { Chain } from './chain.ts';
import type { Nodes, View } from './nodes.ts';
import { addressOf } from './script.ts';
import { outpoint, type ReadTransaction } from './transaction.ts';

/** What a block pays to us and spends of ours. */

/** Between which payments are refills. */
export type Wallets = { readonly hot: string; readonly cold: string | undefined };

export function createScan(chain: Chain, nodes: Nodes, { hot, cold }: Wallets) {
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

  function refillIn({ hash: txHash, inputs, outputs }: ReadTransaction): RefillSeen[] {
    if (cold === undefined || !inputs.some((input) => spentFrom(chain, input) === cold)) return [];
    const units = outputs
      .filter(({ script }) => addressOf(chain, script) === hot)
      .reduce((sum, one) => sum + one.units, 0n);
    const paidUnits = outputs.reduce((sum, one) => sum + one.units, 0n);
    const fee = { coins: inputs.map(outpoint), paidUnits };
    return units === 0n ? [] : [{ txHash, place: 'coin', asset: chain.asset, units, fee }];
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
    const refills: RefillSeen[] = [];
    for (const [index, transaction] of others.entries()) {
      received.push(...receivedIn(transaction, isOurs));
      const spentHere = spentIn(transaction, isOurs);
      spent.push(...spentHere);
      // Coins of the cold wallet are ours, too.
      if (spentHere.length > 0) refills.push(...refillIn(transaction));
      if (index % UTXO_LIMITS.compareSlice === 0) await SLICES.next();
    }
    return {
      height,
      hash,
      parentHash,
      timeMs,
      received,
      spent,
      refills,
    };
  };
}

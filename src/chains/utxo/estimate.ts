import { CRYPTO_NETWORK_RECORDS } from '../../networks/crypto.ts';
import type { Chain } from './chain.ts';
import { unitsOf } from './decimal.ts';
import { larger } from './fees.ts';
import type { Nodes, View } from './nodes.ts';
import { RpcError } from './rpc.ts';
import type { FeeSettings } from './settings.ts';

/** What a transaction must pay now, in units per 1,000 vbytes. */

async function asked(
  nodes: Nodes,
  view: View,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
) {
  try {
    return await nodes.ask(view, method, params, signal);
  } catch (error) {
    // Not every node has both methods, and a new one has seen too few blocks for an estimate.
    if (error instanceof RpcError) return undefined;
    throw error;
  }
}

/** At least the lower bound. May be above the upper one: that is for the caller to judge. */
export async function estimateRate(
  nodes: Nodes,
  chain: Chain,
  view: View,
  fees: FeeSettings,
  signal: AbortSignal,
): Promise<bigint> {
  const { decimals } = CRYPTO_NETWORK_RECORDS[chain.network].native;
  // Bitcoin Cash has no market for fees: its nodes estimate without a target, or not at all.
  const answer = chain.hasSegwit
    ? ((await asked(nodes, view, 'estimatesmartfee', [fees.targetBlocks], signal)) as { feerate?: unknown })
        ?.feerate
    : await asked(nodes, view, 'estimatefee', [], signal);
  const rate = unitsOf(answer, decimals) ?? fees.fallbackRate;
  return larger(rate, fees.minRate);
}

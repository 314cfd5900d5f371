import type { LaneState, Outgoing, Plan } from '../driver.ts';
import { balanceData, callFor, contractOf } from './calls.ts';
import { bytesLike, dataFee } from './data-fee.ts';
import { type Fees, marketFees, max } from './fees.ts';
import type { Nodes, NodeView } from './nodes.ts';
import { RpcRefusal } from './rpc.ts';
import type { EvmSettings } from './settings.ts';

/** A margin on estimates: the state may have changed until the transaction is executed. */
const GAS_MARGIN_PERCENT = 20n;
/** For a transfer that the node could not estimate. The chain decides whether it succeeds, and the rest is not used. */
const GAS_DEFAULT = 120_000n;
/** A transfer that needs more does something else as well. */
const GAS_MAX = 500_000n;
const GAS_OF_A_COIN = 21_000n;

export type Price = { readonly fees: Fees; readonly baseFee: bigint };

/** Undefined if the bound on fees is below the market. */
export async function priceNow(
  nodes: Nodes,
  settings: EvmSettings,
  signal: AbortSignal,
): Promise<Price | undefined> {
  const [first] = await nodes.views(signal);
  const tip = BigInt(await nodes.ask<string>('eth_maxPriorityFeePerGas', [], signal));
  const { baseFee } = first!.head;
  const fees = marketFees(baseFee, tip, settings.fees);
  return fees && { fees, baseFee };
}

export async function gasFor(
  nodes: Nodes,
  lane: string,
  payment: Outgoing,
  contract: string | undefined,
  signal: AbortSignal,
): Promise<bigint> {
  const { to, value, data } = callFor(payment, contract);
  try {
    const call = { from: lane, to, value: `0x${value.toString(16)}`, data };
    const estimate = BigInt(await nodes.ask<string>('eth_estimateGas', [call], signal));
    if (estimate === GAS_OF_A_COIN) return estimate;
    const gas = estimate + (estimate * GAS_MARGIN_PERCENT) / 100n;
    return gas > GAS_MAX ? GAS_MAX : gas;
  } catch (error) {
    if (error instanceof RpcRefusal) return GAS_DEFAULT;
    throw error;
  }
}

/** Whether the lane has nonces that no assignment holds: of a restored backup, or of somebody else who has the key. */
async function usedNonces(nodes: Nodes, views: readonly NodeView[], lane: string, signal: AbortSignal) {
  const counts = await Promise.allSettled(
    views.map(({ rpc }) => rpc.call<string>('eth_getTransactionCount', [lane, 'latest'], signal)),
  );
  const latest = counts.flatMap((one) => (one.status === 'fulfilled' ? [BigInt(one.value)] : []));
  const pending = BigInt(await nodes.ask<string>('eth_getTransactionCount', [lane, 'pending'], signal));
  const mined = latest.reduce(max, 0n);
  return { mined, known: max(mined, pending) };
}

type Funds = Map<string, bigint>;

/** What the lane holds, without what its assignments that are in no block yet will take. */
async function fundsOf(
  nodes: Nodes,
  settings: EvmSettings,
  { lane, open }: LaneState,
  mined: bigint,
  assets: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Funds> {
  const coins = BigInt(await nodes.ask<string>('eth_getBalance', [lane, 'latest'], signal));
  const funds: Funds = new Map([[settings.native, coins]]);
  for (const asset of assets) {
    const contract = contractOf(settings, asset);
    if (contract === undefined) continue;
    const balance = await nodes.ask<string>(
      'eth_call',
      [{ to: contract, data: balanceData(lane) }, 'latest'],
      signal,
    );
    funds.set(asset, BigInt(balance === '0x' ? 0 : balance));
  }
  const take = (asset: string, units: bigint) => void funds.set(asset, (funds.get(asset) ?? 0n) - units);
  for (const { slot, payments, details } of open) {
    if (BigInt(slot!) < mined) continue;
    for (const { asset, units } of payments) take(asset, units);
    take(settings.native, BigInt(details.cost ?? 0));
  }
  return funds;
}

type Wait = Extract<Plan, { kind: 'wait' }>;
const wait = (code: Wait['code'], reason: string): Wait => ({ kind: 'wait', code, reason });

export async function planNext(
  nodes: Nodes,
  settings: EvmSettings,
  lane: LaneState,
  waiting: readonly Outgoing[],
  signal: AbortSignal,
): Promise<Plan> {
  const { mined, known } = await usedNonces(nodes, await nodes.views(signal), lane.lane, signal);
  const nonce = lane.nextSlot ?? settings.firstNonce;
  if (known > nonce)
    return wait(
      'foreign-slot',
      `${lane.lane} has used nonces up to ${known - 1n}, and the last one that was assigned is ${nonce - 1n}`,
    );
  if (nonce - mined >= BigInt(settings.inFlightMax))
    return wait('busy', `${nonce - mined} transactions of ${lane.lane} wait for a block`);
  const price = await priceNow(nodes, settings, signal);
  if (price === undefined)
    return wait('fee-too-high', `the network asks for more than ${settings.fees.maxFeeMax} wei per gas`);
  const assets = new Set(waiting.map(({ asset }) => asset));
  const funds = await fundsOf(nodes, settings, lane, mined, assets, signal);
  // The oldest that can be paid: a large payment that waits for a refill does not stop small ones.
  for (const payment of waiting) {
    const contract = contractOf(settings, payment.asset);
    const gas = await gasFor(nodes, lane.lane, payment, contract, signal);
    const bytes = bytesLike(callFor(payment, contract));
    const ofData = await dataFee(nodes, settings.dataFeeOracle, bytes, gas, signal);
    const cost = gas * price.fees.maxFee + ofData;
    const coins = cost + (contract === undefined ? payment.units : 0n);
    if (coins > funds.get(settings.native)! || payment.units > funds.get(payment.asset)!) continue;
    return {
      kind: 'assign',
      draft: {
        purpose: 'PAYMENTS',
        slot: nonce.toString(),
        coins: [],
        payments: [payment],
        details: { gas: gas.toString(), cost: cost.toString(), ...(contract !== undefined && { contract }) },
      },
    };
  }
  const missing = waiting.map(({ asset, units }) => `${units} units of ${asset}`).slice(0, 3);
  return wait('low-funds', `${lane.lane} does not hold enough for ${missing.join(', ')} and the fee`);
}

import { type RefillFile, RefillRefused } from '../../rails/treasury.ts';
import type { LaneState, Plan } from '../driver.ts';
import type { RefillOrder, ToCold, TreasuryDriver, Unswept } from '../treasury-driver.ts';
import { callFor, contractOf } from './calls.ts';
import type { Codec } from './codec.ts';
import { max } from './fees.ts';
import type { Nodes } from './nodes.ts';
import { gasFor, planNext, priceNow } from './plan.ts';
import type { EvmSettings } from './settings.ts';

/**
 * A deposit address pays the fee of its sweep itself, with a nonce of its own. One that holds only tokens first gets coins for that
 * from a lane.
 */

/** Coins are swept if they are worth at least so many fees. */
const WORTH_FEES = 20n;
/** So many times the fee is left or funded: a later version may have to offer more. What is not used is swept with the next coins. */
const ROOM = 2n;

type Wait = Extract<Plan, { kind: 'wait' }>;
const wait = (code: Wait['code'], reason: string): Wait => ({ kind: 'wait', code, reason });

type Parts = { readonly nodes: Nodes; readonly settings: EvmSettings; readonly codec: Codec };

const coinsOf = async (nodes: Nodes, address: string, signal: AbortSignal): Promise<bigint> =>
  BigInt(await nodes.ask<string>('eth_getBalance', [address, 'latest'], signal));

/** What a sweep of the row needs: gas, and its price now. Undefined if the bound on fees is below the market. */
async function needOf({ nodes, settings }: Parts, row: Unswept, to: string, signal: AbortSignal) {
  const contract = contractOf(settings, row.asset);
  const price = await priceNow(nodes, settings, signal);
  if (price === undefined) return undefined;
  // Of coins, only a part can be sent.
  const units = contract === undefined ? 1n : row.units;
  const gas = await gasFor(
    nodes,
    row.address,
    { key: '', asset: row.asset, units, address: to },
    contract,
    signal,
  );
  return { contract, gas, cost: gas * price.fees.maxFee };
}

async function sweep(
  parts: Parts,
  lane: LaneState,
  row: Unswept,
  to: string,
  signal: AbortSignal,
): Promise<Plan> {
  const { nodes, settings } = parts;
  const need = await needOf(parts, row, to, signal);
  if (need === undefined)
    return wait('fee-too-high', `the network asks for more than ${settings.fees.maxFeeMax} wei per gas`);
  const { contract, gas, cost } = need;
  const coins = await coinsOf(nodes, row.address, signal);
  const most = contract === undefined && coins < row.units ? coins : row.units;
  const units = contract === undefined ? most - ROOM * cost : row.units;
  if (contract === undefined && units < WORTH_FEES * cost)
    return wait('busy', `${row.address} holds less than ${WORTH_FEES} fees`);
  if (coins < cost) return wait('low-funds', `${row.address} does not hold the fee of its sweep`);
  // Nobody but us has the key. What the chain has used beyond what we know was a sweep as well.
  const used = BigInt(await nodes.ask<string>('eth_getTransactionCount', [row.address, 'pending'], signal));
  const next = lane.nextSlot ?? 0n;
  return {
    kind: 'assign',
    draft: {
      purpose: 'SWEEP',
      slot: String(max(used, next)),
      coins: [],
      payments: [{ key: '', asset: row.asset, units, address: to }],
      details: {
        gas: gas.toString(),
        cost: cost.toString(),
        path: row.path,
        ...(contract !== undefined && { contract }),
      },
    },
  };
}

async function fund(
  parts: Parts,
  lane: LaneState,
  row: Unswept,
  signal: AbortSignal,
): Promise<Plan | undefined> {
  const { nodes, settings } = parts;
  const need = await needOf(parts, row, lane.lane, signal);
  if (need === undefined || need.contract === undefined) return undefined;
  const coins = await coinsOf(nodes, row.address, signal);
  if (coins >= need.cost) return undefined;
  const units = ROOM * need.cost - coins;
  const plan = await planNext(
    nodes,
    settings,
    lane,
    [{ key: '', asset: settings.native, units, address: row.address }],
    signal,
  );
  if (plan.kind === 'wait') return plan;
  const { draft } = plan;
  return {
    kind: 'assign',
    draft: { ...draft, purpose: 'UPKEEP', details: { ...draft.details, path: row.path } },
  };
}

async function toCold(
  { nodes, settings }: Parts,
  lane: LaneState,
  { asset, units, address }: ToCold,
  signal: AbortSignal,
): Promise<Plan> {
  const plan = await planNext(nodes, settings, lane, [{ key: '', asset, units, address }], signal);
  return plan.kind === 'wait' ? plan : { kind: 'assign', draft: { ...plan.draft, purpose: 'TO_COLD' } };
}

async function refill(
  { nodes, settings, codec }: Parts,
  order: RefillOrder,
  signal: AbortSignal,
): Promise<RefillFile> {
  const { asset, units, cold, to } = order;
  const contract = contractOf(settings, asset);
  const price = await priceNow(nodes, settings, signal);
  if (price === undefined)
    throw new RefillRefused(`The network asks for more than ${settings.fees.maxFeeMax} wei per gas.`);
  const payment = { key: '', asset, units, address: to };
  const gas = await gasFor(nodes, cold, payment, contract, signal);
  const nonce = BigInt(await nodes.ask<string>('eth_getTransactionCount', [cold, 'pending'], signal));
  const call = callFor(payment, contract);
  return {
    format: 'EVM_TRANSACTION',
    content: codec.unsigned(call, nonce, gas, price.fees),
    summary: {
      from: cold,
      to: call.to,
      value: call.value.toString(),
      data: call.data,
      nonce: nonce.toString(),
      gas: gas.toString(),
      max_fee_per_gas: price.fees.maxFee.toString(),
      max_priority_fee_per_gas: price.fees.tip.toString(),
      chain_id: String(settings.chainId),
    },
  };
}

export function evmTreasury(parts: Parts): TreasuryDriver {
  return {
    addressesPay: true,
    sweep: (lane, [row], to, signal) => sweep(parts, lane, row!, to, signal),
    fund: (lane, row, signal) => fund(parts, lane, row, signal),
    toCold: (lane, order, signal) => toCold(parts, lane, order, signal),
    refill: (order, signal) => refill(parts, order, signal),
  };
}

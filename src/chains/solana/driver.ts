import { LIMITS } from '../../limits.ts';
import type { RailFinding } from '../../rails/kind.ts';
import type { BlockId, Driver, LaneState, Outgoing, Plan, Received, Version } from '../driver.ts';
import { build } from './build.ts';
import { type Chain, createMints, createNewest, createUsedNonces, findToken } from './chain.ts';
import { check } from './check.ts';
import { LAMPORTS_PER_SIGNATURE, marketPrice, priorityLamports } from './fees.ts';
import { holdings } from './holdings.ts';
import { loadLibrary } from './library.ts';
import { connectNodes } from './nodes.ts';
import { observe } from './observe.ts';
import { plan, pricePayments } from './plan.ts';
import { readPrices } from './reads.ts';
import { block, confirm, createHead } from './scan.ts';
import type { SolanaSettings } from './settings.ts';
import { sweep } from './sweep.ts';
import { readStatuses } from './transactions.ts';
import { solanaTreasury } from './treasury.ts';
import { complete } from './wire.ts';

/**
 * Solana. Why at most one version of an assignment is ever executed:
 *
 * A transaction names a lifetime. Here it is the value of a durable nonce account of the lane, and the first instruction advances
 * that account to a new value, which is derived from the blockhash of the moment and has never been there before. The network
 * accepts the transaction only while the account holds the value that the transaction names. It advances the account for every
 * transaction that it executes, and keeps the advance even if a later instruction fails: all other effects are undone, the fee
 * and the advance are not. So the first version that gets into the chain, successful or failed, makes all others invalid for all
 * time. Before that, no version expires, and each can be broadcast as often as needed.
 *
 * A slot is the number of the nonce account and its value. Each open assignment has a nonce account of its own, so the
 * transactions of a lane do not wait for each other. The nonce accounts themselves are created with a recent blockhash, at
 * addresses derived from the lane: what exists cannot be created again.
 */
export type SolanaDriver = Driver & {
  /** The newest block: only final blocks are read. */
  final(signal: AbortSignal): Promise<BlockId>;
  /** Rejects unless enough nodes show the same deposits in the block. */
  confirm(block: BlockId, received: readonly Received[], signal: AbortSignal): Promise<void>;
  /** What this payment would pay for a token account that its recipient does not have yet, in lamports. */
  rentOf(payment: Pick<Outgoing, 'asset' | 'units' | 'address'>, signal: AbortSignal): Promise<bigint>;
  /** From deposit addresses to the lane, which pays the fee. Their keys sign too. */
  sweep(lane: LaneState, sources: readonly string[], signal: AbortSignal): Promise<Plan>;
};

/** To all nodes, since a leader may be reached by one of them only. Nodes do not judge it first: a payment that fails must land. */
async function broadcast({ nodes }: Chain, { bytes, hash }: Version, signal: AbortSignal): Promise<void> {
  const wire = Buffer.from(bytes, 'hex').toString('base64');
  const params = [wire, { encoding: 'base64', skipPreflight: true }];
  try {
    await nodes.all((node) => node.call('sendTransaction', params, signal), signal);
  } catch (error) {
    // Some nodes refuse a transaction that is executed already.
    const [status] = await nodes.any((node) => readStatuses(node, [hash], signal), signal);
    if (status == null) throw error;
  }
}

async function quote({ nodes, settings }: Chain, signal: AbortSignal): Promise<bigint> {
  const recent = await nodes.any((node) => readPrices(node, [], signal), signal);
  const price = marketPrice(recent, settings.priority);
  return LAMPORTS_PER_SIGNATURE + priorityLamports(LIMITS.solanaComputeUnitsPerPayment, price);
}

/** A token that cannot be transferred, or whose transfers call another program: the transaction would fail, and cost its fee. */
async function faultOf(
  { settings, mints }: Chain,
  { asset }: Outgoing,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (asset === settings.native) return undefined;
  const token = findToken(settings, asset);
  if (token === undefined) return `${asset} is not configured on ${settings.network}.`;
  const fault = (await mints.find(token.mint, signal))?.fault;
  return fault && `${asset} cannot be paid on ${settings.network}: ${fault}.`;
}

async function rentOf(chain: Chain, payment: Outgoing, signal: AbortSignal): Promise<bigint> {
  const [priced] = await chain.nodes.any((node) => pricePayments(chain, node, [payment], signal), signal);
  return priced!.rentUnits;
}

async function openChain(settings: SolanaSettings): Promise<Chain> {
  const library = await loadLibrary();
  const nodes = connectNodes(settings);
  return {
    settings,
    library,
    nodes,
    mints: createMints(nodes),
    used: createUsedNonces(),
    newest: createNewest(),
  };
}

export async function openSolana(settings: SolanaSettings): Promise<SolanaDriver> {
  const chain = await openChain(settings);
  const head = createHead(chain);
  return {
    network: settings.network,
    readsOnlyFinal: true,
    fault: (payment, signal) => faultOf(chain, payment, signal),
    plan: (lane, waiting, signal) => plan(chain, lane, waiting, signal),
    build: (assignment, versions, signal) => build(chain, assignment, versions, signal),
    complete,
    broadcast: (version, signal) => broadcast(chain, version, signal),
    observe: (assignment, versions, signal) => observe(chain, assignment, versions, signal),
    head,
    final: head,
    confirm: (found, received, signal) => confirm(chain, found, received, signal),
    block: (height, isOurs, signal) => block(chain, height, isOurs, signal),
    holdings: (addresses, signal) => holdings(chain, addresses, signal),
    treasury: solanaTreasury(chain),
    quote: (_asset, signal) => quote(chain, signal),
    check: (signal): Promise<readonly RailFinding[]> => check(chain, signal),
    rentOf: (payment, signal) => rentOf(chain, { key: '', ...payment }, signal),
    sweep: (lane, sources, signal) => sweep(chain, lane, sources, signal),
  };
}

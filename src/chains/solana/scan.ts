import { type Block, type BlockId, ChainWait, type Received } from '../driver.ts';
import type { RefillSeen } from '../treasury-driver.ts';
import { assetOf, type Chain } from './chain.ts';
import { reasonOf } from './nodes.ts';
import { readSlot } from './reads.ts';
import { type Node, RpcError } from './rpc.ts';
import type { SolanaSettings } from './settings.ts';
import { TRANSACTION_VERSION_MAX } from './transactions.ts';

/**
 * Blocks for the scanner of deposits. A height is a slot. Only finalized blocks are read: they are never replaced, so a deposit that
 * was found stays, and one block of depth is enough.
 *
 * A slot without a block is not an error. It is an empty block with the hash of the block before it, so the chain of hashes stays
 * whole: the next block names that hash as its parent. That a slot has no block is proven by the next block, whose parent is in an
 * earlier slot; what a node answers about the slot itself proves nothing, since it may only have lost the block.
 */

type Amount = number | bigint;
type TokenBalance = {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner?: string;
  readonly uiTokenAmount: { readonly amount: string };
};

export type BlockTransaction = {
  readonly meta: {
    readonly err: unknown;
    readonly preBalances: readonly Amount[];
    readonly postBalances: readonly Amount[];
    readonly preTokenBalances?: readonly TokenBalance[] | null;
    readonly postTokenBalances?: readonly TokenBalance[] | null;
  } | null;
  readonly transaction: {
    readonly accountKeys: readonly { readonly pubkey: string }[];
    readonly signatures: readonly string[];
  };
};

type RawBlock = {
  readonly blockhash: string;
  readonly previousBlockhash: string;
  readonly parentSlot: number;
  readonly blockTime: number | null;
  readonly transactions?: readonly BlockTransaction[];
};

/** Nodes answer so, or with null, if a slot has no block, or if they do not have it. */
const NO_BLOCK_CODES = [-32_004, -32_007, -32_009];

async function readBlock(
  node: Node,
  slot: number,
  details: 'accounts' | 'none',
  signal: AbortSignal,
): Promise<RawBlock | undefined> {
  const options = {
    commitment: 'finalized',
    encoding: 'json',
    transactionDetails: details,
    rewards: false,
    maxSupportedTransactionVersion: TRANSACTION_VERSION_MAX,
  };
  try {
    return (await node.call<RawBlock | null>('getBlock', [slot, options], signal)) ?? undefined;
  } catch (error) {
    if (error instanceof RpcError && NO_BLOCK_CODES.includes(error.code)) return undefined;
    throw error;
  }
}

/**
 * What our addresses have gained in a transaction: its coins by the balance of the address, tokens by the balances of all accounts
 * that it owns. So it counts however the transfer was made. A failed transaction has moved nothing but the fee.
 */
export function receivedIn(
  { meta, transaction }: BlockTransaction,
  isOurs: (address: string) => boolean,
  settings: Pick<SolanaSettings, 'native' | 'tokens'>,
): Received[] {
  if (meta === null) throw new Error(`the node has no outcome of ${transaction.signatures[0]}`);
  if (meta.err !== null) return [];
  const gained = new Map<string, { address: string; asset: string; units: bigint }>();
  const add = (address: string, asset: string, units: bigint): void => {
    const key = `${address} ${asset}`;
    gained.set(key, { address, asset, units: (gained.get(key)?.units ?? 0n) + units });
  };
  transaction.accountKeys.forEach(({ pubkey }, index) => {
    if (!isOurs(pubkey)) return;
    add(pubkey, settings.native, BigInt(meta.postBalances[index]!) - BigInt(meta.preBalances[index]!));
  });
  const addTokens = (balances: readonly TokenBalance[] | null | undefined, sign: bigint): void => {
    for (const { owner, mint, uiTokenAmount } of balances ?? []) {
      if (owner === undefined || !isOurs(owner)) continue;
      add(owner, assetOf(settings, mint), sign * BigInt(uiTokenAmount.amount));
    }
  };
  addTokens(meta.postTokenBalances, 1n);
  addTokens(meta.preTokenBalances, -1n);
  const txHash = transaction.signatures[0]!;
  return [...gained.values()]
    .filter(({ units }) => units > 0n)
    .map((one) => ({ txHash, output: null, ...one }));
}

/**
 * What our addresses gain in a transaction in which the cold wallet loses that asset. What it loses of coins beyond that was the
 * network's: the fee, and the rent of new accounts.
 */
export function refillsIn(
  transaction: BlockTransaction,
  isOurs: (address: string) => boolean,
  settings: Pick<SolanaSettings, 'native' | 'tokens' | 'coldAddress'>,
): RefillSeen[] {
  const { coldAddress: cold, native } = settings;
  const keys = transaction.transaction.accountKeys.map(({ pubkey }) => pubkey);
  if (cold === undefined || !keys.includes(cold)) return [];
  const gains = receivedIn(transaction, (address) => address !== cold && isOurs(address), settings);
  if (gains.length === 0) return [];
  const { preBalances, postBalances } = transaction.meta!;
  const place = keys.indexOf(cold);
  const lost = BigInt(preBalances[place]!) - BigInt(postBalances[place]!);
  const coins = gains.filter(({ asset }) => asset === native).reduce((sum, { units }) => sum + units, 0n);
  // Somebody else may pay for a transaction that only names the cold wallet.
  if (lost <= 0n) return [];
  const feeUnits = lost > coins ? lost - coins : 0n;
  return gains.map(({ txHash, address, asset, units }, index) => ({
    txHash,
    place: `${address} ${asset}`,
    address,
    asset,
    units,
    fee: { units: index === 0 ? feeUnits : 0n },
  }));
}

async function skipped(node: Node, slot: number, signal: AbortSignal): Promise<Block> {
  const missing = new Error(`${node.name} does not have the block of slot ${slot}`);
  const range = [slot, 1, { commitment: 'finalized' }];
  const [next] = await node.call<readonly number[]>('getBlocksWithLimit', range, signal);
  if (next === undefined || next <= slot) throw missing;
  const after = await readBlock(node, next, 'none', signal);
  if (after === undefined || after.parentSlot >= slot) throw missing;
  const { previousBlockhash: hash, blockTime } = after;
  return { height: slot, hash, parentHash: hash, timeMs: (blockTime ?? 0) * 1_000, received: [], spent: [] };
}

export function block(
  { nodes, settings }: Chain,
  height: number,
  isOurs: (address: string) => boolean,
  signal: AbortSignal,
): Promise<Block> {
  return nodes.any(async (node): Promise<Block> => {
    const raw = await readBlock(node, height, 'accounts', signal);
    if (raw === undefined) return skipped(node, height, signal);
    return {
      height,
      hash: raw.blockhash,
      parentHash: raw.previousBlockhash,
      timeMs: (raw.blockTime ?? 0) * 1_000,
      received: (raw.transactions ?? []).flatMap((one) => receivedIn(one, isOurs, settings)),
      refills: (raw.transactions ?? []).flatMap((one) => refillsIn(one, isOurs, settings)),
      spent: [],
    };
  }, signal);
}

/** The newest final block. Its hash is read once for each slot: while no block comes, a look costs one call. */
export function createHead({ nodes }: Chain): (signal: AbortSignal) => Promise<BlockId> {
  let last: BlockId | undefined;
  return (signal) =>
    nodes.any(async (node) => {
      const height = await readSlot(node, 'finalized', signal);
      if (last?.height === height) return last;
      const raw = await readBlock(node, height, 'none', signal);
      if (raw === undefined) throw new Error(`${node.name} does not have its newest block`);
      last = { height, hash: raw.blockhash };
      return last;
    }, signal);
}

/** Before deposits are credited: as many nodes as must agree show the same block, with at least these deposits in it. */
export async function confirm(
  { nodes, settings }: Chain,
  { height, hash }: BlockId,
  received: readonly Received[],
  signal: AbortSignal,
): Promise<void> {
  const addresses = new Set(received.map(({ address }) => address));
  const keyOf = ({ txHash, address, asset, units }: Received): string =>
    [txHash, address, asset, units].join(' ');
  const check = nodes.several(async (node) => {
    const raw = await readBlock(node, height, 'accounts', signal);
    const found = (raw?.transactions ?? []).flatMap((one) =>
      receivedIn(one, (address) => addresses.has(address), settings),
    );
    const keys = new Set(found.map(keyOf));
    if (raw?.blockhash !== hash || !received.every((one) => keys.has(keyOf(one)))) {
      throw new Error(`${node.name} shows other deposits in slot ${height}`);
    }
  }, signal);
  await check.catch((error: unknown) => {
    signal.throwIfAborted();
    throw new ChainWait('nodes-disagree', reasonOf(error));
  });
}

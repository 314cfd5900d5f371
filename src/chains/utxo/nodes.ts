import { UTXO_LIMITS } from '../../limits-utxo.ts';
import { type RawBlock, readBlock } from './block.ts';
import type { Chain } from './chain.ts';
import { createRpc, type NodeSettings, NodeUnavailable, type Rpc, RpcError } from './rpc.ts';

/**
 * Several nodes of one chain. Everything that decides about money is asked of all nodes that have got so far; if two of them
 * have different blocks at a height, nothing is decided until they agree. All else is asked of one, and of the next if it
 * does not answer.
 */

/** The nodes have different blocks at the same height. */
export class NodesDisagree extends Error {}

export type Tip = {
  readonly rpc: Rpc;
  readonly height: number;
  readonly hash: string;
  readonly isSyncing: boolean;
};

/** What the nodes answered at one moment. */
export type View = {
  /** Those that are synchronised, the highest first. */
  readonly tips: readonly [Tip, ...Tip[]];
  /** That as many nodes have reached as must agree: one node alone cannot pretend that time has passed. */
  readonly height: number;
};

export type Nodes = {
  readonly list: readonly Rpc[];
  /** Throws NodeUnavailable if too few nodes can be used. */
  view(signal: AbortSignal): Promise<View>;
  /** The block at a height of the best chain. Throws NodesDisagree. */
  agreedHash(view: View, height: number, signal: AbortSignal): Promise<string>;
  /** Asks one node after the other until one answers. */
  ask(
    view: View,
    method: string,
    params: readonly unknown[],
    signal: AbortSignal,
    timeoutMs?: number,
  ): Promise<unknown>;
  block(view: View, hash: string, signal: AbortSignal): Promise<RawBlock>;
  tipOf(rpc: Rpc, signal: AbortSignal): Promise<Tip>;
};

type ChainInfo = {
  readonly blocks: number;
  readonly bestblockhash: string;
  readonly initialblockdownload?: boolean;
};

/** Nodes that do not answer, cannot, or contradict each other: a reason to wait, whatever the question. */
export const isTransient = (error: unknown): boolean =>
  error instanceof NodesDisagree || error instanceof NodeUnavailable || error instanceof RpcError;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Throws if the node is on another chain. Bitcoin and Bitcoin Cash differ only from a later block on. */
async function identify(chain: Chain, rpc: Rpc, height: number, signal: AbortSignal): Promise<void> {
  const hashAt = async (at: number): Promise<unknown> =>
    (await rpc.call('getblockhash', [at], signal)).result;
  const first = await hashAt(0);
  if (!chain.genesis.includes(first as string))
    throw new NodeUnavailable(
      `the node is not on ${chain.network} (${chain.name}): its first block is ${String(first)}`,
    );
  const { marker } = chain;
  if (marker !== undefined && height >= marker.height && (await hashAt(marker.height)) !== marker.hash)
    throw new NodeUnavailable(
      `the node is not on ${chain.network}: its block ${marker.height} is another one`,
    );
}

/** A node that returns something else than the block is as good as none. */
async function blockFrom(rpc: Rpc, hash: string, signal: AbortSignal): Promise<RawBlock> {
  const { result } = await rpc.call('getblock', [hash, 0], signal);
  try {
    return await readBlock(String(result), hash);
  } catch (error) {
    throw new NodeUnavailable(messageOf(error), { cause: error });
  }
}

export function createNodes(chain: Chain, settings: readonly NodeSettings[], agreementMin: number): Nodes {
  const list = settings.map(createRpc);
  /** Until when a node that failed is asked last. */
  const rest = new Map<Rpc, number>();
  /** A node that was unavailable may be another one afterwards. */
  const identified = new Set<Rpc>();

  async function tracked<Value>(rpc: Rpc, call: () => Promise<Value>): Promise<Value> {
    try {
      const value = await call();
      rest.delete(rpc);
      return value;
    } catch (error) {
      if (error instanceof NodeUnavailable) {
        rest.set(rpc, performance.now() + UTXO_LIMITS.restMs);
        identified.delete(rpc);
      }
      throw error;
    }
  }

  const tipOf = (rpc: Rpc, signal: AbortSignal): Promise<Tip> =>
    tracked(rpc, async () => {
      const { result } = await rpc.call('getblockchaininfo', [], signal);
      const { blocks: height, bestblockhash: hash, initialblockdownload } = result as ChainInfo;
      if (!identified.has(rpc)) await identify(chain, rpc, height, signal);
      identified.add(rpc);
      return { rpc, height, hash, isSyncing: initialblockdownload === true && chain.name !== 'regtest' };
    });

  async function view(signal: AbortSignal): Promise<View> {
    const awake = list.filter((rpc) => (rest.get(rpc) ?? 0) <= performance.now());
    const asked = awake.length >= agreementMin ? awake : list;
    const answers = await Promise.allSettled(asked.map((rpc) => tipOf(rpc, signal)));
    signal.throwIfAborted();
    const reasons = answers.flatMap((one, index) =>
      one.status === 'rejected' ? [`${asked[index]!.name}: ${messageOf(one.reason)}`] : [],
    );
    const found = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    for (const { rpc, isSyncing } of found) if (isSyncing) reasons.push(`${rpc.name}: still synchronising`);
    const [best, ...others] = found.filter(({ isSyncing }) => !isSyncing).sort((a, b) => b.height - a.height);
    const lowest = [best, ...others][agreementMin - 1];
    if (best === undefined || lowest === undefined)
      throw new NodeUnavailable(
        `${agreementMin} of ${list.length} nodes of ${chain.network} must be usable (${reasons.join('; ')})`,
      );
    return { tips: [best, ...others], height: lowest.height };
  }

  async function agreedHash({ tips }: View, height: number, signal: AbortSignal): Promise<string> {
    const having = tips.filter((tip) => tip.height >= height);
    if (having.length < agreementMin)
      throw new NodeUnavailable(`too few nodes of ${chain.network} have block ${height}`);
    const hashes = await Promise.all(
      having.map(async ({ rpc }) => {
        const { result } = await tracked(rpc, () => rpc.call('getblockhash', [height], signal));
        return result as string;
      }),
    );
    const names = having.map(({ rpc }, index) => `${rpc.name} has ${hashes[index]}`);
    if (new Set(hashes).size > 1)
      throw new NodesDisagree(
        `nodes disagree about block ${height} of ${chain.network}: ${names.join(', ')}`,
      );
    return hashes[0]!;
  }

  async function ask(
    { tips }: View,
    method: string,
    params: readonly unknown[],
    signal: AbortSignal,
    timeoutMs?: number,
  ) {
    let last: unknown;
    for (const { rpc } of tips)
      try {
        return (await tracked(rpc, () => rpc.call(method, params, signal, timeoutMs))).result;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof RpcError) throw error;
        last = error;
      }
    throw last;
  }

  return {
    list,
    view,
    agreedHash,
    ask,
    tipOf,
    async block({ tips }, hash, signal) {
      const reasons: string[] = [];
      for (const { rpc } of tips)
        try {
          return await tracked(rpc, () => blockFrom(rpc, hash, signal));
        } catch (error) {
          signal.throwIfAborted();
          reasons.push(`${rpc.name}: ${messageOf(error)}`);
        }
      throw new NodeUnavailable(`no node of ${chain.network} has block ${hash} (${reasons.join('; ')})`);
    },
  };
}

import { NodeUnreachable, type Rpc } from './rpc.ts';

/** What one node says about the chain at one moment. */
export type NodeView = {
  readonly rpc: Rpc;
  readonly head: Header;
  /** The last block that is final by the policy, as this node sees it. */
  readonly finalHeight: number;
};

export type Header = {
  readonly height: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly timeMs: number;
  readonly baseFee: bigint;
};

export type RawHeader = {
  readonly number: string;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestamp: string;
  readonly baseFeePerGas?: string;
};

export function headerOf(raw: RawHeader): Header {
  return {
    height: Number(raw.number),
    hash: raw.hash,
    parentHash: raw.parentHash,
    timeMs: Number(raw.timestamp) * 1_000,
    baseFee: BigInt(raw.baseFeePerGas ?? '0x0'),
  };
}

export const quantity = (value: number | bigint): string => `0x${value.toString(16)}`;

/** Depth and block tag: a block is final once both say so. */
export type Policy = { readonly depth: number; readonly tag: 'latest' | 'safe' | 'finalized' };

export type Nodes = {
  readonly all: readonly Rpc[];
  /** Views of the nodes that answer, the best first: those that do not lag, in the order of the configuration. */
  views(signal: AbortSignal): Promise<readonly NodeView[]>;
  /** The first answer that is not a refusal, from the best node on. */
  ask<Result>(method: string, params: readonly unknown[], signal: AbortSignal): Promise<Result>;
  /** The header at a height on the best chain of that node; null if it has none. */
  headerAt(rpc: Rpc, height: number, signal: AbortSignal): Promise<Header | null>;
};

type Options = {
  readonly policy: Policy;
  /** Blocks that a node may be behind the others before it is asked last. */
  readonly lagBlocksMax: number;
  /** How long a node that gave no answer is asked last. */
  readonly restMs: number;
  /** How long a view of the chain is used again. */
  readonly viewMs: number;
};

async function viewOf(rpc: Rpc, { depth, tag }: Policy, signal: AbortSignal): Promise<NodeView> {
  const [latest, tagged] = await Promise.all([
    rpc.call<RawHeader>('eth_getBlockByNumber', ['latest', false], signal),
    tag === 'latest' ? undefined : rpc.call<RawHeader | null>('eth_getBlockByNumber', [tag, false], signal),
  ]);
  const head = headerOf(latest);
  const byDepth = head.height - depth + 1;
  // A node that does not know the tag yet has nothing that is final but the first block, which is the same everywhere.
  const byTag = tagged === undefined ? byDepth : tagged === null ? 0 : Number(tagged.number);
  return { rpc, head, finalHeight: Math.max(0, Math.min(byDepth, byTag)) };
}

export function createNodes(all: readonly Rpc[], options: Options): Nodes {
  const restUntil = new Map<Rpc, number>();
  let kept: { readonly at: number; readonly views: readonly NodeView[] } | undefined;

  const isResting = (rpc: Rpc): boolean => (restUntil.get(rpc) ?? 0) > performance.now();
  /** Remembers which nodes answer. A refusal is an answer. */
  async function watched<Value>(rpc: Rpc, call: Promise<Value>): Promise<Value> {
    try {
      const value = await call;
      restUntil.delete(rpc);
      return value;
    } catch (error) {
      if (error instanceof NodeUnreachable) restUntil.set(rpc, performance.now() + options.restMs);
      throw error;
    }
  }

  async function views(signal: AbortSignal): Promise<readonly NodeView[]> {
    if (kept !== undefined && performance.now() - kept.at < options.viewMs) return kept.views;
    const at = performance.now();
    // A node that rests is asked too, so that it is found when it is back; but nobody waits for it.
    const awake = all.filter((rpc) => !isResting(rpc));
    const asked = awake.length === 0 ? all : awake;
    for (const rpc of all)
      if (!asked.includes(rpc)) void watched(rpc, viewOf(rpc, options.policy, signal)).catch(() => undefined);
    const settled = await Promise.allSettled(
      asked.map((rpc) => watched(rpc, viewOf(rpc, options.policy, signal))),
    );
    const found = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    if (found.length === 0) throw (settled[0] as PromiseRejectedResult).reason;
    const top = Math.max(...found.map(({ head }) => head.height));
    const lags = ({ head }: NodeView): boolean => top - head.height > options.lagBlocksMax;
    const ordered = [...found.filter((one) => !lags(one)), ...found.filter(lags)];
    kept = { at, views: ordered };
    return ordered;
  }

  return {
    all,
    views,
    async ask<Result>(method: string, params: readonly unknown[], signal: AbortSignal) {
      let last: unknown;
      for (const { rpc } of await views(signal)) {
        try {
          return await watched(rpc, rpc.call<Result>(method, params, signal));
        } catch (error) {
          signal.throwIfAborted();
          last = error;
        }
      }
      kept = undefined;
      throw last;
    },
    async headerAt(rpc, height, signal) {
      const raw = await watched(
        rpc,
        rpc.call<RawHeader | null>('eth_getBlockByNumber', [quantity(height), false], signal),
      );
      return raw === null ? null : headerOf(raw);
    },
  };
}

import { LIMITS } from '../../limits.ts';
import { connectNode, type Node, RpcError } from './rpc.ts';
import type { SolanaSettings } from './settings.ts';

/**
 * Several nodes of one cluster. Every question is asked at the first healthy node; a node that fails is asked last for a while.
 * A node is used only after it has shown the genesis hash of the configured cluster, and shows it again after an outage.
 */
export type Nodes = {
  readonly size: number;
  /** The work on one node; after an error, on the next one. Rejects if it fails on all. */
  any<Result>(work: (node: Node) => Promise<Result>, signal: AbortSignal): Promise<Result>;
  /** The results of as many nodes as must agree. Rejects if fewer can do the work. */
  several<Result>(work: (node: Node) => Promise<Result>, signal: AbortSignal): Promise<readonly Result[]>;
  /** On all nodes at once. Resolves if one of them succeeds. */
  all(work: (node: Node) => Promise<unknown>, signal: AbortSignal): Promise<void>;
  /** Every node as it is, for `ferry rails check`. */
  readonly list: readonly Node[];
};

type Health = { node: Node; failures: number; lastUntilMs: number; isVerified: boolean };

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** After how long a node that has failed so often is preferred again. */
export function nodeBackOffMs(failures: number): number {
  const { solanaNodeBackOffMs, solanaNodeBackOffMaxMs } = LIMITS;
  return Math.min(solanaNodeBackOffMs * 2 ** Math.min(failures - 1, 20), solanaNodeBackOffMaxMs);
}

const NODE_IS_UNHEALTHY = -32_005;

/** A node that refuses a question has answered. Only one that says that it is behind is avoided for that. */
function note(health: Health, error: unknown): void {
  if (error instanceof RpcError && error.code !== NODE_IS_UNHEALTHY) return;
  health.failures += 1;
  health.lastUntilMs = performance.now() + nodeBackOffMs(health.failures);
  health.isVerified = false;
}

async function verify(health: Health, genesisHash: string, signal: AbortSignal): Promise<void> {
  if (health.isVerified) return;
  const found = await health.node.call<string>('getGenesisHash', [], signal);
  if (found !== genesisHash) {
    throw new Error(
      `${health.node.name} is on another cluster: its genesis hash is ${found}, not ${genesisHash}`,
    );
  }
  health.isVerified = true;
}

export function connectNodes({
  nodes,
  genesisHash,
  nodesAgreeing,
}: Pick<SolanaSettings, 'nodes' | 'genesisHash' | 'nodesAgreeing'>): Nodes {
  const healths = nodes.map(
    (node): Health => ({ node: connectNode(node), failures: 0, lastUntilMs: 0, isVerified: false }),
  );

  async function attempt<Result>(
    health: Health,
    work: (node: Node) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const startedMs = performance.now();
    try {
      await verify(health, genesisHash, signal);
      const result = await work(health.node);
      health.failures = 0;
      health.lastUntilMs = 0;
      return result;
    } catch (error) {
      // A caller that gave up says nothing about the node, unless the node had time enough.
      const hadTime = performance.now() - startedMs >= LIMITS.solanaSlowMs;
      if (!signal.aborted || hadTime) note(health, error);
      throw error;
    }
  }

  function byHealth(): Health[] {
    const now = performance.now();
    const isResting = ({ lastUntilMs }: Health): boolean => lastUntilMs > now;
    return [...healths.filter((one) => !isResting(one)), ...healths.filter(isResting)];
  }

  async function collect<Result>(
    count: number,
    work: (node: Node) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result[]> {
    const results: Result[] = [];
    const reasons: string[] = [];
    for (const health of byHealth()) {
      if (results.length === count) break;
      signal.throwIfAborted();
      try {
        results.push(await attempt(health, work, signal));
      } catch (error) {
        reasons.push(reasonOf(error));
      }
    }
    if (results.length === count) return results;
    throw new Error(`${results.length} of ${count} nodes have answered: ${reasons.join('; ')}`);
  }

  return {
    size: nodes.length,
    any: async (work, signal) => (await collect(1, work, signal))[0]!,
    several: (work, signal) => collect(nodesAgreeing, work, signal),
    async all(work, signal) {
      const outcomes = await Promise.allSettled(healths.map((health) => attempt(health, work, signal)));
      if (outcomes.some(({ status }) => status === 'fulfilled')) return;
      const reasons = outcomes.map((one) => (one.status === 'rejected' ? reasonOf(one.reason) : ''));
      throw new Error(`no node has taken the transaction: ${reasons.join('; ')}`);
    },
    list: healths.map(({ node }) => node),
  };
}

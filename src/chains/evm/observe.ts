import type { Assignment, Observation, Version } from '../driver.ts';
import { type Effect, effectOf, feeOf, type Receipt } from './calls.ts';
import { type Nodes, type NodeView, quantity } from './nodes.ts';
import { RpcRefusal } from './rpc.ts';
import type { EvmSettings } from './settings.ts';

/**
 * What the chain says about a nonce. One node is enough to see that nothing is final yet. What ends an assignment must be said by
 * as many nodes as the configuration asks for, and contradicted by none that has the block.
 */

type Seen =
  | { readonly kind: 'unseen' }
  | { readonly kind: 'mined'; readonly receipt: Receipt; readonly height: number }
  /** The nonce is used, and by none of our versions. */
  | { readonly kind: 'foreign'; readonly isFinal: boolean };

/** How many nonces of the lane blocks up to that height have used. Asked once for each view. */
export function createNonces() {
  const kept = new WeakMap<NodeView, Map<string, Promise<bigint>>>();
  return (view: NodeView, lane: string, height: number, signal: AbortSignal): Promise<bigint> => {
    const key = `${lane} ${height}`;
    const known = kept.get(view) ?? new Map<string, Promise<bigint>>();
    kept.set(view, known);
    const count =
      known.get(key) ??
      view.rpc.call<string>('eth_getTransactionCount', [lane, quantity(height)], signal).then(BigInt);
    known.set(key, count);
    count.catch(() => known.delete(key));
    return count;
  };
}

export type Nonces = ReturnType<typeof createNonces>;

async function receiptOn(
  { rpc }: NodeView,
  hashes: readonly string[],
  signal: AbortSignal,
): Promise<Receipt | undefined> {
  for (const hash of hashes) {
    const receipt = await rpc.call<Receipt | null>('eth_getTransactionReceipt', [hash], signal);
    if (receipt !== null) return receipt;
  }
  return undefined;
}

/** Full nodes forget the state of old blocks: a refusal then means that the count is not known. */
async function isUsedAtFinality(
  nonces: Nonces,
  view: NodeView,
  lane: string,
  nonce: bigint,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await nonces(view, lane, view.finalHeight, signal)) > nonce;
  } catch (error) {
    if (error instanceof RpcRefusal) return false;
    throw error;
  }
}

async function lookOn(
  nonces: Nonces,
  view: NodeView,
  assignment: Assignment,
  hashes: readonly string[],
  signal: AbortSignal,
): Promise<Seen> {
  const { lane } = assignment;
  const nonce = BigInt(assignment.slot!);
  if ((await nonces(view, lane, view.head.height, signal)) <= nonce) return { kind: 'unseen' };
  const receipt = await receiptOn(view, hashes, signal);
  if (receipt !== undefined) return { kind: 'mined', receipt, height: Number(receipt.blockNumber) };
  return { kind: 'foreign', isFinal: await isUsedAtFinality(nonces, view, lane, nonce, signal) };
}

const sameText = (receipt: Receipt): string =>
  JSON.stringify([
    receipt.transactionHash.toLowerCase(),
    receipt.blockHash.toLowerCase(),
    BigInt(receipt.status ?? '0x1').toString(),
    feeOf(receipt).toString(),
    receipt.logs.map(({ address, topics, data }) => [address, ...topics, data].join().toLowerCase()),
  ]);

type Verdict = 'agrees' | 'contradicts' | 'cannot say';

/** What another node says about a receipt that is final on the first one. */
async function judge(nodes: Nodes, view: NodeView, receipt: Receipt, signal: AbortSignal): Promise<Verdict> {
  const height = Number(receipt.blockNumber);
  if (view.head.height < height) return 'cannot say';
  const header = await nodes.headerAt(view.rpc, height, signal);
  if (header === null) return 'cannot say';
  if (header.hash.toLowerCase() !== receipt.blockHash.toLowerCase()) return 'contradicts';
  if (view.finalHeight < height) return 'cannot say';
  const own = await receiptOn(view, [receipt.transactionHash], signal);
  return own !== undefined && sameText(own) === sameText(receipt) ? 'agrees' : 'contradicts';
}

type Parts = { readonly nodes: Nodes; readonly nonces: Nonces; readonly settings: EvmSettings };

const undecided = (reason: string): Observation => ({ kind: 'undecided', reason });

/** An observation of the first node counts only if enough others say the same. A node that does not answer says nothing. */
async function agreed(
  settings: EvmSettings,
  views: readonly NodeView[],
  what: string,
  judgeOn: (view: NodeView) => Promise<Verdict>,
): Promise<Observation | undefined> {
  const verdicts = await Promise.all(views.map((view) => judgeOn(view).catch((): Verdict => 'cannot say')));
  const against = verdicts.indexOf('contradicts');
  if (against >= 0)
    return undecided(`${views[against]!.rpc.name} disagrees with ${views[0]!.rpc.name} about ${what}`);
  const agreeing = verdicts.filter((one) => one === 'agrees').length;
  if (agreeing >= settings.nodesAgreeing) return undefined;
  return undecided(`${agreeing} of ${settings.nodesAgreeing} nodes confirm ${what}`);
}

function ended(receipt: Receipt, effect: Exclude<Effect, { kind: 'strange' }>): Observation {
  return {
    kind: 'final',
    succeeded: effect.kind === 'paid',
    feeUnits: feeOf(receipt),
    txHash: receipt.transactionHash,
    txIndex: String(Number(receipt.transactionIndex)),
    height: Number(receipt.blockNumber),
    ...(effect.kind === 'not-paid' && { reason: effect.reason }),
  };
}

export async function observe(
  parts: Parts,
  assignment: Assignment,
  versions: readonly Version[],
  signal: AbortSignal,
): Promise<Observation> {
  const { nodes, nonces, settings } = parts;
  const views = await nodes.views(signal);
  const [first] = views;
  const hashes = versions.map(({ hash }) => hash).toReversed();
  const seen = await lookOn(nonces, first!, assignment, hashes, signal);
  if (seen.kind === 'unseen') return seen;
  if (seen.kind === 'foreign') {
    const what = `nonce ${assignment.slot}: it is used by a transaction that is none of ours`;
    if (!seen.isFinal) return undecided(what);
    const refusal = await agreed(settings, views, what, async (view) => {
      const own = await lookOn(nonces, view, assignment, hashes, signal);
      if (own.kind === 'mined') return 'contradicts';
      return own.kind === 'foreign' && own.isFinal ? 'agrees' : 'cannot say';
    });
    return refusal ?? { kind: 'superseded', by: undefined };
  }
  const { receipt, height } = seen;
  const onChain = { txHash: receipt.transactionHash, txIndex: String(Number(receipt.transactionIndex)) };
  if (first!.finalHeight < height) {
    const need = settings.policy.depth;
    const have = Math.max(1, Math.min(first!.head.height - height + 1, need));
    return { kind: 'mined', have, need, ...onChain };
  }
  const refusal = await agreed(settings, views, `transaction ${receipt.transactionHash}`, (view) =>
    judge(nodes, view, receipt, signal),
  );
  if (refusal !== undefined) return refusal;
  const effect = effectOf(assignment, receipt);
  return effect.kind === 'strange' ? undecided(effect.reason) : ended(receipt, effect);
}

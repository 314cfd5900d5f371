import { UTXO_LIMITS } from '../../limits-utxo.ts';
import type { Assignment, BlockId, Observation, Version } from '../driver.ts';
import { createIndexCache, createRecent, type IndexedBlock, indexBlock, spendersIn } from './block-index.ts';
import { isTransient, messageOf, type Nodes, NodesDisagree, type View } from './nodes.ts';
import { outpoint } from './transaction.ts';
import { readDetails } from './versions.ts';

/**
 * Whether a transaction of an assignment is in the chain: block by block from the one at which the assignment was made, what
 * has spent one of its coins. That needs no index of transactions in the node, finds all versions and foreign transactions
 * alike, and reads each block once for all assignments.
 */

/** A transaction that has spent a coin of the assignment, or one that it builds on. */
type Hit = { readonly txHash: string; readonly height: number };

type Search = { readonly through: BlockId; readonly hits: readonly Hit[] };

type Watched = ReturnType<typeof watchedOf>;

function watchedOf(assignment: Assignment) {
  const { ancestors, fromHeight, fromHash } = readDetails(assignment.details);
  const coins = [...assignment.coins, ...ancestors.map(({ coin }) => coin)];
  return {
    coins,
    outpoints: new Set(coins.map(outpoint)),
    ancestors: new Set(ancestors.map(({ hash }) => hash)),
    fromHeight,
    fromHash,
  };
}

export function createSearch(nodes: Nodes, need: number) {
  const indexes = createIndexCache();
  const searches = createRecent<Search>(UTXO_LIMITS.searchesMax);

  async function indexOf(view: View, hash: string, signal: AbortSignal): Promise<IndexedBlock> {
    const known = indexes.get(hash);
    if (known !== undefined) return known;
    const index = indexBlock(await nodes.block(view, hash, signal));
    indexes.set(hash, index);
    return index;
  }

  /** Below this block, nothing has changed since the assignment was made. */
  async function startOf(
    { fromHeight, fromHash }: Watched,
    view: View,
    signal: AbortSignal,
  ): Promise<Search> {
    const isSame =
      fromHeight <= view.height && (await nodes.agreedHash(view, fromHeight, signal)) === fromHash;
    const height = isSame
      ? fromHeight
      : Math.max(0, Math.min(fromHeight, view.height) - UTXO_LIMITS.reorganisationMax);
    return { through: { height, hash: await nodes.agreedHash(view, height, signal) }, hits: [] };
  }

  async function isInChain(view: View, { height, hash }: BlockId, signal: AbortSignal): Promise<boolean> {
    return height <= view.height && (await nodes.agreedHash(view, height, signal)) === hash;
  }

  async function hitsIn(
    watched: Watched,
    view: View,
    { height, hash }: BlockId,
    signal: AbortSignal,
  ): Promise<Hit[]> {
    const index = await indexOf(view, hash, signal);
    if (!watched.coins.some((coin) => index.maySpend(coin))) return [];
    const spenders = spendersIn(await nodes.block(view, hash, signal), watched.outpoints);
    return spenders.filter((txHash) => !watched.ancestors.has(txHash)).map((txHash) => ({ txHash, height }));
  }

  async function search(assignment: Assignment, view: View, signal: AbortSignal): Promise<readonly Hit[]> {
    const watched = watchedOf(assignment);
    const before = searches.get(assignment.id);
    const isValid = before !== undefined && (await isInChain(view, before.through, signal));
    let { through, hits } = isValid ? before : await startOf(watched, view, signal);
    while (through.height < view.height) {
      const height = through.height + 1;
      const hash = await nodes.agreedHash(view, height, signal);
      const { parentHash } = await indexOf(view, hash, signal);
      if (parentHash !== through.hash)
        throw new NodesDisagree(`the chain changed at block ${height} while it was read`);
      hits = [...hits, ...(await hitsIn(watched, view, { height, hash }, signal))];
      through = { height, hash };
      searches.set(assignment.id, { through, hits });
    }
    return hits;
  }

  /** A coin is spent once in a chain, so if one of the versions is there, no other transaction can be. */
  function judge(
    { payments }: Assignment,
    versions: readonly Version[],
    hits: readonly Hit[],
    height: number,
  ): Observation {
    const mined = hits.find(({ txHash }) => versions.some(({ hash }) => hash === txHash));
    const hit = mined ?? hits[0];
    if (hit === undefined) return { kind: 'unseen' };
    const have = Math.min(need, height - hit.height + 1);
    if (mined === undefined) {
      if (have >= need) return { kind: 'superseded', by: hit.txHash };
      const reason = `another transaction (${hit.txHash}) has spent a coin of the assignment, ${have} of ${need} confirmations`;
      return { kind: 'undecided', reason };
    }
    const { feeUnitsMax: feeUnits } = versions.find(({ hash }) => hash === mined.txHash)!;
    const { txHash } = mined;
    const txIndexes = payments.map((_, index) => String(index));
    return have >= need
      ? { kind: 'final', succeeded: true, feeUnits, txHash, txIndexes, height: mined.height }
      : { kind: 'mined', have, need, txHash, txIndexes };
  }

  return {
    async observe(
      assignment: Assignment,
      versions: readonly Version[],
      signal: AbortSignal,
    ): Promise<Observation> {
      try {
        const view = await nodes.view(signal);
        return judge(assignment, versions, await search(assignment, view, signal), view.height);
      } catch (error) {
        if (isTransient(error)) return { kind: 'undecided', reason: messageOf(error) };
        throw error;
      }
    },
  };
}

import type { Draft, LaneState } from '../driver.ts';
import { type Chain, writeDetails } from './chain.ts';
import { readPool } from './pool.ts';
import type { Node } from './rpc.ts';
import { formatSlot } from './slot.ts';
import { readSignatures, readTransaction } from './transactions.ts';

/**
 * After a restore from a backup, the database lacks what was signed since. Two steps make sure that nothing is paid twice:
 *
 * 1. `cancellations` uses up every nonce of the lane. Then no lost transaction can be executed any more.
 * 2. `paidBy` finds the payments that were executed, by the memos on chain.
 */

/** What a lane has paid, read from the chain alone. */
export type PaidOnChain = {
  /** The key of each payment that was made, with the transaction that made it. */
  readonly paid: ReadonlyMap<string, string>;
  /** Whether the history of the node goes back far enough. If not, more may have been paid. */
  readonly isComplete: boolean;
};

const MEMO = /^\[(\d+)\] /;

/** Nodes join the memos of a transaction as `[length] text; [length] text`, with lengths in bytes. */
export function splitMemos(joined: string): string[] {
  const memos: string[] = [];
  let rest = Buffer.from(joined, 'utf8');
  while (rest.length > 0) {
    const match = MEMO.exec(rest.subarray(0, 16).toString('latin1'));
    if (match === null) return memos;
    const start = match[0].length;
    const end = start + Number(match[1]);
    memos.push(rest.subarray(start, end).toString('utf8'));
    rest = rest.subarray(end + '; '.length);
  }
  return memos;
}

/** Anybody can name the lane's address beside any memo; only the lane itself can pay the fee. */
async function isFrom(node: Node, lane: string, signature: string, signal: AbortSignal): Promise<boolean> {
  const transaction = await readTransaction(node, signature, signal);
  return transaction?.transaction.message.accountKeys[0] === lane;
}

export function paidBy(
  { nodes }: Chain,
  lane: string,
  wanted: { readonly keys: ReadonlySet<string>; readonly sinceSlot: number },
  signal: AbortSignal,
): Promise<PaidOnChain> {
  return nodes.any(async (node) => {
    const { found, isComplete } = await readSignatures(node, lane, wanted.sinceSlot, signal);
    const paid = new Map<string, string>();
    for (const { signature, slot, err, memo } of found) {
      if (slot <= wanted.sinceSlot || err !== null || memo === null) continue;
      const keys = splitMemos(memo).filter((key) => wanted.keys.has(key));
      if (keys.length === 0 || !(await isFrom(node, lane, signature, signal))) continue;
      for (const key of keys) paid.set(key, signature);
    }
    return { paid, isComplete };
  }, signal);
}

/** A cancellation for each nonce of the lane that no open assignment uses. */
export function cancellations(
  chain: Chain,
  state: LaneState,
  signal: AbortSignal,
): Promise<readonly Draft[]> {
  return chain.nodes.any(async (node) => {
    const { slot, value } = await readPool(chain, node, state, signal);
    const details = {
      seenAt: slot,
      computeBudget: 0,
      rentUnits: 0n,
      creates: new Set<number>(),
      direct: new Set<number>(),
    };
    return value.free.map(
      (nonce): Draft => ({
        purpose: 'CANCELLATION',
        slot: formatSlot(nonce),
        coins: [],
        payments: [],
        details: writeDetails(details),
      }),
    );
  }, signal);
}

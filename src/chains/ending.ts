import { workerActor } from '../kernel/actor.ts';
import { type Command, type Posting, read, type SystemAccountName, write } from '../ledger/command.ts';
import type { Assignment, Observation } from './driver.ts';
import { type AssignmentEnd, assignmentEnds } from './ending-store.ts';

/** What the chain has decided about an assignment for good. */
export type Ending = Extract<Observation, { kind: 'final' | 'superseded' }>;

type Facts = {
  readonly network: string;
  /** As people call it. */
  readonly networkName: string;
  readonly feeAsset: string;
  readonly confirmations: number;
};

function endOf({ id }: Assignment, ending: Ending, { networkName, confirmations }: Facts): AssignmentEnd {
  if (ending.kind === 'superseded') return { id, state: 'SUPERSEDED' };
  const { succeeded, feeUnits, height, reason, txHash, txIndex, txIndexes } = ending;
  return {
    id,
    state: succeeded ? 'SUCCEEDED' : 'FAILED',
    detail: succeeded
      ? `${confirmations} confirmations on ${networkName}.`
      : (reason ?? `The transaction failed on ${networkName}.`),
    feeUnits,
    height,
    ...(txHash !== undefined && { txHash }),
    ...(txIndex !== undefined && { txIndex }),
    ...(txIndexes !== undefined && { txIndexes }),
  };
}

/** What the network was paid, and what has gone to the cold wallet. Sweeps move nothing between accounts: both ends are ours. */
function postingsOf(
  { purpose, payments }: Assignment,
  { state, feeUnits = 0n }: AssignmentEnd,
  { network, feeAsset }: Facts,
): Posting[] {
  const rail = network.toLowerCase();
  const to: SystemAccountName = `clearing:${rail}`;
  const moved = purpose === 'TO_COLD' && state === 'SUCCEEDED' ? payments : [];
  const fee: Posting = {
    asset: feeAsset,
    units: feeUnits,
    from: { account: `network-fees:${rail}` },
    to: { account: to },
  };
  return [
    ...(feeUnits === 0n ? [] : [fee]),
    ...moved.map(
      ({ asset, units }): Posting => ({
        asset,
        units,
        from: { account: `cold:${rail}` },
        to: { account: to },
      }),
    ),
  ];
}

/**
 * Ends the assignment and its payments, and posts what the network was paid: in one transaction, once. A second node that has
 * observed the same finds that the assignment has ended.
 */
export function endCommand(
  assignment: Assignment,
  ending: Ending,
  facts: Facts & { readonly versions: number },
): Command<'ended' | 'known'> {
  const end = endOf(assignment, ending, facts);
  const { id } = end;
  return {
    actor: workerActor(`chain:${facts.network.toLowerCase()}`),
    balances: [],
    reads: [read(assignmentEnds, id)],
    decide(view) {
      const known = view.row(assignmentEnds, id);
      // Another version was recovered from the log of the signer meanwhile: perhaps that one was executed.
      const isOutdated = ending.kind === 'superseded' && known?.versions !== facts.versions;
      if (known?.state !== 'ASSIGNED' || isOutdated)
        return { accepted: true, causeId: id, postings: [], writes: [], answer: 'known' };
      return {
        accepted: true,
        causeId: id,
        postings: postingsOf(assignment, end, facts),
        writes: [write(assignmentEnds, id, { ...end, endedAtNs: view.recordedAt })],
        answer: 'ended',
      };
    },
  };
}

import { workerActor } from '../kernel/actor.ts';
import { type Command, read, type SystemAccountName, write } from '../ledger/command.ts';
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
  const { succeeded, feeUnits, reason, txHash, txIndex, txIndexes } = ending;
  return {
    id,
    state: succeeded ? 'SUCCEEDED' : 'FAILED',
    detail: succeeded
      ? `${confirmations} confirmations on ${networkName}.`
      : (reason ?? `The transaction failed on ${networkName}.`),
    feeUnits,
    ...(txHash !== undefined && { txHash }),
    ...(txIndex !== undefined && { txIndex }),
    ...(txIndexes !== undefined && { txIndexes }),
  };
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
  const rail = facts.network.toLowerCase();
  const from: SystemAccountName = `network-fees:${rail}`;
  const to: SystemAccountName = `clearing:${rail}`;
  const end = endOf(assignment, ending, facts);
  const { id, feeUnits = 0n } = end;
  return {
    actor: workerActor(`chain:${rail}`),
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
        postings:
          feeUnits === 0n
            ? []
            : [{ asset: facts.feeAsset, units: feeUnits, from: { account: from }, to: { account: to } }],
        writes: [write(assignmentEnds, id, { ...end, endedAtNs: view.recordedAt })],
        answer: 'ended',
      };
    },
  };
}

import { type Actor, actorText } from '../kernel/actor.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import { type Command, read, refuse, write } from '../ledger/command.ts';
import { approvalsOf, firstWait, type Hold, isRequester } from '../policies/holds.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { type EndingTables, endNow } from './outcome.ts';
import type { Work } from './states.ts';
import { queued, REFUSED } from './words.ts';

/** Withdrawals that a policy holds until somebody releases or refuses them. */

export type HeldDecision = {
  /** 'operator', or the id of the customer whose policy holds it. */
  readonly owner: string;
  readonly actor: Actor;
  readonly reason: string;
};

const states = (id: string, status: string, sentence: string): Problem =>
  new Problem('invalid-state', `Withdrawal ${id} ${sentence}`, { status });

/** Why nobody can decide on it; otherwise the approvals that this owner has not given. */
function approvals(
  id: string,
  transfer: Transfer | undefined,
  work: (Work & { readonly done?: boolean }) | undefined,
  owner: string,
): readonly Hold[] | Problem {
  if (transfer?.direction !== 'DEBIT' || transfer.groupId) return notFound('withdrawal', id);
  if (transfer.status !== 'PENDING') return states(id, transfer.status, `is ${transfer.status} already.`);
  if (work === undefined || work.done === true) throw new Error(`the pending withdrawal ${id} has no work`);
  const open = work.state === 'QUEUED' ? approvalsOf(work.holds, owner) : [];
  return open.length > 0 ? open : states(id, work.state, 'does not wait for your approval.');
}

/** Gives the approvals of this owner. The withdrawal goes on, unless something else holds it. */
export function releaseCommand(
  /** Only fields that never change are used. */
  { id }: Pick<Transfer, 'id'>,
  { owner, actor, reason }: HeldDecision,
  tables: EndingTables,
): Command<Transfer> {
  const by = actorText(actor);
  return {
    actor,
    balances: [],
    reads: [read(tables.transfers, id), read(tables.works, id)],
    decide(view) {
      const [transfer, work] = [view.row(tables.transfers, id), view.row(tables.works, id)];
      const open = approvals(id, transfer, work, owner);
      if (open instanceof Problem) return refuse(open);
      if (isRequester(open, actor))
        return refuse(
          new Problem('forbidden', `You requested the withdrawal ${id}: somebody else has to release it.`),
        );
      const holds = work!.holds!.map((hold) => (open.includes(hold) ? { ...hold, releasedBy: by } : hold));
      const wait = firstWait(holds, view.now);
      const next: Transfer = {
        ...transfer!,
        secondaryStatus: wait?.words ?? queued(work!.rail),
        updatedAtNs: view.recordedAt > transfer!.updatedAtNs ? view.recordedAt : transfer!.updatedAtNs + 1n,
      };
      const note = {
        transferId: id,
        kind: 'RELEASED',
        detail: reason,
        notedBy: by,
        atNs: view.recordedAt,
      } as const;
      return {
        accepted: true,
        causeId: id,
        postings: [],
        writes: [
          write(tables.works, id, { ...work!, holds, dueAtNs: wait?.dueAtNs ?? view.now }),
          write(tables.transfers, id, next),
          write(tables.notes, id, note),
        ],
        answer: next,
      };
    },
  };
}

/** Ends it as FAILED: all of its total returns. */
export function refuseCommand(
  { id, profileId, balanceAsset }: Pick<Transfer, 'id' | 'profileId' | 'balanceAsset'>,
  { owner, actor, reason }: HeldDecision,
  tables: EndingTables,
): Command<Transfer> {
  return {
    actor,
    balances: [{ profileId, asset: balanceAsset }],
    reads: [read(tables.transfers, id), read(tables.works, id)],
    decide(view) {
      const [transfer, work] = [view.row(tables.transfers, id), view.row(tables.works, id)];
      const open = approvals(id, transfer, work, owner);
      if (open instanceof Problem) return refuse(open);
      const note = { kind: 'REFUSED', detail: reason, notedBy: actorText(actor) } as const;
      const ending = { kind: 'failed', words: REFUSED, note } as const;
      const movement = endNow(transfer!, work!, ending, view.recordedAt, tables);
      return {
        accepted: true,
        causeId: id,
        postings: movement.postings,
        writes: movement.writes,
        answer: movement.transfer,
      };
    },
  };
}

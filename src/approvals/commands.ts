import type { Actor } from '../kernel/actor.ts';
import { newId } from '../kernel/id.ts';
import { type Instant, NS_PER_MS } from '../kernel/instant.ts';
import type { Quorum } from '../kernel/privileged.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import { actWrite } from '../ledger/act.ts';
import { type Command, type Decision, read, refuse, type View, write } from '../ledger/command.ts';
import { LIMITS } from '../limits.ts';
import type { Handover, Maker, PrivilegedAction, Proposal } from './action.ts';
import { type Approval, digestOf, type Refusal, refusalOf, type Vote } from './approval.ts';
import { approveProblem, claimProblem, isApproved, rejectProblem, withVote } from './rules.ts';
import { approvals } from './store.ts';

export const APPROVAL_SPACE = 'approvals';

type Action = PrivilegedAction<Proposal, unknown>;

type Accepted = Extract<Decision<Approval>, { accepted: true }>;

function accept(approval: Approval): Accepted {
  return {
    accepted: true,
    causeId: approval.id,
    postings: [],
    writes: [write(approvals, approval.id, approval)],
    answer: approval,
  };
}

/** Stores the request, unless its action would be refused now. */
export function proposeCommand(
  { customerId, actor: maker }: Maker,
  action: Action,
  asked: Proposal,
  { approvals: quorum, approvers }: Quorum,
  inner: Command<unknown>,
): Command<Approval> {
  const id = newId();
  const facts = { id, action: action.name, customerId, maker, proposal: asked };
  const { key } = inner;
  return {
    actor: maker,
    customerId,
    key: key && { ...key, space: `${APPROVAL_SPACE}:${key.space}`, resourceId: id },
    balances: inner.balances,
    reads: [...(inner.reads ?? []), read(approvals, id)],
    decide(view) {
      const tried = inner.decide(view);
      if (!tried.accepted) return refuse(tried.problem);
      return accept({
        ...facts,
        level: action.level,
        digest: digestOf(facts),
        summary: action.summary(asked),
        quorum,
        approvers: approvers ?? null,
        status: 'PENDING',
        votes: [],
        problem: null,
        result: null,
        refId: key?.refId ?? null,
        createdAtNs: view.recordedAt,
        updatedAtNs: view.recordedAt,
        expiresAtNs: view.now + BigInt(LIMITS.approvalExpiryMs) * NS_PER_MS,
        claimedAtNs: null,
      });
    },
  };
}

/** What a voter says about a request. */
export type Ballot = {
  readonly id: string;
  readonly voter: Actor;
  readonly digest: string;
  readonly reason: string | null;
};

/** Strictly later than the change before, even if clocks differ. */
const laterThan = ({ recordedAt }: View, { updatedAtNs }: Approval): Instant =>
  recordedAt > updatedAtNs ? recordedAt : updatedAtNs + 1n;

const voteOf = (
  { voter, reason }: Ballot,
  decision: Vote['decision'],
  view: View,
  approval: Approval,
): Vote => ({
  decision,
  by: voter,
  atNs: laterThan(view, approval),
  reason,
});

/** A command on a stored request. */
function ballotCommand(
  ballot: Pick<Ballot, 'id' | 'voter'>,
  also: Pick<Command<unknown>, 'key' | 'balances' | 'reads'>,
  decide: (approval: Approval, view: View) => Decision<Approval>,
): Command<Approval> {
  const { id, voter } = ballot;
  return {
    actor: voter,
    ...also,
    reads: [...(also.reads ?? []), read(approvals, id)],
    decide(view) {
      const approval = view.row(approvals, id);
      return approval === undefined ? refuse(notFound('approval', id)) : decide(approval, view);
    },
  };
}

const failed = (approval: Approval, problem: Refusal): Decision<Approval> =>
  accept({ ...approval, status: 'FAILED', problem });

/** A vote that reaches the quorum executes the action in its own transaction, decided then. */
export function approveCommand(
  ballot: Ballot,
  action: Action,
  inner: Command<unknown> | Problem,
): Command<Approval> {
  const needs =
    inner instanceof Problem
      ? { balances: [] }
      : { key: inner.key, balances: inner.balances, reads: inner.reads ?? [] };
  return ballotCommand(ballot, needs, (approval, view) => {
    const fault = approveProblem(approval, ballot.voter, ballot.digest, view.now);
    if (fault !== undefined) return refuse(fault);
    const voted = withVote(approval, voteOf(ballot, 'APPROVED', view, approval));
    // A vote that executes nothing does not use the ref_id of the action.
    if (!isApproved(voted)) return { ...accept(voted), usesKey: false };
    if (inner instanceof Problem) return { ...failed(voted, refusalOf(inner)), usesKey: false };
    const decided = inner.decide(view);
    if (!decided.accepted) return { ...failed(voted, refusalOf(decided.problem)), usesKey: false };
    const executed: Approval = { ...voted, status: 'EXECUTED', result: action.result(decided.answer) };
    return {
      ...decided,
      writes: [...decided.writes, write(approvals, approval.id, executed)],
      answer: executed,
    };
  });
}

/** The vote counts, but the ledger has refused what it would have executed. */
export function failCommand(ballot: Ballot, problem: Refusal): Command<Approval> {
  return ballotCommand(ballot, { balances: [] }, (approval, view) => {
    const fault = approveProblem(approval, ballot.voter, ballot.digest, view.now);
    if (fault !== undefined) return refuse(fault);
    const voted = withVote(approval, voteOf(ballot, 'APPROVED', view, approval));
    return isApproved(voted) ? failed(voted, problem) : accept(voted);
  });
}

/** Hands over what the execution made for the maker alone, once. */
export function claimCommand(id: string, claimer: Actor, { act }: Handover): Command<Approval> {
  const ballot = { id, voter: claimer };
  return ballotCommand(ballot, { balances: [] }, (approval, view) => {
    const fault = claimProblem(approval, claimer, view.now);
    if (fault !== undefined) return refuse(fault);
    const atNs = laterThan(view, approval);
    const accepted = accept({ ...approval, claimedAtNs: atNs, updatedAtNs: atNs });
    return { ...accepted, writes: [...accepted.writes, actWrite(act)] };
  });
}

export function rejectCommand(ballot: Ballot): Command<Approval> {
  return ballotCommand(ballot, { balances: [] }, (approval, view) => {
    const fault = rejectProblem(approval, ballot.voter, ballot.digest, view.now);
    if (fault !== undefined) return refuse(fault);
    const voted = withVote(approval, voteOf(ballot, 'REJECTED', view, approval));
    return accept({ ...voted, status: 'REJECTED' });
  });
}

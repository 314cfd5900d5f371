import { type Actor, isSameHand } from '../kernel/actor.ts';
import { formatInstant, type Instant, NS_PER_MS } from '../kernel/instant.ts';
import { Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import { type Approval, digestOf, statusAt, type Vote } from './approval.ts';

/** Problems of a vote name the request, so that they can be told from those of the action that it executes. */
const stateProblem = (id: string, status: string, detail: string): Problem =>
  new Problem('invalid-state', detail, { approval_id: id, status });

const forbidden = (id: string, detail: string): Problem =>
  new Problem('forbidden', detail, { approval_id: id });

function closedProblem(approval: Approval, now: Instant): Problem | undefined {
  const { id, expiresAtNs } = approval;
  const status = statusAt(approval, now);
  if (status === 'PENDING') return undefined;
  const detail =
    status === 'EXPIRED'
      ? `The request ${id} expired at ${formatInstant(expiresAtNs)}. Nothing was executed; propose it again.`
      : `The request ${id} is ${status} already.`;
  return stateProblem(id, status, detail);
}

/** The vote must be about what is stored, and what is stored must be what was proposed. */
function digestProblem(approval: Approval, seen: string): Problem | undefined {
  const { id, digest } = approval;
  if (digest === seen && digestOf(approval) === digest) return undefined;
  return new Problem(
    'digest-mismatch',
    `The request ${id} is not the one that you have seen: its digest differs. Nothing was executed; read it again.`,
    { approval_id: id, digest, found: seen },
  );
}

/** Why this actor may not approve the request now; undefined if it may. */
export function approveProblem(
  approval: Approval,
  voter: Actor,
  seen: string,
  now: Instant,
): Problem | undefined {
  const { id, maker, approvers, votes } = approval;
  const closed = closedProblem(approval, now) ?? digestProblem(approval, seen);
  if (closed !== undefined) return closed;
  if (isSameHand(maker, voter)) {
    const isMaker = maker.kind === voter.kind && maker.id === voter.id;
    return forbidden(
      id,
      isMaker
        ? `You made the request ${id}: somebody else has to approve it.`
        : `The request ${id} was made by the same person: somebody else has to approve it.`,
    );
  }
  if (approvers !== null && !approvers.includes(voter.id))
    return forbidden(id, `You are not one of the approvers of the request ${id}.`);
  if (votes.some(({ by }) => isSameHand(by, voter)))
    return stateProblem(id, 'PENDING', `You, or the same person, have approved the request ${id} already.`);
  return undefined;
}

/** Why this actor may not reject the request now. The maker may: that withdraws it. */
export function rejectProblem(
  approval: Approval,
  voter: Actor,
  seen: string,
  now: Instant,
): Problem | undefined {
  const closed = closedProblem(approval, now) ?? digestProblem(approval, seen);
  if (closed !== undefined) return closed;
  const { id, maker, approvers } = approval;
  if (approvers !== null && !approvers.includes(voter.id) && !isSameHand(maker, voter))
    return forbidden(id, `You are not one of the approvers of the request ${id}.`);
  return undefined;
}

/** What is stored is not what was proposed. */
export const changedProblem = (id: string): Problem =>
  new Problem('digest-mismatch', `The request ${id} was changed after it was proposed.`, { approval_id: id });

/** Why this actor cannot take what the request made for its maker alone. */
export function claimProblem(approval: Approval, claimer: Actor, now: Instant): Problem | undefined {
  const { id, maker, claimedAtNs, updatedAtNs } = approval;
  if (maker.kind !== claimer.kind || maker.id !== claimer.id)
    return forbidden(id, `Only the maker of the request ${id} gets what it made.`);
  // A secret of another client than the approved one would be worth the effort of changing what is stored.
  if (digestOf(approval) !== approval.digest) return changedProblem(id);
  const status = statusAt(approval, now);
  if (status !== 'EXECUTED') return stateProblem(id, status, `The request ${id} is ${status}, not EXECUTED.`);
  if (claimedAtNs !== null)
    return stateProblem(
      id,
      'CLAIMED',
      `It was handed over at ${formatInstant(claimedAtNs)}. Propose a new one.`,
    );
  if (updatedAtNs + BigInt(LIMITS.claimMs) * NS_PER_MS <= now)
    return stateProblem(id, 'EXPIRED', `The request ${id} was executed too long ago. Propose a new one.`);
  return undefined;
}

export const nothingToClaim = (id: string): Problem =>
  stateProblem(id, 'EXECUTED', `The request ${id} made no secret and no link.`);

export function withVote(approval: Approval, vote: Vote): Approval {
  return { ...approval, votes: [...approval.votes, vote], updatedAtNs: vote.atNs };
}

export function isApproved({ votes, quorum }: Approval): boolean {
  return votes.filter(({ decision }) => decision === 'APPROVED').length >= quorum;
}

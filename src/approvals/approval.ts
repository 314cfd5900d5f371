import { hash } from 'node:crypto';
import { type Actor, presentActor } from '../kernel/actor.ts';
import { canonicalText } from '../kernel/canonical.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import type { PrivilegedName } from '../kernel/privileged.ts';
import { PROBLEMS, type Problem } from '../kernel/problem.ts';

/** Operators approve requests of operators; customers approve their own. */
export type Level = 'OPERATOR' | 'CUSTOMER';

export type Vote = {
  readonly decision: 'APPROVED' | 'REJECTED';
  readonly by: Actor;
  readonly atNs: Instant;
  readonly reason: string | null;
};

/** What the execution made. */
export type Result = { readonly type: string; readonly id: string };

/** Why the execution was refused. */
export type Refusal = { readonly slug: string; readonly title: string; readonly detail: string };

/**
 * A privileged action that waits for others.
 *
 *             quorum reached, executed
 *   PENDING ─────────────────────────────> EXECUTED
 *      │  │   quorum reached, refused
 *      │  └──────────────────────────────> FAILED
 *      ├───── rejected ──────────────────> REJECTED
 *      └───── not in time ───────────────> (EXPIRED: shown, not stored)
 */
export type Approval = {
  readonly id: string;
  /** Of the maker. */
  readonly customerId: string;
  readonly level: Level;
  readonly action: PrivilegedName;
  readonly proposal: Readonly<Record<string, unknown>>;
  readonly digest: string;
  readonly summary: string;
  readonly maker: Actor;
  readonly quorum: number;
  readonly approvers: readonly string[] | null;
  readonly status: 'PENDING' | 'EXECUTED' | 'FAILED' | 'REJECTED';
  readonly votes: readonly Vote[];
  readonly problem: Refusal | null;
  readonly result: Result | null;
  readonly refId: string | null;
  readonly createdAtNs: Instant;
  readonly updatedAtNs: Instant;
  readonly expiresAtNs: Instant;
  /** When its maker took what was made for the maker alone. */
  readonly claimedAtNs: Instant | null;
};

/** Of exactly what is proposed: a vote names the digest that the voter has seen. */
export function digestOf({
  id,
  action,
  customerId,
  maker,
  proposal,
}: Pick<Approval, 'id' | 'action' | 'customerId' | 'maker' | 'proposal'>): string {
  const by = { kind: maker.kind, id: maker.id };
  return hash('sha256', canonicalText({ id, action, customerId, by, proposal }), 'base64url');
}

export const refusalOf = ({ slug, message }: Problem): Refusal => ({
  slug,
  title: PROBLEMS[slug].title,
  detail: message,
});

export function statusAt({ status, expiresAtNs }: Approval, now: Instant): Approval['status'] | 'EXPIRED' {
  return status === 'PENDING' && expiresAtNs <= now ? 'EXPIRED' : status;
}

/** Without the time, the status is that which is stored. */
export function presentApproval(approval: Approval, now?: Instant) {
  const { approvers, problem, result, refId, votes } = approval;
  return {
    id: approval.id,
    action: approval.action,
    level: approval.level,
    status: now === undefined ? approval.status : statusAt(approval, now),
    summary: approval.summary,
    proposal: { ...approval.proposal },
    digest: approval.digest,
    maker: presentActor(approval.maker),
    quorum: approval.quorum,
    ...(approvers !== null && { approvers: [...approvers] }),
    votes: votes.map(({ decision, by, atNs, reason }) => ({
      decision,
      by: presentActor(by),
      created_at: formatInstant(atNs),
      ...(reason !== null && { reason }),
    })),
    ...(problem !== null && { problem }),
    ...(result !== null && { result }),
    ...(refId !== null && { ref_id: refId }),
    created_at: formatInstant(approval.createdAtNs),
    updated_at: formatInstant(approval.updatedAtNs),
    expires_at: formatInstant(approval.expiresAtNs),
    ...(approval.claimedAtNs !== null && { claimed_at: formatInstant(approval.claimedAtNs) }),
  };
}

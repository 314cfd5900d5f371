import type { Instant } from '../kernel/instant.ts';

export const MEMBER_ROLES = ['BENEFICIAL_OWNER', 'AUTHORIZED_USER', 'FINANCIAL_ADVISOR'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** An identity that belongs to an account. A member never changes: for other roles it is removed and added again. */
export type Member = {
  readonly id: string;
  readonly customerId: string;
  readonly accountId: string;
  readonly identityId: string;
  readonly roles: readonly MemberRole[];
  readonly createdAtNs: Instant;
};

/** The place of an identity on an account: the stored member, and the member after the commands of the batch so far. */
export type MemberPlace = { readonly stored: Member | undefined; readonly member: Member | undefined };

export function placeKey(accountId: string, identityId: string): string {
  return `${accountId}/${identityId}`;
}

export function placeOf(key: string): { readonly accountId: string; readonly identityId: string } {
  const [accountId, identityId] = key.split('/') as [string, string];
  return { accountId, identityId };
}

/** Roles are a set: their order does not matter. */
export function sameRoles(one: readonly MemberRole[], other: readonly MemberRole[]): boolean {
  return one.length === other.length && one.every((role) => other.includes(role));
}

export type PresentedMember = {
  readonly id: string;
  readonly identity_id: string;
  readonly roles: readonly MemberRole[];
};

/** As users see it inside its account. */
export function presentMember(member: Member): PresentedMember {
  return { id: member.id, identity_id: member.identityId, roles: member.roles };
}

/** As users see it by itself. */
export function presentMemberAlone(member: Member): PresentedMember & { readonly account_id: string } {
  return { ...presentMember(member), account_id: member.accountId };
}

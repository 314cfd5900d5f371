import { formatInstant, type Instant } from '../kernel/instant.ts';
import type { PresentedMember } from './member.ts';

export const ACCOUNT_TYPES = ['BROKERAGE', 'CUSTODY', 'OTHER'] as const;
export type AccountType = (typeof ACCOUNT_TYPES)[number];

/** An account, owned by an identity. Other identities can be its members. */
export type Account = {
  readonly id: string;
  readonly customerId: string;
  readonly identityId: string;
  readonly type: AccountType;
  readonly description: string | null;
  /** The profile that was created together with the account. */
  readonly profileId: string | null;
  readonly refId: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly createdAtNs: Instant;
  /** Members are part of the account: adding or removing one updates it. */
  readonly updatedAtNs: Instant;
};

export type AccountWithMembers = Account & { readonly members: readonly PresentedMember[] };

/** As users see it. Absent fields are left out, never null. */
export function presentAccount(
  account: Account & { readonly members: AccountWithMembers['members'] | undefined },
): Record<string, unknown> {
  return {
    id: account.id,
    identity_id: account.identityId,
    type: account.type,
    description: account.description ?? undefined,
    members: account.members,
    profile_id: account.profileId ?? undefined,
    ref_id: account.refId ?? undefined,
    metadata: account.metadata ?? undefined,
    created_at: formatInstant(account.createdAtNs),
    updated_at: formatInstant(account.updatedAtNs),
  };
}

import type { Assets } from '../kernel/asset.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import type { ProfileFacts } from '../kernel/profile-facts.ts';

/** Holds value, with one balance per asset. A customer can have any number of profiles. */
export type Profile = ProfileFacts & {
  readonly nickname: string;
  readonly type: 'DEFAULT' | 'NORMAL';
  readonly description: string | null;
  readonly accountId: string | null;
  readonly createdAtNs: Instant;
  readonly updatedAtNs: Instant;
};

/** Nicknames are unique for each customer. */
export function nicknameKey(customerId: string, nickname: string): string {
  return `${customerId}/${nickname}`;
}

/** The profile that is created together with an account. Its nickname contains the account's id, so it is never taken. */
export function profileOfAccount(
  id: string,
  account: { readonly id: string; readonly customerId: string },
  now: Instant,
): Profile {
  return {
    id,
    customerId: account.customerId,
    nickname: `Account ${account.id}`,
    type: 'NORMAL',
    description: null,
    accountId: account.id,
    status: 'ACTIVE',
    acceptedProfileIds: null,
    createdAtNs: now,
    updatedAtNs: now,
  };
}

/** As users see it. */
export function presentProfile(profile: Profile): Record<string, unknown> {
  return {
    id: profile.id,
    nickname: profile.nickname,
    type: profile.type,
    description: profile.description ?? undefined,
    account_id: profile.accountId ?? undefined,
    ...(profile.acceptedProfileIds !== null && { incoming: presentIncoming(profile.acceptedProfileIds) }),
    status: profile.status,
    created_at: formatInstant(profile.createdAtNs),
    updated_at: formatInstant(profile.updatedAtNs),
  };
}

export function presentIncoming(acceptedProfileIds: readonly string[] | null) {
  return acceptedProfileIds === null
    ? ({ accepts_from: 'ANYONE' } as const)
    : ({ accepts_from: 'LISTED', profile_ids: [...acceptedProfileIds] } as const);
}

/** `trading` is the amount that open orders reserve; this service has no orders. */
export function presentBalance(
  balance: { readonly asset: string; readonly available: bigint; readonly held: bigint },
  assets: Assets,
) {
  return {
    asset: balance.asset,
    available: assets.format(balance.asset, balance.available),
    held: assets.format(balance.asset, balance.held),
    trading: '0',
  };
}

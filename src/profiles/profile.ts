import type { Assets } from '../kernel/asset.ts';
import type { Instant } from '../kernel/instant.ts';

/** Holds value, with one balance per asset. A customer can have any number of profiles. */
export type Profile = {
  readonly id: string;
  readonly customerId: string;
  readonly nickname: string;
  readonly type: 'DEFAULT' | 'NORMAL';
  readonly description: string | null;
  readonly accountId: string | null;
  readonly status: 'ACTIVE' | 'DISABLED';
  readonly createdAtNs: bigint;
};

/** What rules need to know about a profile. */
export type ProfileFacts = Pick<Profile, 'id' | 'customerId' | 'status'>;

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
    createdAtNs: now,
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
  };
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

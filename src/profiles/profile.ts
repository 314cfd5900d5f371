import type { Assets } from '../kernel/asset.ts';
import type { Instant } from '../kernel/instant.ts';

/** Where value is: a customer has one or more, each with a balance per asset. */
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

/** What rules about value look at. */
export type ProfileFacts = Pick<Profile, 'id' | 'customerId' | 'status'>;

/** Nicknames are unique for each customer. */
export function nicknameKey(customerId: string, nickname: string): string {
  return `${customerId}/${nickname}`;
}

/** The profile that is made together with an account: named after it, and so never taken. */
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

/** `trading` is what open orders reserve in services that trade; this one does not. */
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

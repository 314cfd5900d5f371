import { type EndUser, type EndUserFacts, endUserFault, endUserKey } from '../identity/rules.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Fields } from '../kernel/fields.ts';
import { notFound, type Problem } from '../kernel/problem.ts';
import { disabledProblem, type ProfileFacts } from '../kernel/profile-facts.ts';
import type { Caller } from '../kernel/route.ts';
import { type IdempotencyKey, type Read, read, type Table, type View } from '../ledger/command.ts';
import { TRANSFER_SPACE, type Transfer } from './transfer.ts';

/** Tables that requests for transfers of every kind read and write. */
export type TransferTables = {
  readonly assets: Assets;
  readonly profiles: Table<ProfileFacts>;
  readonly endUsers: Table<EndUserFacts>;
  readonly newTransfers: Table<Transfer>;
};

export type TransferOperation = 'PLATFORM' | 'INTERNAL' | 'FIAT_WITHDRAWAL' | 'CRYPTO_WITHDRAWAL' | 'DEPOSIT';

/** The operation is part of the comparison: the same fields sent to another operation are a different request. */
export function transferKey(
  customerId: string,
  operation: TransferOperation,
  resourceId: string,
  request: { readonly ref_id?: string; readonly [name: string]: unknown },
): IdempotencyKey | undefined {
  const refId = request.ref_id;
  if (refId === undefined) return undefined;
  return { customerId, space: TRANSFER_SPACE, refId, resourceId, request: { ...request, operation } };
}

/** A third-party integration acts for end users, and must name the end user. */
export function requireForThirdParty<Name extends string>(
  fields: Fields,
  caller: Caller,
  request: { readonly [name in Name]?: unknown },
  names: readonly Name[],
): void {
  if (caller.integration !== 'THIRD_PARTY') return;
  for (const name of names) {
    if (request[name] === undefined) fields.fault(`/${name}`, 'is required for third-party integrations');
  }
}

/** The prefix of the fields that name an end user: `from_` and `to_` in transfers inside the service. */
export type EndUserPrefix = '' | 'from_' | 'to_';
type EndUserRequest = { readonly [name in `${EndUserPrefix}${'identity_id' | 'account_id'}`]?: string };

/** A table, because building the names for each request takes 0.1 µs each. */
const ACTOR_FIELDS = {
  '': { identity: 'identity_id', account: 'account_id' },
  from_: { identity: 'from_identity_id', account: 'from_account_id' },
  to_: { identity: 'to_identity_id', account: 'to_account_id' },
} as const;

function endUserOf(request: EndUserRequest, prefix: EndUserPrefix): EndUser | undefined {
  const names = ACTOR_FIELDS[prefix];
  const identityId = request[names.identity];
  const accountId = request[names.account];
  return identityId === undefined && accountId === undefined ? undefined : { identityId, accountId };
}

export function endUserReads(
  endUsers: Table<EndUserFacts>,
  request: EndUserRequest,
  prefix: EndUserPrefix,
): Read[] {
  const endUser = endUserOf(request, prefix);
  return endUser === undefined ? [] : [read(endUsers, endUserKey(endUser))];
}

/** If the request names an end user, the end user must belong to that customer. */
export function endUserProblem(
  view: View,
  endUsers: Table<EndUserFacts>,
  request: EndUserRequest,
  prefix: EndUserPrefix,
  customerId: string,
): Problem | undefined {
  const endUser = endUserOf(request, prefix);
  if (endUser === undefined) return undefined;
  const pointers = { identity: `/${prefix}identity_id`, account: `/${prefix}account_id` };
  return endUserFault(endUser, view.row(endUsers, endUserKey(endUser)), customerId, pointers);
}

/** The profile must belong to the customer and be active; the profile of another customer is reported as not found. */
export function ownProfileProblem(
  view: View,
  profiles: Table<ProfileFacts>,
  id: string,
  customerId: string,
): Problem | undefined {
  const profile = view.row(profiles, id);
  return profile?.customerId === customerId ? disabledProblem(profile) : notFound('profile', id);
}

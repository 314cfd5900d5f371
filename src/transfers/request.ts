import { type Actor, type ActorFacts, actorFault, actorKey } from '../identity/rules.ts';
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
  readonly actors: Table<ActorFacts>;
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
export type ActorPrefix = '' | 'from_' | 'to_';
type ActorRequest = { readonly [name in `${ActorPrefix}${'identity_id' | 'account_id'}`]?: string };

/** A table, because building the names for each request takes 0.1 µs each. */
const ACTOR_FIELDS = {
  '': { identity: 'identity_id', account: 'account_id' },
  from_: { identity: 'from_identity_id', account: 'from_account_id' },
  to_: { identity: 'to_identity_id', account: 'to_account_id' },
} as const;

function actorOf(request: ActorRequest, prefix: ActorPrefix): Actor | undefined {
  const names = ACTOR_FIELDS[prefix];
  const identityId = request[names.identity];
  const accountId = request[names.account];
  return identityId === undefined && accountId === undefined ? undefined : { identityId, accountId };
}

export function actorReads(actors: Table<ActorFacts>, request: ActorRequest, prefix: ActorPrefix): Read[] {
  const actor = actorOf(request, prefix);
  return actor === undefined ? [] : [read(actors, actorKey(actor))];
}

/** If the request names an end user, the end user must belong to that customer. */
export function actorProblem(
  view: View,
  actors: Table<ActorFacts>,
  request: ActorRequest,
  prefix: ActorPrefix,
  customerId: string,
): Problem | undefined {
  const actor = actorOf(request, prefix);
  if (actor === undefined) return undefined;
  const pointers = { identity: `/${prefix}identity_id`, account: `/${prefix}account_id` };
  return actorFault(actor, view.row(actors, actorKey(actor)), customerId, pointers);
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

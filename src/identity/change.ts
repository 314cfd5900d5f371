import type { Static } from 'typebox';
import type { Database } from '../database/database.ts';
import { recordChanges } from '../events/append.ts';
import { actorOf } from '../kernel/actor.ts';
import { canonicalText } from '../kernel/canonical.ts';
import { invalidRequest, notFound } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import { type AccountWithMembers, presentAccount } from './account.ts';
import { changeAccount, changeIdentity, lockAccount, lockIdentity } from './change-store.ts';
import { type Identity, presentIdentity } from './identity.ts';
import type { UpdateAccountRequest, UpdateIdentityRequest } from './schema.ts';

/** Absent fields keep their values. What has these values already is not changed, so that a retry is safe. */

const isSame = (one: unknown, other: unknown): boolean => canonicalText(one) === canonicalText(other);

type IdentityRequest = Static<typeof UpdateIdentityRequest>;

/** A person stays a person, and an institution an institution. */
function refuseOtherKind({ type }: Identity, request: IdentityRequest): void {
  const other = type === 'PERSON' ? 'institution_details' : 'person_details';
  if (request[other] === undefined) return;
  throw invalidRequest([{ pointer: `/${other}`, message: `must not be sent: the identity is a ${type}` }]);
}

export function updateIdentity(
  database: Database,
  caller: Caller,
  id: string,
  request: IdentityRequest,
): Promise<Identity> {
  return database.transaction(async (tx) => {
    const found = await lockIdentity(tx, caller.customerId, id);
    if (found === undefined) throw notFound('identity', id);
    refuseOtherKind(found, request);
    const wanted: Identity = {
      ...found,
      personDetails: request.person_details ?? found.personDetails,
      institutionDetails: request.institution_details ?? found.institutionDetails,
      metadata: request.metadata ?? found.metadata,
    };
    if (isSame(presentIdentity(wanted), presentIdentity(found))) return found;
    const identity = await changeIdentity(tx, wanted);
    const after = presentIdentity(identity);
    const { customerId, updatedAtNs: at } = identity;
    await recordChanges(tx, actorOf(caller), [
      { action: 'identity.updated', customerId, resourceId: id, at, after, isSealed: true },
    ]);
    return identity;
  });
}

export function updateAccount(
  database: Database,
  caller: Caller,
  id: string,
  request: Static<typeof UpdateAccountRequest>,
): Promise<AccountWithMembers> {
  return database.transaction(async (tx) => {
    const found = await lockAccount(tx, caller.customerId, id);
    if (found === undefined) throw notFound('account', id);
    const wanted: AccountWithMembers = {
      ...found,
      type: request.type ?? found.type,
      description: request.description ?? found.description,
      metadata: request.metadata ?? found.metadata,
    };
    if (isSame(presentAccount(wanted), presentAccount(found))) return found;
    const account = { ...(await changeAccount(tx, wanted)), members: found.members };
    // Members are resources of their own in the log.
    const after = presentAccount({ ...account, members: undefined });
    const { customerId, updatedAtNs: at } = account;
    await recordChanges(tx, actorOf(caller), [
      { action: 'account.updated', customerId, resourceId: id, at, after },
    ]);
    return account;
  });
}

import type { Static } from 'typebox';
import { actorOf } from '../kernel/actor.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, read, refuse, type Table, type Write, write } from '../ledger/command.ts';
import { ACCOUNT_TYPES, type Account, type AccountWithMembers } from './account.ts';
import type { Identity } from './identity.ts';
import { type MemberPlace, placeKey, presentMember } from './member.ts';
import { memberEvent, type NewMember, refuseRepeated } from './members.ts';
import { identityFault } from './rules.ts';
import type { CreateAccountRequest } from './schema.ts';

export type AccountTables = {
  readonly identities: Table<Identity>;
  readonly accounts: Table<Account>;
  readonly places: Table<MemberPlace>;
  /** Writes the profile that is created together with an account. */
  readonly profileOfAccount: (profileId: string, account: Account, now: Instant) => Write;
};

type Request = Static<typeof CreateAccountRequest>;
type WantedMember = NewMember & { readonly id: string };

/** Roles are a set: a request with another order of them is the same. */
const normalised = (members: readonly NewMember[] | undefined) =>
  members?.map(({ identity_id, roles }) => ({ identity_id, roles: [...roles].sort() }));

function addMembers(
  account: Account,
  wanted: readonly WantedMember[],
  places: Table<MemberPlace>,
  now: Instant,
) {
  const { id: accountId, customerId } = account;
  const members = wanted.map(({ id, identity_id: identityId, roles }) => ({
    id,
    customerId,
    accountId,
    identityId,
    roles,
    createdAtNs: now,
  }));
  const writes = members.flatMap((member) => [
    write(places, placeKey(accountId, member.identityId), { stored: undefined, member }),
    memberEvent('added', member, now),
  ]);
  return { members: members.map(presentMember), writes };
}

export function createAccountCommand(
  caller: Caller,
  request: Request,
  tables: AccountTables,
): Command<AccountWithMembers> {
  const { identities, accounts, places, profileOfAccount } = tables;
  const { customerId } = caller;
  const { members: given = [], ...fields } = request.account;
  refuseRepeated(given, '/account/members');
  const wanted = { type: ACCOUNT_TYPES[0], ...fields };
  const wantedMembers = given.map((member) => ({ ...member, id: newId() }));
  const identityIds = [wanted.identity_id, ...given.map((member) => member.identity_id)];
  const createProfile = request.create_profile ?? false;
  const ids = { account: newId(), profile: newId() };
  return {
    actor: actorOf(caller),
    customerId,
    key:
      wanted.ref_id === undefined
        ? undefined
        : {
            customerId,
            space: 'accounts',
            refId: wanted.ref_id,
            resourceId: ids.account,
            // Flat, so that a conflict names the individual fields that differ.
            request: {
              ...wanted,
              members: normalised(request.account.members),
              create_profile: createProfile,
            },
          },
    balances: [],
    reads: [...new Set(identityIds)].map((id) => read(identities, id)),
    decide(view) {
      for (const id of identityIds) {
        const fault = identityFault(id, view.row(identities, id), customerId);
        if (fault !== undefined) return refuse(fault);
      }
      const account: Account = {
        id: ids.account,
        customerId,
        identityId: wanted.identity_id,
        type: wanted.type,
        description: wanted.description ?? null,
        profileId: createProfile ? ids.profile : null,
        refId: wanted.ref_id ?? null,
        metadata: wanted.metadata ?? null,
        createdAtNs: view.recordedAt,
        updatedAtNs: view.recordedAt,
      };
      const added = addMembers(account, wantedMembers, places, view.recordedAt);
      const writes = [write(accounts, account.id, account), ...added.writes];
      if (createProfile) writes.push(profileOfAccount(ids.profile, account, view.recordedAt));
      return {
        accepted: true,
        causeId: account.id,
        postings: [],
        writes,
        answer: { ...account, members: added.members },
      };
    },
  };
}

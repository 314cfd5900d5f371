import type { Static } from 'typebox';
import { type EndUserFacts, endUserFault, endUserKey } from '../identity/rules.ts';
import { actorOf } from '../kernel/actor.ts';
import { newId } from '../kernel/id.ts';
import { Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, read, refuse, type Table, type View, write } from '../ledger/command.ts';
import { nicknameKey, type Profile, presentProfile } from './profile.ts';
import type { CreateProfileRequest } from './schema.ts';

export type ProfileTables = {
  readonly endUsers: Table<EndUserFacts>;
  readonly newProfiles: Table<Profile>;
  readonly defaultProfiles: Table<true>;
};

type Request = Static<typeof CreateProfileRequest>;

/** There is no ref_id: the nickname is the idempotency key, and the problem contains the profile that has it. */
function nicknameTaken(request: Request, existing: Profile): Problem {
  const differs = [
    ...((request.account_id ?? null) === existing.accountId ? [] : ['account_id']),
    ...((request.description ?? null) === existing.description ? [] : ['description']),
  ];
  return new Problem('already-exists', `A profile with the nickname "${request.nickname}" already exists.`, {
    existing: presentProfile(existing),
    differs,
  });
}

function profileFault(
  caller: Caller,
  request: Request,
  view: View,
  tables: ProfileTables,
): Problem | undefined {
  if (request.account_id !== undefined) {
    const endUser = { identityId: undefined, accountId: request.account_id };
    const facts = view.row(tables.endUsers, endUserKey(endUser));
    const pointers = { identity: '/identity_id', account: '/account_id' };
    const fault = endUserFault(endUser, facts, caller.customerId, pointers);
    if (fault !== undefined) return fault;
  }
  const existing = view.row(tables.newProfiles, nicknameKey(caller.customerId, request.nickname));
  return existing === undefined ? undefined : nicknameTaken(request, existing);
}

export function createProfileCommand(
  caller: Caller,
  request: Request,
  tables: ProfileTables,
): Command<Profile> {
  const id = newId();
  const { customerId } = caller;
  const { newProfiles, defaultProfiles, endUsers } = tables;
  const key = nicknameKey(customerId, request.nickname);
  const accountId = request.account_id;
  return {
    actor: actorOf(caller),
    customerId,
    balances: [],
    reads: [
      read(newProfiles, key),
      read(defaultProfiles, customerId),
      ...(accountId === undefined ? [] : [read(endUsers, endUserKey({ identityId: undefined, accountId }))]),
    ],
    decide(view) {
      const fault = profileFault(caller, request, view, tables);
      if (fault !== undefined) return refuse(fault);
      const profile: Profile = {
        id,
        customerId,
        nickname: request.nickname,
        type: view.row(defaultProfiles, customerId) === undefined ? 'DEFAULT' : 'NORMAL',
        description: request.description ?? null,
        accountId: accountId ?? null,
        status: 'ACTIVE',
        acceptedProfileIds: null,
        createdAtNs: view.recordedAt,
        updatedAtNs: view.recordedAt,
      };
      return {
        accepted: true,
        causeId: id,
        postings: [],
        writes: [write(newProfiles, key, profile), write(defaultProfiles, customerId, true)],
        answer: profile,
      };
    },
  };
}

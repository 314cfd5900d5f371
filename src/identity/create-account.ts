import type { Static } from 'typebox';
import { actorOf } from '../kernel/actor.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, read, refuse, type Table, type Write, write } from '../ledger/command.ts';
import { ACCOUNT_TYPES, type Account, type AccountWithMembers } from './account.ts';
import type { Identity } from './identity.ts';
import { identityFault } from './rules.ts';
import type { CreateAccountRequest } from './schema.ts';

export type AccountTables = {
  readonly identities: Table<Identity>;
  readonly accounts: Table<Account>;
  /** Writes the profile that is created together with an account. */
  readonly profileOfAccount: (profileId: string, account: Account, now: Instant) => Write;
};

type Request = Static<typeof CreateAccountRequest>;

export function createAccountCommand(
  caller: Caller,
  request: Request,
  tables: AccountTables,
): Command<AccountWithMembers> {
  const { identities, accounts, profileOfAccount } = tables;
  const { customerId } = caller;
  const wanted = { type: ACCOUNT_TYPES[0], ...request.account };
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
            request: { ...wanted, create_profile: createProfile },
          },
    balances: [],
    reads: [read(identities, wanted.identity_id)],
    decide(view) {
      const identity = view.row(identities, wanted.identity_id);
      const fault = identityFault(wanted.identity_id, identity, customerId);
      if (fault !== undefined) return refuse(fault);
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
      const writes = [write(accounts, account.id, account)];
      if (createProfile) writes.push(profileOfAccount(ids.profile, account, view.recordedAt));
      return {
        accepted: true,
        causeId: account.id,
        postings: [],
        writes,
        answer: { ...account, members: [] },
      };
    },
  };
}

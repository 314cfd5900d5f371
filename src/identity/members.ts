import type { Static } from 'typebox';
import { event } from '../events/outbox.ts';
import { actorOf } from '../kernel/actor.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import { type FieldError, invalidRequest, notFound, Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, read, refuse, type Table, type View, type Write, write } from '../ledger/command.ts';
import type { Account } from './account.ts';
import { MEMBER_EVENTS } from './event-types.ts';
import type { Identity } from './identity.ts';
import {
  type Member,
  type MemberPlace,
  placeKey,
  presentMember,
  presentMemberAlone,
  sameRoles,
} from './member.ts';
import { identityFault } from './rules.ts';
import type { AddMembersRequest } from './schema.ts';

export type MemberTables = {
  readonly identities: Table<Identity>;
  readonly accounts: Table<Account>;
  readonly places: Table<MemberPlace>;
};

type Request = Static<typeof AddMembersRequest>;
export type NewMember = Request['members'][number];

/** Members in the order of the request; `added` is false if all of them were members before. */
export type AddedMembers = { readonly members: readonly Member[]; readonly added: boolean };

export function refuseRepeated(members: readonly NewMember[], pointer: string): void {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, { identity_id: identityId }] of members.entries()) {
    if (seen.has(identityId)) {
      errors.push({
        pointer: `${pointer}/${index}/identity_id`,
        message: 'must not be in the list more than once',
      });
    }
    seen.add(identityId);
  }
  if (errors.length > 0) throw invalidRequest(errors);
}

/** First what the caller cannot see (404), then what the caller may not do. */
function addFault(caller: Caller, request: Request, view: View, tables: MemberTables): Problem | undefined {
  const { account_id: accountId, members } = request;
  if (view.row(tables.accounts, accountId)?.customerId !== caller.customerId) {
    return notFound('account', accountId);
  }
  for (const { identity_id: identityId } of members) {
    const fault = identityFault(identityId, view.row(tables.identities, identityId), caller.customerId);
    if (fault !== undefined) return fault;
  }
  for (const { identity_id: identityId, roles } of members) {
    const existing = view.row(tables.places, placeKey(accountId, identityId))?.member;
    if (existing !== undefined && !sameRoles(existing.roles, roles)) {
      return new Problem(
        'already-exists',
        `Identity ${identityId} is already a member of the account, with the roles ${existing.roles.join(', ')}.`,
        { existing: presentMember(existing), differs: ['roles'] },
      );
    }
  }
  return undefined;
}

export function memberEvent(what: 'added' | 'removed', member: Member, at: Instant): Write {
  return event(MEMBER_EVENTS.types[what], member.customerId, member.id, at, presentMemberAlone(member));
}

export function addMembersCommand(
  caller: Caller,
  request: Request,
  tables: MemberTables,
): Command<AddedMembers> {
  refuseRepeated(request.members, '/members');
  const { identities, accounts, places } = tables;
  const { account_id: accountId } = request;
  const wanted = request.members.map((member) => ({
    ...member,
    id: newId(),
    key: placeKey(accountId, member.identity_id),
  }));
  return {
    actor: actorOf(caller),
    customerId: caller.customerId,
    balances: [],
    reads: [
      read(accounts, accountId),
      ...wanted.flatMap(({ identity_id, key }) => [read(identities, identity_id), read(places, key)]),
    ],
    decide(view) {
      const fault = addFault(caller, request, view, tables);
      if (fault !== undefined) return refuse(fault);
      const writes: Write[] = [];
      const members = wanted.map(({ id, key, identity_id: identityId, roles }): Member => {
        const place = view.row(places, key);
        if (place?.member !== undefined) return place.member;
        const { customerId } = caller;
        const member = { id, customerId, accountId, identityId, roles, createdAtNs: view.recordedAt };
        writes.push(write(places, key, { stored: place?.stored, member }));
        writes.push(memberEvent('added', member, view.recordedAt));
        return member;
      });
      const added = writes.length > 0;
      if (added) {
        const account = view.row(accounts, accountId)!;
        writes.push(write(accounts, accountId, { ...account, updatedAtNs: view.recordedAt }));
      }
      return { accepted: true, causeId: accountId, postings: [], writes, answer: { members, added } };
    },
  };
}

/** `found` was read before the transaction: the rule checks that it is still the member at its place. */
export function removeMemberCommand(caller: Caller, found: Member, tables: MemberTables): Command<Member> {
  const { accounts, places } = tables;
  const key = placeKey(found.accountId, found.identityId);
  return {
    actor: actorOf(caller),
    customerId: found.customerId,
    balances: [],
    reads: [read(accounts, found.accountId), read(places, key)],
    decide(view) {
      const place = view.row(places, key);
      if (place?.member?.id !== found.id) return refuse(notFound('account_member', found.id));
      const account = view.row(accounts, found.accountId)!;
      return {
        accepted: true,
        causeId: found.id,
        postings: [],
        writes: [
          write(places, key, { stored: place.stored, member: undefined }),
          memberEvent('removed', found, view.recordedAt),
          write(accounts, account.id, { ...account, updatedAtNs: view.recordedAt }),
        ],
        answer: found,
      };
    },
  };
}

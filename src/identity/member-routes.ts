import type { Database } from '../database/database.ts';
import { notFound } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import type { Outcome } from '../ledger/command.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { ADDED_MEMBERS, REMOVED_MEMBER } from './examples.ts';
import { presentMember, presentMemberAlone } from './member.ts';
import { findMember, memberPlaces } from './member-store.ts';
import { addMembersCommand, removeMemberCommand } from './members.ts';
import { AddedMembers, AddMembersRequest, RemovedMember } from './schema.ts';
import { accountTable, identityTable } from './store.ts';

/** These commands need no idempotency key: a member is identified by its account and identity. */
function answerOf<Answer>(outcome: Outcome<Answer>): Answer {
  if (outcome.replayed) throw new Error('a command without a key cannot be a replay');
  return outcome.answer;
}

export function memberRoutes({
  database,
  writePath,
}: {
  readonly database: Database;
  readonly writePath: WritePath;
}): Route[] {
  const tables = { identities: identityTable, accounts: accountTable, places: memberPlaces };
  return [
    route({
      method: 'POST',
      path: '/v2/identity/account-members',
      operationId: 'addAccountMembers',
      tag: 'Accounts',
      summary: 'Add members to an account',
      description:
        'Adds identities with roles to an account: all of them, or none. An identity that is already a member with the same roles is returned unchanged; with other roles the request is refused.',
      scope: 'identity:write_account',
      body: AddMembersRequest,
      example: {
        account_id: '01981b42-91c5-74d8-b36e-7f28c40d5ea1',
        members: [{ identity_id: '01981b42-3377-7b90-8e4c-0a5d16f3b928', roles: ['AUTHORIZED_USER'] }],
      },
      response: AddedMembers,
      problems: ['forbidden', 'not-found', 'already-exists'],
      answer: ADDED_MEMBERS,
      async handle({ caller, body }) {
        const outcome = await writePath.submit(addMembersCommand(caller, body, tables));
        const { members, added } = answerOf(outcome);
        return {
          body: { account_id: body.account_id, members: members.map(presentMember) } as never,
          replayed: !added,
        };
      },
    }),
    route({
      method: 'DELETE',
      path: '/v2/identity/account-members/{id}',
      operationId: 'removeAccountMember',
      tag: 'Accounts',
      summary: 'Remove a member from its account',
      description: 'Returns the removed member.',
      scope: 'identity:write_account',
      params: IdParams,
      response: RemovedMember,
      problems: ['not-found'],
      answer: REMOVED_MEMBER,
      async handle({ caller, params }) {
        const found = await findMember(database.of(caller.customerId), caller.customerId, params.id);
        if (found === undefined) throw notFound('account_member', params.id);
        const outcome = await writePath.submit(removeMemberCommand(caller, found, tables));
        return { body: presentMemberAlone(answerOf(outcome)) as never };
      },
    }),
  ];
}

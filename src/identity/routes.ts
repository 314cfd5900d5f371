import type { Database } from '../database/database.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { notFound } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { createOnce } from '../ledger/create.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { presentAccount } from './account.ts';
import { updateAccount, updateIdentity } from './change.ts';
import { type AccountTables, createAccountCommand } from './create-account.ts';
import { createIdentityCommand } from './create-identity.ts';
import { ACCOUNT, CREATED_ACCOUNT, IDENTITY, UPDATED_ACCOUNT, UPDATED_IDENTITY } from './examples.ts';
import { presentIdentity } from './identity.ts';
import { memberRoutes } from './member-routes.ts';
import { memberPlaces } from './member-store.ts';
import {
  AccountList,
  AccountShape,
  AccountsQuery,
  CreateAccountRequest,
  CreateIdentityRequest,
  IdentitiesQuery,
  IdentityList,
  IdentityShape,
  UpdateAccountRequest,
  UpdateIdentityRequest,
} from './schema.ts';
import {
  accountTable,
  findAccount,
  findIdentity,
  identityTable,
  listAccounts,
  listIdentities,
} from './store.ts';

export type IdentityDependencies = {
  readonly database: Database;
  readonly writePath: WritePath;
  readonly profileOfAccount: AccountTables['profileOfAccount'];
};

export function identityRoutes(dependencies: IdentityDependencies): Route[] {
  return [
    ...identityRecordRoutes(dependencies),
    ...accountRoutes(dependencies),
    ...changeRoutes(dependencies),
    ...memberRoutes(dependencies),
  ];
}

function identityRecordRoutes({ database, writePath }: IdentityDependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v2/identity/identities',
      operationId: 'listIdentities',
      tag: 'Identities',
      summary: 'List identities',
      scope: 'identity:read_identity',
      query: IdentitiesQuery,
      response: IdentityList,
      problems: [],
      answer: { items: [IDENTITY] },
      async handle({ caller, query }) {
        const page = readPage(query, 'identities');
        const rows = await listIdentities(database.of(caller.customerId), caller.customerId, query, page);
        return { body: await pageOf(rows, page, presentIdentity) };
      },
    }),
    route({
      method: 'POST',
      path: '/v2/identity/identities',
      operationId: 'createIdentity',
      tag: 'Identities',
      summary: 'Create an identity',
      description:
        'A person or an institution that you act for. Send exactly one of person_details and institution_details.',
      scope: 'identity:write_identity',
      body: CreateIdentityRequest,
      response: IdentityShape,
      problems: ['already-exists'],
      example: { person_details: { first_name: 'Grace', last_name: 'Hopper' } },
      answer: IDENTITY,
      handle: ({ caller, body }) =>
        createOnce(writePath, {
          command: createIdentityCommand(caller, body, identityTable),
          load: (id) => findIdentity(database.of(caller.customerId), caller.customerId, id),
          present: (identity) => presentIdentity(identity) as never,
        }),
    }),
    route({
      method: 'GET',
      path: '/v2/identity/identities/{id}',
      operationId: 'getIdentity',
      tag: 'Identities',
      summary: 'Get an identity',
      scope: 'identity:read_identity',
      params: IdParams,
      response: IdentityShape,
      problems: ['not-found'],
      answer: IDENTITY,
      async handle({ caller, params }) {
        const identity = await findIdentity(database.of(caller.customerId), caller.customerId, params.id);
        if (identity === undefined) throw notFound('identity', params.id);
        return { body: presentIdentity(identity) as never };
      },
    }),
  ];
}

function accountRoutes({ database, writePath, profileOfAccount }: IdentityDependencies): Route[] {
  const tables = {
    identities: identityTable,
    accounts: accountTable,
    places: memberPlaces,
    profileOfAccount,
  };
  return [
    route({
      method: 'GET',
      path: '/v2/identity/accounts',
      operationId: 'listAccounts',
      tag: 'Accounts',
      summary: 'List accounts',
      scope: 'identity:read_account',
      query: AccountsQuery,
      response: AccountList,
      problems: [],
      answer: { items: [ACCOUNT] },
      async handle({ caller, query }) {
        const page = readPage(query, 'accounts');
        const rows = await listAccounts(database.of(caller.customerId), caller.customerId, query, page);
        return { body: await pageOf(rows, page, presentAccount) };
      },
    }),
    route({
      method: 'POST',
      path: '/v2/identity/accounts',
      operationId: 'createAccount',
      tag: 'Accounts',
      summary: 'Create an account',
      description:
        'An account of an identity. Its members are added, and with `create_profile` a profile is created, in the same transaction.',
      scope: 'identity:write_account',
      body: CreateAccountRequest,
      example: {
        account: {
          identity_id: '01981b42-3377-7b90-8e4c-0a5d16f3b928',
          members: [{ identity_id: '01981b42-3377-7b90-8e4c-0a5d16f3b928', roles: ['AUTHORIZED_USER'] }],
          ref_id: 'account-0007',
        },
        create_profile: true,
      },
      response: AccountShape,
      problems: ['forbidden', 'not-found', 'already-exists'],
      answer: CREATED_ACCOUNT,
      handle: ({ caller, body }) =>
        createOnce(writePath, {
          command: createAccountCommand(caller, body, tables),
          load: (id) => findAccount(database.of(caller.customerId), caller.customerId, id),
          present: (account) => presentAccount(account) as never,
        }),
    }),
    route({
      method: 'GET',
      path: '/v2/identity/accounts/{id}',
      operationId: 'getAccount',
      tag: 'Accounts',
      summary: 'Get an account and its members',
      scope: 'identity:read_account',
      params: IdParams,
      response: AccountShape,
      problems: ['not-found'],
      answer: ACCOUNT,
      async handle({ caller, params }) {
        const account = await findAccount(database.of(caller.customerId), caller.customerId, params.id);
        if (account === undefined) throw notFound('account', params.id);
        return { body: presentAccount(account) as never };
      },
    }),
  ];
}

function changeRoutes({ database }: Pick<IdentityDependencies, 'database'>): Route[] {
  return [
    route({
      method: 'PUT',
      path: '/v2/identity/identities/{id}',
      operationId: 'updateIdentity',
      tag: 'Identities',
      summary: 'Update an identity',
      description:
        'Changes the given fields; the others keep their values. A person stays a person, and an institution an institution.',
      scope: 'identity:write_identity',
      params: IdParams,
      body: UpdateIdentityRequest,
      example: { person_details: { first_name: 'Grace', last_name: 'Murray' } },
      response: IdentityShape,
      problems: ['not-found'],
      answer: UPDATED_IDENTITY,
      handle: async ({ caller, params, body }) => ({
        body: presentIdentity(await updateIdentity(database, caller, params.id, body)) as never,
      }),
    }),
    route({
      method: 'PUT',
      path: '/v2/identity/accounts/{id}',
      operationId: 'updateAccount',
      tag: 'Accounts',
      summary: 'Update an account',
      description:
        'Changes the given fields; the others keep their values. The owner of an account does not change; members are added and removed with operations of their own.',
      scope: 'identity:write_account',
      params: IdParams,
      body: UpdateAccountRequest,
      example: { description: 'Long-term savings' },
      response: AccountShape,
      problems: ['not-found'],
      answer: UPDATED_ACCOUNT,
      handle: async ({ caller, params, body }) => ({
        body: presentAccount(await updateAccount(database, caller, params.id, body)) as never,
      }),
    }),
  ];
}

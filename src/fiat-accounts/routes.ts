import type { Declare } from '../approvals/action.ts';
import type { Database } from '../database/database.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { notFound } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import type { Vault } from '../kernel/vault.ts';
import { createOnce } from '../ledger/create.ts';
import type { WritePath } from '../ledger/write-path.ts';
import {
  answerFiatAccount,
  change,
  createFiatAccountCommand,
  deleteFiatAccountCommand,
  type FiatAccountTables,
  updateFiatAccountCommand,
} from './commands.ts';
import { DELETED_ACCOUNT, FIAT_ACCOUNT, UPDATED_ACCOUNT } from './examples.ts';
import type { FiatAccount } from './fiat-account.ts';
import { listFiatAccounts } from './list-store.ts';
import { reviewRoutes } from './review-routes.ts';
import { FiatAccountListQuery, fiatAccountList, fiatAccountRequests, fiatAccountShape } from './schema.ts';
import { fiatAccountTable, findFiatAccount } from './store.ts';

export type FiatAccountDependencies = Omit<FiatAccountTables, 'fiatAccounts'> & {
  readonly declare: Declare;
  readonly database: Database;
  readonly writePath: WritePath;
  readonly vault: Vault;
};

const TAG = 'Fiat accounts';
const READ = 'transfer:read_fiat_account';
const WRITE = 'transfer:write_fiat_account';

export function fiatAccountRoutes(dependencies: FiatAccountDependencies): Route[] {
  const { database, writePath, networks } = dependencies;
  const tables: FiatAccountTables = { ...dependencies, fiatAccounts: fiatAccountTable };
  const response = fiatAccountShape(networks);
  return [
    createRoute(dependencies, tables),
    listRoute(dependencies),
    route({
      method: 'GET',
      path: '/v2/transfer/fiat-accounts/{id}',
      operationId: 'getFiatAccount',
      tag: TAG,
      summary: 'Get a fiat account',
      scope: READ,
      params: IdParams,
      response,
      problems: ['not-found'],
      answer: FIAT_ACCOUNT,
      async handle({ caller, params }) {
        const account = await findFiatAccount(database.of(caller.customerId), caller.customerId, params.id);
        if (account === undefined || account.deletedAtNs !== null) throw notFound('fiat account', params.id);
        return { body: answerFiatAccount(account, networks) };
      },
    }),
    route({
      method: 'PUT',
      path: '/v2/transfer/fiat-accounts/{id}',
      operationId: 'updateFiatAccount',
      tag: TAG,
      summary: 'Update a fiat account',
      description:
        'Changes the given fields; the others keep their values. An account number that is absent, or masked as answers show it, is unchanged: so an answer can be changed and sent back. Instructions with all required fields replace the stored ones. The account becomes PENDING and is reviewed again. The kind of instructions cannot change.',
      scope: WRITE,
      params: IdParams,
      body: fiatAccountRequests(networks).update,
      response,
      problems: ['not-found'],
      example: {
        fiat_account_owner: { person_details: { first_name: 'Ada', last_name: 'King' } },
        metadata: { reason: 'married' },
      },
      answer: UPDATED_ACCOUNT,
      handle: async ({ caller, params, body }) =>
        change(writePath, networks, updateFiatAccountCommand(caller, params.id, body, tables)),
    }),
    route({
      method: 'DELETE',
      path: '/v2/transfer/fiat-accounts/{id}',
      operationId: 'deleteFiatAccount',
      tag: TAG,
      summary: 'Delete a fiat account',
      description:
        'The account can no longer be read, listed or paid to. Its number, its names and the address of its owner are erased, within seconds also in its earlier events. The answer, with deleted_at, shows what is left.',
      scope: WRITE,
      params: IdParams,
      response,
      problems: ['not-found'],
      answer: DELETED_ACCOUNT,
      handle: async ({ caller, params }) =>
        change(writePath, networks, deleteFiatAccountCommand(caller, params.id, tables)),
    }),
    ...reviewRoutes(dependencies, tables),
  ];
}

function createRoute(
  { database, writePath, networks }: FiatAccountDependencies,
  tables: FiatAccountTables,
): Route {
  return route({
    method: 'POST',
    path: '/v2/transfer/fiat-accounts',
    operationId: 'createFiatAccount',
    tag: TAG,
    summary: 'Create a fiat account',
    description:
      'Registers a bank account that money can be sent to. It is created PENDING and then reviewed; the sandbox approves accounts that pass the automatic checks.',
    scope: WRITE,
    body: fiatAccountRequests(networks).create,
    response: fiatAccountShape(networks),
    problems: ['forbidden', 'not-found', 'already-exists'],
    example: {
      fiat_account_owner: { person_details: { first_name: 'Ada', last_name: 'Lovelace' } },
      fiat_network_instructions: {
        wire: {
          account_number: '000123456789',
          routing_details: {
            routing_number_type: 'ABA',
            routing_number: '021000021',
            bank_name: 'First Example Bank',
            bank_address: { country: 'US', address1: '1 Bank Street', city: 'New York', province: 'NY' },
          },
          fiat_account_owner_address: {
            country: 'US',
            address1: '456 Main Street',
            city: 'New York',
            province: 'NY',
            zip_code: '10001',
          },
        },
      },
    },
    answer: FIAT_ACCOUNT,
    handle: async ({ caller, body }) =>
      createOnce(writePath, {
        command: createFiatAccountCommand(caller, body, tables),
        // A replay finds the account even if it was deleted since; the answer then has `deleted_at`.
        load: (id) => findFiatAccount(database.of(caller.customerId), caller.customerId, id),
        present: (account) => answerFiatAccount(account, networks),
      }),
  });
}

function listRoute({ database, networks }: FiatAccountDependencies): Route {
  const present = (account: FiatAccount) => answerFiatAccount(account, networks);
  return route({
    method: 'GET',
    path: '/v2/transfer/fiat-accounts',
    operationId: 'listFiatAccounts',
    tag: TAG,
    summary: 'List fiat accounts',
    scope: READ,
    query: FiatAccountListQuery,
    response: fiatAccountList(networks),
    problems: [],
    answer: { items: [FIAT_ACCOUNT] },
    async handle({ caller, query }) {
      const page = readPage(query, 'fiat-accounts');
      const rows = await listFiatAccounts(database.of(caller.customerId), caller.customerId, query, page);
      return { body: await pageOf(rows, page, present) };
    },
  });
}

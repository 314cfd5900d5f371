import type { Static } from 'typebox';
import type { Database } from '../database/database.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { notFound } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { createOnce } from '../ledger/create.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { createSettlementCommand, moveSettlementCommand, type SettlementTables } from './commands.ts';
import type { DisabledProfiles } from './engine/plan.ts';
import { AFFIRMED_SETTLEMENT, CANCELLED_SETTLEMENT, SETTLEMENT } from './examples.ts';
import { explained } from './explain.ts';
import { listSettlements } from './list-store.ts';
import { presentSettlement } from './present.ts';
import {
  SettlementTransactionList,
  SettlementTransactionQuery,
  SettlementTransactionRequest,
  SettlementTransactionShape,
} from './schema.ts';
import { findSettlement, newSettlements, settlements } from './store.ts';
import type { Settlement } from './transaction.ts';

export type SettlementDependencies = Pick<SettlementTables, 'assets' | 'profiles'> & {
  readonly database: Database;
  readonly writePath: WritePath;
  readonly disabledProfiles: DisabledProfiles;
  /** Notifies the settlement worker of an affirmation. */
  readonly affirmed: (settlement: Settlement) => void;
};

const TAG = 'Settlement';

export function settlementRoutes(dependencies: SettlementDependencies): Route[] {
  const { assets, profiles } = dependencies;
  const tables: SettlementTables = { assets, profiles, newSettlements, settlements };
  return [
    createRoute(dependencies, tables),
    ...readRoutes(dependencies),
    moveRoute(dependencies, tables, 'affirm', {
      method: 'PUT',
      path: '/v2/settlement/transactions/{id}/affirm',
      operationId: 'affirmSettlementTransaction',
      summary: 'Affirm a settlement transaction',
      description:
        'By the owner of the target profile. The transaction settles in its window, as soon as all legs are covered.',
      answer: AFFIRMED_SETTLEMENT,
    }),
    moveRoute(dependencies, tables, 'cancel', {
      method: 'DELETE',
      path: '/v2/settlement/transactions/{id}',
      operationId: 'cancelSettlementTransaction',
      summary: 'Cancel a settlement transaction',
      description: 'By the owner of the source profile, as long as the target has not affirmed.',
      answer: CANCELLED_SETTLEMENT,
    }),
  ];
}

function createRoute(
  { database, writePath, assets }: SettlementDependencies,
  tables: SettlementTables,
): Route {
  return route({
    method: 'POST',
    path: '/v2/settlement/transactions',
    operationId: 'createSettlementTransaction',
    tag: TAG,
    summary: 'Create a settlement transaction',
    description:
      'Proposes to the owner of the target profile that all legs settle together. Nothing moves and nothing is held until the target has affirmed and the window is open.',
    scope: 'settlement:write_transaction',
    body: SettlementTransactionRequest,
    example: {
      source_profile_id: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40',
      target_profile_id: '01981b40-0d91-7a53-8b27-64c0f1a97e15',
      legs: [
        { direction: 'DELIVER', asset: 'BTC', amount: '1.5' },
        { direction: 'RECEIVE', asset: 'USD', amount: '97500' },
      ],
      ref_id: 'trade-7781',
    },
    response: SettlementTransactionShape,
    problems: ['exceeds-precision', 'forbidden', 'not-found', 'already-exists'],
    answer: SETTLEMENT,
    examine: (caller, body) => void createSettlementCommand(caller, body, tables),
    handle: async ({ caller, body }) =>
      createOnce(writePath, {
        command: createSettlementCommand(caller, body, tables),
        load: (id) => findSettlement(database.of(caller.customerId), caller.customerId, id),
        present: (settlement) => presentSettlement(settlement, assets),
      }),
  });
}

function readRoutes({ database, assets, disabledProfiles }: SettlementDependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v2/settlement/transactions',
      operationId: 'listSettlementTransactions',
      tag: TAG,
      summary: 'List settlement transactions',
      description: 'The transactions in which one of your profiles is the source or the target.',
      scope: 'settlement:read_transaction',
      query: SettlementTransactionQuery,
      response: SettlementTransactionList,
      problems: [],
      answer: { items: [SETTLEMENT] },
      async handle({ caller, query }) {
        const page = readPage(query, 'settlement-transactions');
        const found = await listSettlements(database.of(caller.customerId), caller.customerId, query, page);
        const now = {
          ...found,
          rows: await explained(database, assets, disabledProfiles, found.rows, caller.customerId),
        };
        return { body: await pageOf(now, page, (row) => presentSettlement(row, assets)) };
      },
    }),
    route({
      method: 'GET',
      path: '/v2/settlement/transactions/{id}',
      operationId: 'getSettlementTransaction',
      tag: TAG,
      summary: 'Get a settlement transaction',
      description:
        '`secondary_status` says why the transaction has not settled: what it waits for, and which side lacks which asset, and how much if that side is yours.',
      scope: 'settlement:read_transaction',
      params: IdParams,
      response: SettlementTransactionShape,
      problems: ['not-found'],
      answer: SETTLEMENT,
      async handle({ caller, params }) {
        const settlement = await findSettlement(database.of(caller.customerId), caller.customerId, params.id);
        if (settlement === undefined) throw notFound('settlement transaction', params.id);
        const [now] = await explained(database, assets, disabledProfiles, [settlement], caller.customerId);
        return { body: presentSettlement(now!, assets) };
      },
    }),
  ];
}

function moveRoute(
  { database, writePath, assets, affirmed }: SettlementDependencies,
  tables: SettlementTables,
  move: 'affirm' | 'cancel',
  definition: Pick<Route, 'method' | 'path' | 'operationId' | 'summary' | 'description'> & {
    answer: Static<typeof SettlementTransactionShape>;
  },
): Route {
  return route({
    ...definition,
    tag: TAG,
    scope: 'settlement:write_transaction',
    params: IdParams,
    response: SettlementTransactionShape,
    problems: ['forbidden', 'not-found', 'invalid-state'],
    async handle({ caller, params }) {
      // An id that the caller must not see never reaches the write path.
      const seen = await findSettlement(database.of(caller.customerId), caller.customerId, params.id);
      if (seen === undefined) throw notFound('settlement transaction', params.id);
      const outcome = await writePath.submit(moveSettlementCommand(caller, move, seen, tables));
      if (outcome.replayed) throw new Error('a move has no idempotency key, and cannot be replayed');
      if (move === 'affirm') affirmed(outcome.answer);
      return { body: presentSettlement(outcome.answer, assets) };
    },
  });
}

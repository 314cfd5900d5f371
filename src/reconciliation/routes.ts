import type { Database } from '../database/database.ts';
import { actorOf } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import { formatInstant } from '../kernel/instant.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { invalidField } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { LIMITS } from '../limits.ts';
import { balanceRoutes, recordBalance } from './balances.ts';
import { readCamt053 } from './camt053.ts';
import { readCsv } from './csv.ts';
import { IMPORT, IMPORTED, ITEM, MATCH, REMOVED } from './examples.ts';
import type { Item, ReadStatement } from './item.ts';
import {
  copyLedger,
  type Import,
  importStatement,
  matchItems,
  presentMatch,
  presentStatement,
  type ReferenceSources,
  requireLines,
  unmatch,
} from './reconcile.ts';
import { signedAmount } from './rules.ts';
import {
  ImportedShape,
  ImportRequest,
  ItemList,
  MatchRequest,
  MatchShape,
  UnmatchedQuery,
  UnmatchRequest,
} from './schema.ts';
import { listOpen } from './store.ts';

export type ReconciliationDependencies = ReferenceSources & {
  readonly database: Database;
  readonly assets: Assets;
};

const TAG = 'Operator';

/** Undefined without a closing balance, or if its day is not over. */
async function closingDifference(
  database: Database,
  { account, asset, statementId, by }: Import,
  closing: ReadStatement['closing'],
): Promise<bigint | undefined> {
  if (closing === undefined) return undefined;
  const reported = { account, asset, reference: statementId, by, ...closing };
  const recorded = await recordBalance(database, reported);
  return recorded && recorded.balance.units - recorded.balance.ledgerUnits;
}

function importRoute(dependencies: ReconciliationDependencies): Route {
  const { database, assets } = dependencies;
  return route({
    method: 'POST',
    path: '/v2/operator/reconciliations',
    operationId: 'importStatement',
    tag: TAG,
    summary: 'Import a statement of a bank',
    description:
      'A statement of the bank account behind `clearing:<rail>` or `treasury`, of one asset: camt.053 of any version, or CSV. Its booked lines are matched with what the ledger moved on the account: the same direction, amount and a reference in common. All lines are imported, or none; the same statement again changes nothing.',
    scope: 'operator:journal',
    body: ImportRequest,
    bodyBytesMax: LIMITS.statementBytesMax,
    example: IMPORT,
    response: ImportedShape,
    problems: ['already-exists'],
    answer: IMPORTED,
    async handle({ caller, body }) {
      const { account, format, content } = body;
      const read = format === 'CSV' ? readCsv(content, assets) : await readCamt053(content, assets);
      const statementId = body.statement_id ?? read.statementId;
      if (statementId === undefined || statementId === '')
        throw invalidField('/statement_id', 'is required: the statement has no id of its own');
      requireLines(read.lines);
      const asset = read.asset!;
      const order = { account, asset, statementId, format, lines: read.lines, by: actorOf(caller) };
      const { statement, replayed } = await importStatement(database, order);
      await copyLedger(database, dependencies, { account, asset });
      const difference = await closingDifference(database, order, read.closing);
      return {
        body: {
          ...presentStatement(statement),
          ...(difference !== undefined && { closing_difference: signedAmount(assets, asset, difference) }),
        },
        replayed,
      };
    },
  });
}

function unmatchedRoute({ database, assets }: ReconciliationDependencies): Route {
  const present = ({ units, createdAtNs, causeId, statementId, ...item }: Item) => ({
    id: item.id,
    side: item.side,
    account: item.account,
    asset: item.asset,
    direction: units > 0n ? 'CREDIT' : 'DEBIT',
    amount: assets.format(item.asset, units < 0n ? -units : units),
    reference: item.reference,
    since: formatInstant(createdAtNs),
    ...(causeId !== null && { cause_id: causeId }),
    ...(statementId !== null && { imported_statement_id: statementId }),
  });
  return route({
    method: 'GET',
    path: '/v2/operator/reconciliations/unmatched',
    operationId: 'listUnmatched',
    tag: TAG,
    summary: 'List what is on one side only',
    description:
      'Lines of statements without a movement in the ledger, and movements of the ledger without a line; `created_at` is when they were booked.',
    scope: 'operator:read',
    query: UnmatchedQuery,
    response: ItemList,
    problems: [],
    answer: { items: [ITEM] },
    async handle({ query }) {
      const page = readPage(query, 'unmatched');
      const sides = query.side === undefined ? ['LEDGER', 'STATEMENT'] : [query.side];
      const found = await listOpen(database, { account: query.account, sides }, page);
      return { body: await pageOf(found, page, present) };
    },
  });
}

function matchRoutes({ database }: ReconciliationDependencies): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v2/operator/reconciliations/matches',
      operationId: 'matchItems',
      tag: TAG,
      summary: 'Match items by hand',
      description:
        'Any open items of one account and asset whose sums on both sides are equal: a payment that the bank split, or, on one side alone, a payment and its return.',
      scope: 'operator:journal',
      body: MatchRequest,
      example: { item_ids: [ITEM.id, '019bc0fd-8ba2-7545-8545-39eab207f4bd'], reason: MATCH.reason! },
      response: MatchShape,
      problems: ['invalid-state'],
      answer: MATCH,
      handle: async ({ caller, body }) => ({
        body: presentMatch(
          await matchItems(database, body.item_ids, { by: actorOf(caller), reason: body.reason }),
        ),
      }),
    }),
    route({
      method: 'POST',
      path: '/v2/operator/reconciliations/matches/{id}/remove',
      operationId: 'removeMatch',
      tag: TAG,
      summary: 'Remove a match',
      description: 'Its items are open again. They are not matched automatically a second time.',
      scope: 'operator:journal',
      params: IdParams,
      body: UnmatchRequest,
      example: { reason: REMOVED.removed_because! },
      response: MatchShape,
      problems: ['not-found'],
      answer: REMOVED,
      handle: async ({ caller, params, body }) => ({
        body: presentMatch(await unmatch(database, params.id, { by: actorOf(caller), reason: body.reason })),
      }),
    }),
  ];
}

export function reconciliationRoutes(dependencies: ReconciliationDependencies): Route[] {
  return [
    importRoute(dependencies),
    unmatchedRoute(dependencies),
    ...matchRoutes(dependencies),
    ...balanceRoutes(dependencies),
  ];
}

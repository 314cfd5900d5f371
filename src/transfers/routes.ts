import { pageText, readPage } from '../kernel/paging.ts';
import { notFound, type ProblemSlug } from '../kernel/problem.ts';
import { type Answer, type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { createdBy } from '../ledger/create.ts';
import { LIMITS } from '../limits.ts';
import type { TransferConnections } from './access.ts';
import { createBulk } from './bulk.ts';
import { BULK_ANSWER, BULK_REQUEST } from './bulk-examples.ts';
import { CRYPTO_WITHDRAWAL, INTERNAL_TRANSFER, PLATFORM_TRANSFER } from './examples.ts';
import { createInsideTransfers, type InsideTransfer, type InsideTransfers } from './inside.ts';
import { listTransfers } from './list-store.ts';
import { insideTransferCommand } from './platform.ts';
import type { TransferTables } from './request.ts';
import {
  BulkTransferRequest,
  bulkShape,
  PlatformTransferRequest,
  transferListQuery,
  transferListShape,
  transferShape,
} from './schema.ts';
import { findTransfer } from './store.ts';
import { type Transfer, transferText } from './transfer.ts';

export type TransferDependencies = TransferConnections & TransferTables;

/** Creates a transfer inside the service once; its command answers with the text itself. */
function insideTransferCreator({ database, assets }: TransferConnections, inside: InsideTransfers) {
  return async (customerId: string, transfer: InsideTransfer): Promise<Answer<never>> =>
    createdBy(await inside.submit(transfer), {
      command: transfer.command,
      async load(id) {
        const found = await findTransfer(database.of(customerId), customerId, id);
        return found && transferText(found, assets);
      },
      present: (text) => text,
    });
}

const CREATION_PROBLEMS: readonly ProblemSlug[] = [
  'exceeds-precision',
  'insufficient-funds',
  'forbidden',
  'not-found',
  'already-exists',
];

function insideRoutes(dependencies: TransferDependencies, inside: InsideTransfers): Route[] {
  const create = insideTransferCreator(dependencies, inside);
  const common = {
    method: 'POST',
    tag: 'Transfers',
    body: PlatformTransferRequest,
    response: transferShape(dependencies.networks),
    problems: CREATION_PROBLEMS,
  } as const;
  return [
    route({
      ...common,
      path: '/v2/transfer/platform',
      operationId: 'createPlatformTransfer',
      summary: 'Create a platform transfer',
      description:
        'Moves an asset between two profiles of the service. The debit side and the credit side complete in one transaction; the answer is the debit side.',
      scope: 'transfer:write_platform_transfer',
      example: {
        from_profile_id: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40',
        to_profile_id: '01981b40-0d91-7a53-8b27-64c0f1a97e15',
        asset: 'USD',
        amount: '25',
        ref_id: 'invoice-2041',
        metadata: { invoice: '2041' },
      },
      answer: PLATFORM_TRANSFER,
      examine: (caller, body) => void insideTransferCommand('PLATFORM', caller, body, dependencies),
      handle: ({ caller, body }) => create(caller.customerId, inside.prepare('PLATFORM', caller, body)),
    }),
    route({
      ...common,
      path: '/v2/transfer/internal',
      operationId: 'createInternalTransfer',
      summary: 'Create an internal transfer',
      description: 'Moves an asset between two of your own profiles.',
      scope: 'transfer:write_internal_transfer',
      example: {
        from_profile_id: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40',
        to_profile_id: '01981b40-0d91-7a53-8b27-64c0f1a97e15',
        asset: 'BTC',
        amount: '0.5',
        ref_id: 'rebalance-0117',
      },
      answer: INTERNAL_TRANSFER,
      examine: (caller, body) => void insideTransferCommand('INTERNAL', caller, body, dependencies),
      handle: ({ caller, body }) => create(caller.customerId, inside.prepare('INTERNAL', caller, body)),
    }),
  ];
}

function bulkRoute(dependencies: TransferDependencies, inside: InsideTransfers): Route {
  const create = createBulk(dependencies, inside);
  return route({
    method: 'POST',
    tag: 'Transfers',
    path: '/v2/transfer/platform/bulk',
    operationId: 'createPlatformTransfers',
    summary: 'Create many platform transfers',
    description: `Up to ${LIMITS.bulkTransfersMax} platform transfers in one request. Each is executed or refused by itself, and has its own answer; with \`atomic\`, all are executed, or none: then the answer is the problem of the transfer that was refused, with its \`index\` in \`meta\`. A \`ref_id\` is the same transfer as in a request of its own, so a request whose answer was lost can be repeated as it is. In rate limits, each transfer counts as one request.`,
    scope: 'transfer:write_platform_transfer',
    body: BulkTransferRequest,
    bodyBytesMax: LIMITS.bulkBodyBytesMax,
    response: bulkShape(dependencies.networks),
    problems: CREATION_PROBLEMS,
    countsAs: ({ transfers }) => transfers.length,
    example: BULK_REQUEST,
    answer: BULK_ANSWER,
    handle: create,
  });
}

function readRoutes({ database, assets, networks }: TransferConnections): Route[] {
  const present = (transfer: Transfer) => transferText(transfer, assets);
  return [
    route({
      method: 'GET',
      path: '/v2/transfer/transfers',
      operationId: 'listTransfers',
      tag: 'Transfers',
      summary: 'List transfers',
      scope: 'transfer:read_transfer',
      query: transferListQuery(networks),
      response: transferListShape(networks),
      problems: [],
      answer: { items: [CRYPTO_WITHDRAWAL] },
      async handle({ caller, query }) {
        const page = readPage(query, 'transfers');
        const transfers = await listTransfers(database.of(caller.customerId), caller.customerId, query, page);
        return { body: await pageText(transfers, page, present) };
      },
    }),
    route({
      method: 'GET',
      path: '/v2/transfer/transfers/{id}',
      operationId: 'getTransfer',
      tag: 'Transfers',
      summary: 'Get a transfer',
      scope: 'transfer:read_transfer',
      params: IdParams,
      response: transferShape(networks),
      problems: ['not-found'],
      answer: CRYPTO_WITHDRAWAL,
      async handle({ caller, params }) {
        const transfer = await findTransfer(database.of(caller.customerId), caller.customerId, params.id);
        if (transfer === undefined) throw notFound('transfer', params.id);
        return { body: present(transfer) };
      },
    }),
  ];
}

export function transferRoutes(dependencies: TransferDependencies): Route[] {
  const inside = createInsideTransfers(dependencies);
  return [
    ...insideRoutes(dependencies, inside),
    bulkRoute(dependencies, inside),
    ...readRoutes(dependencies),
  ];
}

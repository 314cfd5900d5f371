import type { Database } from '../database/database.ts';
import { notFound } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { createOnce } from '../ledger/create.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { type InsideKind, type InsideTables, insideTransferCommand } from './platform.ts';
import { PlatformTransferRequest, TransferShape } from './schema.ts';
import { findTransfer, newTransfers } from './store.ts';
import { presentTransfer } from './transfer.ts';

export type TransferDependencies = Omit<InsideTables, 'newTransfers'> & {
  readonly database: Database;
  readonly writePath: WritePath;
};

export function transferRoutes(dependencies: TransferDependencies): Route[] {
  const { database, writePath, assets } = dependencies;

  const insideRoute = (
    kind: InsideKind,
    definition: Pick<Route, 'path' | 'operationId' | 'summary' | 'description' | 'scope'>,
  ) =>
    route({
      ...definition,
      method: 'POST',
      tag: 'Transfers',
      body: PlatformTransferRequest,
      response: TransferShape,
      problems: ['exceeds-precision', 'insufficient-funds', 'forbidden', 'not-found', 'already-exists'],
      handle: ({ caller, body }) =>
        createOnce(writePath, {
          command: insideTransferCommand(kind, caller, body, { ...dependencies, newTransfers }),
          load: (id) => findTransfer(database, caller.customerId, id),
          present: (transfer) => presentTransfer(transfer, assets) as never,
        }),
    });

  return [
    insideRoute('PLATFORM', {
      path: '/v2/transfer/platform',
      operationId: 'createPlatformTransfer',
      summary: 'Create a platform transfer',
      description:
        'Moves an asset between two profiles of the service. Debit and credit side are completed in one transaction; the answer is the debit side.',
      scope: 'transfer:write_platform_transfer',
    }),
    insideRoute('INTERNAL', {
      path: '/v2/transfer/internal',
      operationId: 'createInternalTransfer',
      summary: 'Create an internal transfer',
      description: 'Moves an asset between two of your own profiles.',
      scope: 'transfer:write_internal_transfer',
    }),
    route({
      method: 'GET',
      path: '/v2/transfer/transfers/{id}',
      operationId: 'getTransfer',
      tag: 'Transfers',
      summary: 'Get a transfer',
      scope: 'transfer:read_transfer',
      params: IdParams,
      response: TransferShape,
      problems: ['not-found'],
      async handle({ caller, params }) {
        const transfer = await findTransfer(database, caller.customerId, params.id);
        if (transfer === undefined) throw notFound('transfer', params.id);
        return { body: presentTransfer(transfer, assets) as never };
      },
    }),
  ];
}

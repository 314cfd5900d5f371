import { Type } from 'typebox';
import type { Database } from '../database/database.ts';
import { formatInstant } from '../kernel/instant.ts';
import { listQuery, listShape, pageOf, readPage } from '../kernel/paging.ts';
import { type Route, route } from '../kernel/route.ts';
import { closed, DateTime, Id } from '../kernel/shapes.ts';
import { RAIL_CONTRADICTION } from '../transfers/examples.ts';
import { listContradictions } from './payout-store.ts';

const ContradictionShape = Type.Object(
  {
    transfer_id: Id('The withdrawal'),
    rail: Type.String({ description: 'Who said so' }),
    reported: Type.Enum(['COMPLETED', 'FAILED']),
    recorded: Type.Enum(['PENDING', 'COMPLETED', 'FAILED'], {
      description: 'PENDING: that rail was not asked to pay it',
    }),
    detail: Type.String({ description: 'What the rail said' }),
    created_at: DateTime('When it was first reported'),
  },
  { ...closed, title: 'RailContradiction' },
);

/** What people have to look at. */
export function operatorTransferRoutes({ database }: { readonly database: Database }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v2/operator/rail-contradictions',
      operationId: 'listRailContradictions',
      tag: 'Operator',
      summary: 'List reports of rails that contradict the record of a withdrawal',
      description:
        'Nothing was posted for these reports: a withdrawal ends once, and only by the rail that was asked to pay it.',
      scope: 'operator:review',
      query: listQuery({}, ['created_at']),
      response: listShape(ContradictionShape, 'RailContradictionList'),
      problems: [],
      answer: { items: [RAIL_CONTRADICTION] },
      async handle({ query }) {
        const page = readPage(query, 'contradictions');
        const rows = await listContradictions(database, page);
        const body = pageOf(rows, page, ({ transferId, rail, reported, recorded, detail, atNs }) => ({
          transfer_id: transferId,
          rail,
          reported,
          recorded,
          detail,
          created_at: formatInstant(atNs),
        }));
        return { body };
      },
    }),
  ];
}

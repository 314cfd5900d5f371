import type { Database } from '../database/database.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { invalidField, notFound } from '../kernel/problem.ts';
import { type Caller, type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { freeze, lift, type UnderWay } from './act.ts';
import { FREEZE, FROZEN, LIFTED } from './examples.ts';
import { presentFreeze, presentFrozen } from './freeze.ts';
import { FreezeList, FreezeQuery, FreezeRequest, FreezeShape, FrozenShape, LiftQuery } from './schema.ts';
import { findFreeze, listFreezes } from './store.ts';

const TAG = 'Operator';

const byOf = ({ clientId }: Caller): string => `client:${clientId}`;

const FREEZE_DESCRIPTION = `Stops everything at once that moves value of a profile, an identity (the requests that name it, and the profiles of the accounts that it owns), a customer, or the whole platform: new transfers, withdrawals that were accepted and not handed to a rail, affirmations and settlements. Deposits that arrive are credited, and cannot be used. Other customers get the answer for an unknown profile.

The answer comes when transactions and calls of rails that began before the freeze have ended: nothing is submitted to a rail after it, unless \`in_force\` is false or \`submissions_under_way\` is not 0. What is frozen already keeps its freeze.`;

export const freezeRoutes = (database: Database, underWay: readonly UnderWay[]): Route[] => [
  ...writeRoutes(database, underWay),
  ...readRoutes(database),
];

function writeRoutes(database: Database, underWay: readonly UnderWay[]): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v2/operator/freezes',
      operationId: 'createFreeze',
      tag: TAG,
      summary: 'Freeze a profile, an identity, a customer or the platform',
      description: FREEZE_DESCRIPTION,
      scope: 'operator:admin',
      body: FreezeRequest,
      example: { scope: 'PROFILE', subject_id: FREEZE.subject_id, reason: FREEZE.reason },
      response: FrozenShape,
      problems: ['not-found'],
      answer: FROZEN,
      async handle({ caller, body, rest }) {
        const { scope, subject_id: subjectId, reason } = body;
        if ((scope === 'PLATFORM') !== (subjectId === undefined))
          throw invalidField(
            '/subject_id',
            scope === 'PLATFORM' ? 'must be absent for the platform' : 'is required',
          );
        const order = { scope, subjectId: subjectId ?? null, reason, frozenBy: byOf(caller) };
        return { body: presentFrozen(await rest(freeze(database, order, underWay))) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/v2/operator/freezes/{id}',
      operationId: 'liftFreeze',
      tag: TAG,
      summary: 'Lift a freeze',
      description:
        'What waited goes on, unless another freeze stops it: withdrawals are submitted, and settlement transactions settle if their window is open.',
      scope: 'operator:admin',
      params: IdParams,
      query: LiftQuery,
      response: FreezeShape,
      problems: ['not-found', 'invalid-state'],
      answer: LIFTED,
      handle: async ({ caller, params, query }) => ({
        body: presentFreeze(await lift(database, params.id, byOf(caller), query.reason)),
      }),
    }),
  ];
}

function readRoutes(database: Database): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v2/operator/freezes',
      operationId: 'listFreezes',
      tag: TAG,
      summary: 'List freezes',
      scope: 'operator:read',
      query: FreezeQuery,
      response: FreezeList,
      problems: [],
      answer: { items: [FREEZE] },
      async handle({ query }) {
        const page = readPage(query, 'freezes');
        const found = await listFreezes(database, query, page);
        return { body: await pageOf(found, page, presentFreeze) };
      },
    }),
    route({
      method: 'GET',
      path: '/v2/operator/freezes/{id}',
      operationId: 'getFreeze',
      tag: TAG,
      summary: 'Get a freeze',
      scope: 'operator:read',
      params: IdParams,
      response: FreezeShape,
      problems: ['not-found'],
      answer: FREEZE,
      async handle({ params }) {
        const found = await findFreeze(database, params.id);
        if (found === undefined) throw notFound('freeze', params.id);
        return { body: presentFreeze(found) };
      },
    }),
  ];
}

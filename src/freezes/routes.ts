import { type Declare, privileged } from '../approvals/action.ts';
import type { Database } from '../database/database.ts';
import { actorOf } from '../kernel/actor.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { invalidField, notFound } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { freeze, knownFreeze, lift, type UnderWay, untilFrozen } from './act.ts';
import { freezeCommand, liftCommand } from './commands.ts';
import { FREEZE, FROZEN, LIFTED } from './examples.ts';
import { type Freeze, presentFreeze, presentFrozen, type Subject, subjectText } from './freeze.ts';
import { FreezeList, FreezeQuery, FreezeRequest, FreezeShape, FrozenShape, LiftRequest } from './schema.ts';
import { findFreeze, listFreezes } from './store.ts';

const TAG = 'Operator';

const FREEZE_DESCRIPTION = `Stops everything at once that moves value of a profile, an identity (the requests that name it, and the profiles of the accounts that it owns), a customer, or the whole platform: new transfers, withdrawals that were accepted and not handed to a rail, affirmations and settlements. Deposits that arrive are credited, and cannot be used. Other customers get the answer for an unknown profile.

The answer comes when transactions and calls of rails that began before the freeze have ended: nothing is submitted to a rail after it, unless \`in_force\` is false or \`submissions_under_way\` is not 0. What is frozen already keeps its freeze.`;

export type FreezeParts = {
  readonly declare: Declare;
  readonly database: Database;
  readonly underWay: readonly UnderWay[];
};

export const freezeRoutes = (parts: FreezeParts): Route[] => [
  ...writeRoutes(parts),
  ...readRoutes(parts.database),
];

type FreezeProposal = Subject & { readonly reason: string };

/** What waits for approval where four eyes are required. The command line freezes at once. */
function declareActions({ declare, database, underWay }: FreezeParts) {
  const result = ({ id }: Freeze) => ({ type: 'freeze', id });
  const proposeFreeze = declare<FreezeProposal, Freeze>({
    name: 'freeze.create',
    level: 'OPERATOR',
    summary: (asked) => `Freeze ${subjectText(asked)}. ${asked.reason}`,
    command: async ({ actor }, { scope, subjectId, reason }) =>
      freezeCommand({ scope, subjectId, reason, actor }),
    result,
    inForce: () => untilFrozen(database, underWay),
  });
  const proposeLift = declare<{ readonly id: string; readonly reason: string }, Freeze>({
    name: 'freeze.lift',
    level: 'OPERATOR',
    summary: ({ id, reason }) => `Lift freeze ${id}. ${reason}`,
    command: async ({ actor }, { id, reason }) =>
      liftCommand(await knownFreeze(database, id), { actor, reason }),
    result,
  });
  return { proposeFreeze, proposeLift };
}

function writeRoutes(parts: FreezeParts): Route[] {
  const { database, underWay } = parts;
  const { proposeFreeze, proposeLift } = declareActions(parts);
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
      privileged: privileged('freeze.create'),
      async handle({ caller, body, rest }) {
        const { scope, subject_id: subjectId, reason } = body;
        if ((scope === 'PLATFORM') !== (subjectId === undefined))
          throw invalidField(
            '/subject_id',
            scope === 'PLATFORM'
              ? 'must be absent for the platform'
              : 'is required, unless the scope is PLATFORM',
          );
        const asked = { scope, subjectId: subjectId ?? null, reason };
        const proposed = await proposeFreeze(caller, asked);
        if (proposed !== undefined) return proposed;
        const order = { ...asked, actor: actorOf(caller) };
        return { body: presentFrozen(await rest(freeze(database, order, underWay))) };
      },
    }),
    route({
      method: 'POST',
      path: '/v2/operator/freezes/{id}/lift',
      operationId: 'liftFreeze',
      tag: TAG,
      summary: 'Lift a freeze',
      description:
        'What waited goes on, unless another freeze stops it: withdrawals are submitted, and settlement transactions settle if their window is open.',
      scope: 'operator:admin',
      params: IdParams,
      body: LiftRequest,
      example: { reason: LIFTED.lifted_because },
      response: FreezeShape,
      problems: ['not-found', 'invalid-state'],
      answer: LIFTED,
      privileged: privileged('freeze.lift'),
      async handle({ caller, params, body: { reason } }) {
        return (
          (await proposeLift(caller, { id: params.id, reason })) ?? {
            body: presentFreeze(await lift(database, params.id, actorOf(caller), reason)),
          }
        );
      },
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

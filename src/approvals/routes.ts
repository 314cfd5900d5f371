import type { Static } from 'typebox';
import type { Database } from '../database/database.ts';
import { actorOf } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { notFound } from '../kernel/problem.ts';
import { type Caller, type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { type Approval, type Level, presentApproval } from './approval.ts';
import { CLAIM, EXECUTED, OWN_CLAIM, OWN_WAITING, REJECTED, VOTE, WAITING } from './examples.ts';
import {
  ApprovalList,
  ApprovalListQuery,
  ApprovalShape,
  ApproveBody,
  ClaimShape,
  RejectBody,
} from './schema.ts';
import { approvalById, findApproval, listApprovals } from './store.ts';
import type { Voting } from './voting.ts';

export type ApprovalDependencies = {
  readonly database: Database;
  readonly clock: Clock;
  readonly voting: Voting;
};

/** The same operations for operators and for customers, who see only their own requests. */
const LEVELS = {
  OPERATOR: {
    path: '/v2/operator/approvals',
    tag: 'Operator',
    name: 'OperatorApproval',
    read: 'operator:read',
    vote: 'operator:approve',
    claim: 'operator:admin',
    of: 'of operators',
    waiting: WAITING,
  },
  CUSTOMER: {
    path: '/v2/approvals',
    tag: 'Control',
    name: 'Approval',
    read: 'control:read_approval',
    vote: 'control:approve',
    claim: 'people:write_person',
    of: 'of your customer',
    waiting: OWN_WAITING,
  },
} as const;

function finder({ database }: ApprovalDependencies, level: Level) {
  return async (caller: Caller, id: string): Promise<Approval> => {
    const found =
      level === 'OPERATOR'
        ? await approvalById(database, id)
        : await findApproval(database.of(caller.customerId), caller.customerId, id);
    if (found === undefined || found.level !== level) throw notFound('approval', id);
    return found;
  };
}

function readRoutes(dependencies: ApprovalDependencies, level: Level): Route[] {
  const { database, clock } = dependencies;
  const { path, tag, name, read: scope, of, waiting } = LEVELS[level];
  const find = finder(dependencies, level);
  return [
    route({
      method: 'GET',
      path,
      operationId: `list${name}s`,
      tag,
      summary: 'List requests that need approval',
      description: `Privileged actions ${of} that wait for others, and those that were decided.`,
      scope,
      query: ApprovalListQuery,
      response: ApprovalList,
      problems: [],
      answer: { items: [waiting] },
      async handle({ caller, query }) {
        const page = readPage(query, `${level.toLowerCase()}-approvals`);
        const { customerId } = caller;
        const now = clock.now();
        const filters = { ...query, level, now };
        const rows =
          level === 'OPERATOR'
            ? await listApprovals(database, filters, page)
            : await listApprovals(database.of(customerId), { ...filters, customerId }, page);
        return { body: await pageOf(rows, page, (approval) => presentApproval(approval, now)) };
      },
    }),
    route({
      method: 'GET',
      path: `${path}/{id}`,
      operationId: `get${name}`,
      tag,
      summary: 'Get a request that needs approval',
      scope,
      params: IdParams,
      response: ApprovalShape,
      problems: ['not-found'],
      answer: waiting,
      handle: async ({ caller, params }) => ({
        body: presentApproval(await find(caller, params.id), clock.now()),
      }),
    }),
  ];
}

function voteRoutes(dependencies: ApprovalDependencies, level: Level): Route[] {
  const { voting } = dependencies;
  const { path, tag, name, vote: scope } = LEVELS[level];
  const find = finder(dependencies, level);
  const shown = <Shape extends object>(shape: Shape) => ({ ...shape, level });
  const common = {
    method: 'POST',
    tag,
    scope,
    params: IdParams,
    response: ApprovalShape,
    example: VOTE,
  } as const;
  return [
    route({
      ...common,
      privileged: { action: 'approval.approve' },
      path: `${path}/{id}/approve`,
      operationId: `approve${name}`,
      summary: 'Approve a request',
      description:
        'Requires the `digest` that you have seen. The maker cannot approve, nor another client of the same person. The vote that reaches the quorum executes the action in the same transaction; if the action is refused then, the request is FAILED, with the problem.',
      body: ApproveBody,
      problems: ['not-found', 'forbidden', 'invalid-state', 'digest-mismatch'],
      answer: shown(EXECUTED),
      async handle({ caller, params: { id }, body: { digest, reason = null } }) {
        await find(caller, id);
        return {
          body: presentApproval(await voting.approve({ id, voter: actorOf(caller), digest, reason })),
        };
      },
    }),
    route({
      ...common,
      privileged: { action: 'approval.reject' },
      path: `${path}/{id}/reject`,
      operationId: `reject${name}`,
      summary: 'Reject a request',
      description:
        'Ends the request; nothing is executed. The maker can withdraw a request in this way, too.',
      body: RejectBody,
      problems: ['not-found', 'invalid-state', 'digest-mismatch'],
      answer: shown(REJECTED),
      async handle({ caller, params: { id }, body: { digest, reason } }) {
        await find(caller, id);
        return { body: presentApproval(await voting.reject({ id, voter: actorOf(caller), digest, reason })) };
      },
    }),
  ];
}

function claimRoute(dependencies: ApprovalDependencies, level: Level): Route {
  const { path, tag, name, claim: scope } = LEVELS[level];
  const find = finder(dependencies, level);
  return route({
    method: 'POST',
    path: `${path}/{id}/claim`,
    operationId: `claim${name}`,
    tag,
    scope,
    summary: 'Take the secret or the enrolment link that a request of yours made',
    description:
      'Only for the maker of a request that was executed, once, within seven days. The secret is made now, and only its hash is stored: if the answer is lost, propose a new one.',
    params: IdParams,
    response: ClaimShape,
    problems: ['not-found', 'forbidden', 'invalid-state', 'digest-mismatch'],
    answer: level === 'OPERATOR' ? CLAIM : OWN_CLAIM,
    privileged: { action: 'approval.claim' },
    async handle({ caller, params: { id } }) {
      await find(caller, id);
      return { body: (await dependencies.voting.claim(id, actorOf(caller))) as Static<typeof ClaimShape> };
    },
  });
}

export function approvalRoutes(dependencies: ApprovalDependencies): Route[] {
  return (['OPERATOR', 'CUSTOMER'] as const).flatMap((level) => [
    ...readRoutes(dependencies, level),
    ...voteRoutes(dependencies, level),
    claimRoute(dependencies, level),
  ]);
}

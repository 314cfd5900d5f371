import type { Database } from '../database/database.ts';
import { parseInstant } from '../kernel/instant.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { invalidField } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { change, type FiatAccountTables, reviewFiatAccountCommand } from './commands.ts';
import { ACCOUNT_TO_REVIEW, APPROVED_ACCOUNT, REJECTED_ACCOUNT } from './examples.ts';
import { type FiatAccount, type Networks, presentFiatAccount } from './fiat-account.ts';
import { listForReview } from './list-store.ts';
import { findingsOf, type Review } from './rules.ts';
import {
  ApproveRequest,
  fiatAccountShape,
  RejectRequest,
  ReviewQueueQuery,
  reviewQueue,
  SandboxReviewRequest,
} from './schema.ts';

type ReviewDependencies = { readonly database: Database; readonly writePath: WritePath };

function presentForReview(account: FiatAccount, networks: Networks) {
  return {
    customer_id: account.customerId,
    ...presentFiatAccount(account, networks),
    findings: findingsOf(account),
  };
}

/** The time of the last change that the reviewer saw, to the nanosecond. */
function seenAt(updatedAt: string | undefined): bigint | undefined {
  if (updatedAt === undefined) return undefined;
  const instant = parseInstant(updatedAt);
  if (instant === undefined) throw invalidField('/updated_at', 'must be an RFC 3339 time');
  return instant;
}

/** Reviews by operators, who see the accounts of all customers, and by users of the sandbox, who see their own. */
export function reviewRoutes(
  { database, writePath }: ReviewDependencies,
  tables: FiatAccountTables,
): Route[] {
  const { networks } = tables;
  const operator = {
    tag: 'Operator',
    scope: 'operator:review',
    params: IdParams,
    response: fiatAccountShape(networks),
    problems: ['not-found', 'invalid-state'],
  } as const;
  return [
    sandboxRoute(writePath, tables, 'approve', 'APPROVED'),
    sandboxRoute(writePath, tables, 'reject', 'REJECTED'),
    route({
      method: 'GET',
      path: '/v2/operator/fiat-accounts',
      operationId: 'listFiatAccountsForReview',
      tag: operator.tag,
      summary: 'List fiat accounts to review',
      description:
        'Accounts of all customers, with the findings of the automatic checks. Deleted accounts are not listed.',
      scope: operator.scope,
      query: ReviewQueueQuery,
      response: reviewQueue(networks),
      problems: [],
      answer: { items: [ACCOUNT_TO_REVIEW] },
      async handle({ query }) {
        const page = readPage(query, 'reviews');
        const filters = { ...query, statuses: query.statuses ?? ['PENDING'] };
        const rows = await listForReview(database, filters, page);
        return { body: await pageOf(rows, page, (account) => presentForReview(account, networks)) };
      },
    }),
    route({
      ...operator,
      method: 'POST',
      path: '/v2/operator/fiat-accounts/{id}/approve',
      operationId: 'approveFiatAccount',
      summary: 'Approve a fiat account',
      body: ApproveRequest,
      example: { reason: 'The bank has confirmed the owner.' },
      answer: APPROVED_ACCOUNT,
      async handle({ params, body }) {
        const review: Review = { status: 'APPROVED', reason: body?.reason ?? 'Approved by an operator.' };
        const scope = { customerId: undefined, seenAtNs: seenAt(body?.updated_at) };
        return change(writePath, networks, reviewFiatAccountCommand(params.id, review, scope, tables));
      },
    }),
    route({
      ...operator,
      method: 'POST',
      path: '/v2/operator/fiat-accounts/{id}/reject',
      operationId: 'rejectFiatAccount',
      summary: 'Reject a fiat account',
      body: RejectRequest,
      example: { reason: 'The bank has no such account.' },
      answer: REJECTED_ACCOUNT,
      async handle({ params, body }) {
        const review: Review = { status: 'REJECTED', reason: body.reason };
        const scope = { customerId: undefined, seenAtNs: seenAt(body.updated_at) };
        return change(writePath, networks, reviewFiatAccountCommand(params.id, review, scope, tables));
      },
    }),
  ];
}

function sandboxRoute(
  writePath: WritePath,
  tables: FiatAccountTables,
  verb: 'approve' | 'reject',
  status: Review['status'],
): Route {
  return route({
    method: 'POST',
    path: `/v2/sandbox/fiat-accounts/{id}/${verb}`,
    operationId: verb === 'approve' ? 'simulateFiatAccountApproval' : 'simulateFiatAccountRejection',
    tag: 'Sandbox',
    summary: verb === 'approve' ? 'Approve one of your fiat accounts' : 'Reject one of your fiat accounts',
    scope: 'sandbox:simulate',
    sandboxOnly: true,
    params: IdParams,
    body: SandboxReviewRequest,
    example: { reason: verb === 'approve' ? 'Looks right.' : 'Looks wrong.' },
    response: fiatAccountShape(tables.networks),
    problems: ['not-found', 'invalid-state'],
    answer: verb === 'approve' ? APPROVED_ACCOUNT : REJECTED_ACCOUNT,
    async handle({ caller, params, body }) {
      const review: Review = { status, reason: body?.reason ?? `${status} in the sandbox.` };
      return change(
        writePath,
        tables.networks,
        reviewFiatAccountCommand(params.id, review, { customerId: caller.customerId }, tables),
      );
    },
  });
}

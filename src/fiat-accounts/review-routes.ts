import { type Declare, privileged } from '../approvals/action.ts';
import type { Database } from '../database/database.ts';
import { type Actor, actorOf } from '../kernel/actor.ts';
import { canonicalText } from '../kernel/canonical.ts';
import { formatInstant } from '../kernel/instant.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { PRIVILEGED_ACTIONS } from '../kernel/privileged.ts';
import { notFound } from '../kernel/problem.ts';
import { type Caller, type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import type { Vault } from '../kernel/vault.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { answerFiatAccount, change, type FiatAccountTables, reviewFiatAccountCommand } from './commands.ts';
import {
  ACCOUNT_TO_REVIEW,
  APPROVED_ACCOUNT,
  DIGEST,
  REJECTED_ACCOUNT,
  VIEW,
  VIEWED_ACCOUNT,
} from './examples.ts';
import { type FiatAccount, presentWhole } from './fiat-account.ts';
import { listForReview } from './list-store.ts';
import { transliterationsOf } from './network-text.ts';
import { findingsOf, type Review } from './rules.ts';
import {
  ApproveRequest,
  fiatAccountShape,
  RejectRequest,
  ReviewQueueQuery,
  reviewQueue,
  SandboxReviewRequest,
  ViewList,
  ViewListQuery,
  viewedAccountShape,
} from './schema.ts';
import { type AccountView, findForReview, listViews, recordView } from './view-store.ts';

type ReviewDependencies = {
  readonly declare: Declare;
  readonly database: Database;
  readonly writePath: WritePath;
  readonly vault: Vault;
};

const OPERATOR = { tag: 'Operator', scope: 'operator:review' } as const;

/** Reviews by operators, who see the accounts of all customers, and by users of the sandbox, who see their own. */
export function reviewRoutes(dependencies: ReviewDependencies, tables: FiatAccountTables): Route[] {
  const digest = dependencies.vault.digester('fiat_accounts.review');
  // Keyed, because an account number has so few digits that all of them could be tried against a plain digest.
  const digestOf = (account: FiatAccount): string => digest(canonicalText(presentWhole(account)));
  return [
    sandboxRoute(dependencies.writePath, tables, 'approve', 'APPROVED'),
    sandboxRoute(dependencies.writePath, tables, 'reject', 'REJECTED'),
    queueRoute(dependencies, tables),
    ...viewRoutes(dependencies, tables, digestOf),
    ...decisionRoutes(dependencies, tables, digestOf),
  ];
}

function queueRoute({ database }: ReviewDependencies, { networks }: FiatAccountTables): Route {
  return route({
    ...OPERATOR,
    method: 'GET',
    path: '/v2/operator/fiat-accounts',
    operationId: 'listFiatAccountsForReview',
    summary: 'List fiat accounts to review',
    description:
      'Accounts of all customers, with the findings of the automatic checks. Deleted accounts are not listed.',
    query: ReviewQueueQuery,
    response: reviewQueue(networks),
    problems: [],
    answer: { items: [ACCOUNT_TO_REVIEW] },
    async handle({ query }) {
      const page = readPage(query, 'reviews');
      const filters = { ...query, statuses: query.statuses ?? ['PENDING'] };
      const rows = await listForReview(database, filters, page);
      const present = (account: FiatAccount) => ({
        customer_id: account.customerId,
        ...answerFiatAccount(account, networks),
        findings: findingsOf(account),
      });
      return { body: await pageOf(rows, page, present) };
    },
  });
}

function viewRoutes(
  { database }: ReviewDependencies,
  { networks }: FiatAccountTables,
  digestOf: (account: FiatAccount) => string,
): Route[] {
  const present = ({ id, customerId, clientId, digest, createdAtNs }: AccountView) => ({
    id,
    customer_id: customerId,
    client_id: clientId,
    digest,
    created_at: formatInstant(createdAtNs),
  });
  return [
    route({
      ...OPERATOR,
      method: 'GET',
      path: '/v2/operator/fiat-accounts/{id}',
      operationId: 'viewFiatAccountForReview',
      summary: 'View a fiat account to review it',
      description:
        'Shows the whole account number, and a `digest` of this version of the account, which approving or rejecting it requires. Every view is recorded.',
      params: IdParams,
      response: viewedAccountShape(networks),
      problems: ['not-found'],
      answer: VIEWED_ACCOUNT,
      async handle({ caller, params }) {
        const account = await findForReview(database, params.id);
        if (account === undefined || account.deletedAtNs !== null) throw notFound('fiat account', params.id);
        const digest = digestOf(account);
        const { customerId, clientId } = caller;
        // Recorded before it is shown: nobody sees a number without a trace.
        await recordView(database, account.id, { customerId, clientId, digest });
        return {
          body: {
            ...presentWhole(account),
            ...transliterationsOf(account),
            findings: findingsOf(account),
            digest,
          },
        };
      },
    }),
    route({
      ...OPERATOR,
      method: 'GET',
      path: '/v2/operator/fiat-accounts/{id}/views',
      operationId: 'listFiatAccountViews',
      summary: 'List who viewed a fiat account',
      description: 'Every view of the whole account number, also after the account was deleted.',
      params: IdParams,
      query: ViewListQuery,
      response: ViewList,
      problems: ['not-found'],
      answer: { items: [VIEW] },
      async handle({ params, query }) {
        const page = readPage(query, 'fiat-account-views');
        if ((await findForReview(database, params.id)) === undefined)
          throw notFound('fiat account', params.id);
        return { body: await pageOf(await listViews(database, params.id, page), page, present) };
      },
    }),
  ];
}

/** A review, and the digest of the version that the reviewer was shown. */
type Reviewing = {
  readonly id: string;
  readonly status: Review['status'];
  readonly reason: string;
  readonly digest: string;
};

function decisionRoutes(
  { writePath, declare }: ReviewDependencies,
  tables: FiatAccountTables,
  digestOf: (account: FiatAccount) => string,
): Route[] {
  const { networks } = tables;
  const decision = {
    ...OPERATOR,
    method: 'POST',
    description:
      'Requires the `digest` of the version that you viewed. If the account has changed since, or another reviewer has decided, the answer is a 409: view it again.',
    params: IdParams,
    response: fiatAccountShape(networks),
    problems: ['not-found', 'invalid-state'],
  } as const;
  const commandOf = (actor: Actor, { id, status, reason, digest }: Reviewing) => {
    const wasShown = (account: FiatAccount): boolean => digestOf(account) === digest;
    const scope = { customerId: undefined, wasShown };
    return reviewFiatAccountCommand(actor, id, { status, reason }, scope, tables);
  };
  const declared = (name: 'fiat_account.approve' | 'fiat_account.reject') =>
    declare<Reviewing, FiatAccount>({
      name,
      level: 'OPERATOR',
      summary: ({ id, reason }) => `${PRIVILEGED_ACTIONS[name]}: ${id}. ${reason}`,
      command: async ({ actor }, asked) => commandOf(actor, asked),
      result: ({ id }) => ({ type: 'fiat_account', id }),
    });
  const propose = {
    APPROVED: declared('fiat_account.approve'),
    REJECTED: declared('fiat_account.reject'),
  };
  const decide = async (caller: Caller, asked: Reviewing) =>
    (await propose[asked.status](caller, asked)) ??
    change(writePath, networks, commandOf(actorOf(caller), asked));
  return [
    route({
      ...decision,
      privileged: privileged('fiat_account.approve'),
      path: '/v2/operator/fiat-accounts/{id}/approve',
      operationId: 'approveFiatAccount',
      summary: 'Approve a fiat account',
      body: ApproveRequest,
      example: { digest: DIGEST, reason: 'The bank has confirmed the owner.' },
      answer: APPROVED_ACCOUNT,
      handle: ({ caller, params, body: { digest, reason = 'Approved by an operator.' } }) =>
        decide(caller, { id: params.id, status: 'APPROVED', reason, digest }),
    }),
    route({
      ...decision,
      privileged: privileged('fiat_account.reject'),
      path: '/v2/operator/fiat-accounts/{id}/reject',
      operationId: 'rejectFiatAccount',
      summary: 'Reject a fiat account',
      body: RejectRequest,
      example: { digest: DIGEST, reason: 'The bank has no such account.' },
      answer: REJECTED_ACCOUNT,
      handle: ({ caller, params, body: { digest, reason } }) =>
        decide(caller, { id: params.id, status: 'REJECTED', reason, digest }),
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
    answer: verb === 'approve' ? APPROVED_ACCOUNT : { ...REJECTED_ACCOUNT, reason: 'Looks wrong.' },
    async handle({ caller, params, body }) {
      const review: Review = { status, reason: body?.reason ?? `${status} in the sandbox.` };
      return change(
        writePath,
        tables.networks,
        reviewFiatAccountCommand(
          actorOf(caller),
          params.id,
          review,
          { customerId: caller.customerId },
          tables,
        ),
      );
    },
  });
}

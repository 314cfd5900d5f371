import { privileged } from '../approvals/action.ts';
import type { Database } from '../database/database.ts';
import { CREDITED_DEPOSIT } from '../deposits/examples.ts';
import { newId } from '../kernel/id.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { notFound } from '../kernel/problem.ts';
import { type Answer, type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { createOnce } from '../ledger/create.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { transferShape } from '../transfers/schema.ts';
import { presentTransfer } from '../transfers/transfer.ts';
import { type Booker, type Booking, bookerOf, journalCommand } from './command.ts';
import { presentEntry } from './entry.ts';
import { CANCELLED, RESOLVED, WRITE_OFF, WRITE_OFF_REQUEST } from './examples.ts';
import { kindsInWords } from './kinds.ts';
import { listEntries } from './list-store.ts';
import { readOrder } from './order.ts';
import type { Parts } from './plan.ts';
import { bookingOf, type JournalProposals, ORDERS } from './privileged.ts';
import {
  CancelRequest,
  CreditSuspenseRequest,
  JournalEntryShape,
  JournalList,
  JournalListQuery,
  journalRequest,
  ResolveRequest,
} from './schema.ts';
import { findEntry } from './store.ts';

export type JournalDependencies = Parts & { readonly database: Database; readonly writePath: WritePath };

type RouteDependencies = JournalDependencies & { readonly propose: JournalProposals };

const TAG = 'Operator';

/** Books it once, however often it is requested. */
export async function book(dependencies: JournalDependencies, booker: Booker, booking: Booking) {
  const { database, writePath, tables } = dependencies;
  return createOnce(writePath, {
    command: await journalCommand(booker, booking, dependencies),
    load: (id) => findEntry(database, id),
    present: (entry) => presentEntry(entry, tables.assets),
  });
}

const BOOK_DESCRIPTION = `Moves value that no customer requested, with a reason, a reference and the caller as the actor. \`reference\` is the bank's reference or the transaction hash if money arrives, and unique within \`rail\` and \`account\`: the same money is booked once, by hand or by a rail. The owners of the profiles get events, with \`note\`.\n\n${kindsInWords()}`;

function entryRoutes(dependencies: RouteDependencies): Route[] {
  const { database, tables } = dependencies;
  const { assets, networks } = tables;
  return [
    route({
      method: 'POST',
      path: '/v2/operator/journal-entries',
      operationId: 'bookJournalEntry',
      tag: TAG,
      summary: 'Book a journal entry',
      description: BOOK_DESCRIPTION,
      scope: 'operator:journal',
      body: journalRequest(networks),
      example: WRITE_OFF_REQUEST,
      response: JournalEntryShape,
      problems: [
        'exceeds-precision',
        'insufficient-funds',
        'forbidden',
        'not-found',
        'already-exists',
        'invalid-state',
      ],
      answer: WRITE_OFF,
      examine: (_caller, body) => void readOrder(body, tables),
      privileged: privileged('journal_entry.book'),
      async handle({ caller, body }) {
        const order = readOrder(body, tables);
        return (
          (await dependencies.propose['journal_entry.book'](caller, body)) ??
          book(dependencies, bookerOf(caller), bookingOf(order, body, dependencies))
        );
      },
    }),
    route({
      method: 'GET',
      path: '/v2/operator/journal-entries',
      operationId: 'listJournalEntries',
      tag: TAG,
      summary: 'List journal entries',
      scope: 'operator:read',
      query: JournalListQuery,
      response: JournalList,
      problems: [],
      answer: { items: [WRITE_OFF] },
      async handle({ caller, query }) {
        const page = readPage(query, 'journal-entries');
        const rows = await listEntries(database, caller.customerId, query, page);
        return { body: await pageOf(rows, page, (entry) => presentEntry(entry, assets)) };
      },
    }),
    route({
      method: 'GET',
      path: '/v2/operator/journal-entries/{id}',
      operationId: 'getJournalEntry',
      tag: TAG,
      summary: 'Get a journal entry',
      scope: 'operator:read',
      params: IdParams,
      response: JournalEntryShape,
      problems: ['not-found'],
      answer: WRITE_OFF,
      async handle({ params }) {
        const entry = await findEntry(database, params.id);
        if (entry === undefined) throw notFound('journal entry', params.id);
        return { body: presentEntry(entry, assets) };
      },
    }),
  ];
}

function withdrawalRoutes(dependencies: RouteDependencies): Route[] {
  const common = {
    method: 'POST',
    tag: TAG,
    scope: 'operator:journal',
    params: IdParams,
    response: JournalEntryShape,
    problems: ['not-found', 'already-exists', 'invalid-state'],
  } as const;
  return [
    route({
      ...common,
      path: '/v2/operator/withdrawals/{id}/resolve',
      operationId: 'resolveWithdrawal',
      summary: 'Resolve a withdrawal whose rail cannot tell',
      description:
        'Ends a withdrawal that was submitted, by the evidence in `reference`. What the rail reports afterwards moves nothing: if it differs, it is listed as a contradiction. The operation is refused while the withdrawal is QUEUED, and while it is being submitted.',
      body: ResolveRequest,
      example: {
        outcome: 'NOT_PAID',
        ref_id: 'resolution-0001',
        reason: 'The custodian has no such transaction, and confirms that in writing.',
        reference: 'CASE-1043',
      },
      answer: RESOLVED,
      privileged: privileged('withdrawal.resolve'),
      async handle({ caller, params, body }) {
        const asked = { ...body, transfer_id: params.id };
        const order = ORDERS['withdrawal.resolve'](asked);
        return (
          (await dependencies.propose['withdrawal.resolve'](caller, asked)) ??
          book(dependencies, bookerOf(caller), bookingOf(order, asked, dependencies))
        );
      },
    }),
    route({
      ...common,
      path: '/v2/operator/withdrawals/{id}/cancel',
      operationId: 'cancelWithdrawal',
      summary: 'Cancel a withdrawal that was not submitted yet',
      description: 'Only while the withdrawal is QUEUED, or waits for its fiat account. Its total returns.',
      body: CancelRequest,
      example: {
        ref_id: 'cancellation-0001',
        reason: 'The customer called: wrong address.',
        reference: 'CASE-1044',
      },
      answer: CANCELLED,
      privileged: privileged('withdrawal.cancel'),
      async handle({ caller, params, body }) {
        const asked = { ...body, transfer_id: params.id };
        const order = ORDERS['withdrawal.cancel'](asked);
        return (
          (await dependencies.propose['withdrawal.cancel'](caller, asked)) ??
          book(dependencies, bookerOf(caller), bookingOf(order, asked, dependencies))
        );
      },
    }),
  ];
}

function suspenseRoute(dependencies: RouteDependencies): Route {
  const { tables, sources } = dependencies;
  return route({
    method: 'POST',
    path: '/v2/operator/suspense-deposits/{id}/credit',
    operationId: 'creditSuspenseDeposit',
    tag: TAG,
    summary: 'Credit a deposit in suspense',
    description:
      'The same as a journal entry of the kind SUSPENSE_CREDIT; without a reason and a reference, the entry names the deposit.',
    scope: 'operator:review',
    params: IdParams,
    body: CreditSuspenseRequest,
    example: { profile_id: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40' },
    response: transferShape(tables.networks),
    problems: ['not-found', 'forbidden', 'already-exists', 'invalid-state'],
    answer: CREDITED_DEPOSIT,
    privileged: privileged('suspense_deposit.credit'),
    async handle({ caller, params, body }): Promise<Answer<never>> {
      const { profile_id: profileId, ref_id: refId = newId(), ...said } = body;
      const suspense = await sources.origins.suspense(params.id);
      if (suspense === undefined) throw notFound('suspense deposit', params.id);
      const asked = {
        reason: `Credited from suspense: ${suspense.reason}`,
        reference: suspense.reference,
        ...said,
        ref_id: refId,
        profile_id: profileId,
        suspense_deposit_id: params.id,
      };
      const proposed = await dependencies.propose['suspense_deposit.credit'](caller, asked);
      if (proposed !== undefined) return proposed;
      const order = ORDERS['suspense_deposit.credit'](asked);
      const booked = await book(dependencies, bookerOf(caller), bookingOf(order, asked, dependencies));
      const transfer = await sources.transfers.byId(booked.body.transfer_id!);
      return { ...booked, body: presentTransfer(transfer!, tables.assets) as never };
    },
  });
}

export function journalRoutes(dependencies: RouteDependencies): Route[] {
  return [...entryRoutes(dependencies), ...withdrawalRoutes(dependencies), suspenseRoute(dependencies)];
}

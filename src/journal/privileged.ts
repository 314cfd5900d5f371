import type { Declare, Maker, PrivilegedAction, Propose } from '../approvals/action.ts';
import { PRIVILEGED_ACTIONS, type PrivilegedName } from '../kernel/privileged.ts';
import type { Command } from '../ledger/command.ts';
import { comparable, journalCommand } from './command.ts';
import type { JournalEntry } from './entry.ts';
import { type Order, readOrder } from './order.ts';
import type { Parts } from './plan.ts';
import type { JournalBody } from './schema.ts';

/** What every booking has. */
export type Common = {
  readonly ref_id: string;
  readonly reason: string;
  readonly reference: string;
  readonly note?: string;
};

export function bookingOf(order: Order, body: Common, { tables }: Parts) {
  const { ref_id: refId, reason, reference, note = null } = body;
  const request = comparable({ ...body, operation: order.kind }, order, tables.assets);
  return { order, refId, reason, reference, note, request };
}

type Ending = Common & { readonly transfer_id: string };
type Resolving = Ending & { readonly outcome: 'PAID' | 'NOT_PAID' };
type Crediting = Common & { readonly profile_id: string; readonly suspense_deposit_id: string };

/** The orders behind the operations, from what was asked for: at once, or when it is approved. */
export const ORDERS = {
  'journal_entry.book': (asked: JournalBody, { tables }: Parts): Order => readOrder(asked, tables),
  'withdrawal.resolve': ({ transfer_id: transferId, outcome }: Resolving): Order => ({
    kind: 'WITHDRAWAL_RESOLUTION',
    transferId,
    outcome,
  }),
  'withdrawal.cancel': ({ transfer_id: transferId }: Ending): Order => ({
    kind: 'WITHDRAWAL_CANCELLATION',
    transferId,
  }),
  'suspense_deposit.credit': ({
    suspense_deposit_id: suspenseId,
    profile_id: profileId,
  }: Crediting): Order => ({
    kind: 'SUSPENSE_CREDIT',
    suspenseId,
    profileId,
  }),
} as const;

export type JournalProposals = {
  readonly 'journal_entry.book': Propose<JournalBody>;
  readonly 'withdrawal.resolve': Propose<Resolving>;
  readonly 'withdrawal.cancel': Propose<Ending>;
  readonly 'suspense_deposit.credit': Propose<Crediting>;
};

function summaryOf(name: PrivilegedName, asked: Common): string {
  const { kind, amount, asset, transfer_id, suspense_deposit_id } = asked as Common & Record<string, string>;
  const value = amount === undefined ? '' : ` of ${amount} ${asset}`;
  const what = kind === undefined ? (transfer_id ?? suspense_deposit_id ?? '') : `${kind}${value}`;
  return `${PRIVILEGED_ACTIONS[name]}: ${what}. ${asked.reason}`;
}

/** Everything that the journal books by hand is privileged. */
export function declareJournal(declare: Declare, parts: Parts): JournalProposals {
  const declared = <Asked extends Common & Record<string, unknown>>(
    name: keyof typeof ORDERS,
    orderOf: (asked: Asked, parts: Parts) => Order,
  ): Propose<Asked> => {
    const action: PrivilegedAction<Asked, JournalEntry> = {
      name,
      level: 'OPERATOR',
      summary: (asked) => summaryOf(name, asked),
      command: (maker: Maker, asked): Promise<Command<JournalEntry>> =>
        journalCommand(maker, bookingOf(orderOf(asked, parts), asked, parts), parts),
      result: ({ id }) => ({ type: 'journal_entry', id }),
    };
    return declare(action);
  };
  return {
    'journal_entry.book': declared('journal_entry.book', ORDERS['journal_entry.book']),
    'withdrawal.resolve': declared('withdrawal.resolve', ORDERS['withdrawal.resolve']),
    'withdrawal.cancel': declared('withdrawal.cancel', ORDERS['withdrawal.cancel']),
    'suspense_deposit.credit': declared('suspense_deposit.credit', ORDERS['suspense_deposit.credit']),
  };
}

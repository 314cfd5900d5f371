import { uetrOf } from './ids.ts';
import type { FedNetwork, MessageSet } from './orders.ts';
import { notification, type Order, readOrder, type SandboxEntry, statusReport } from './sandbox-messages.ts';
import {
  type FedHeader,
  type FedOrder,
  fedArrival,
  fedId,
  fedReturn,
  fedStatus,
  readFedOrder,
} from './sandbox-pacs.ts';

/** How the sandbox bank speaks: to a customer in pain.002 and camt.054, or to a bank in pacs.002, pacs.004 and pacs.008. */

export type BankPayment = {
  readonly endToEndId: string;
  readonly uetr: string;
  readonly messageId: string;
  readonly paymentInformationId: string;
  /** The ABA number of the bank that sent it. */
  readonly sender?: string;
  readonly amount: string;
  readonly creditor: string;
  state: 'ACCEPTED' | 'PAID' | 'REJECTED' | 'RETURNED';
  dueMs: number;
};

export type Sent = { readonly id: string; readonly text: string };

/** What messages of one turn share. */
export type Turn = {
  next(): number;
  readonly at: string;
  readonly day: string;
};

export type Deposit = { readonly amount: string; readonly text: string; readonly sender: string };

export type Dialect = {
  read(bytes: Buffer): Order & { readonly sender?: string };
  /** All of the file is refused. */
  refuse(turn: Turn, order: Order, reason: string): Sent;
  /** The first answer to a file, of which some payments may be rejected. */
  answer(turn: Turn, order: Order, payments: readonly BankPayment[]): Sent;
  /** The id of the message between banks with which a payment goes out or comes back; undefined for customers. */
  messageId(turn: Turn, payment: BankPayment): string | undefined;
  /** Payments that were paid or came back, each with its entry. */
  book(turn: Turn, booked: readonly { payment: BankPayment; entry: SandboxEntry }[]): Sent[];
  arrive(turn: Turn, deposit: Deposit): { readonly entry: SandboxEntry; readonly sent: Sent[] };
};

type Account = {
  readonly account: string;
  readonly currency: { readonly code: string; readonly decimals: number };
};

const numbered = (turn: Turn, prefix: string): string => `${prefix}${String(turn.next()).padStart(10, '0')}`;

function customerDialect({ account, currency }: Account): Dialect {
  const { code: currencyCode, decimals } = currency;
  const notify = (turn: Turn, entries: readonly SandboxEntry[]): Sent => {
    const id = numbered(turn, 'NTF');
    return { id, text: notification({ id, at: turn.at, account, currency: currencyCode, entries }) };
  };
  const statusesOf = (payments: readonly BankPayment[], code: string, reason?: string) =>
    payments.map(({ endToEndId, amount }) => ({
      endToEndId,
      code,
      amount,
      currency: currencyCode,
      ...(reason !== undefined && { reason }),
    }));
  return {
    read: (bytes) => readOrder(bytes, decimals),
    refuse(turn, order, reason) {
      const id = numbered(turn, 'PSR');
      return { id, text: statusReport({ id, at: turn.at, order, group: { code: 'RJCT', reason } }) };
    },
    answer(turn, order, payments) {
      const refused = payments.filter(({ state }) => state === 'REJECTED');
      const code = refused.length === 0 ? 'ACTC' : refused.length === payments.length ? 'RJCT' : 'PART';
      const group = code === 'RJCT' ? { code, reason: 'AC04' } : { code };
      const id = numbered(turn, 'PSR');
      const statuses = statusesOf(refused, 'RJCT', 'AC04');
      return { id, text: statusReport({ id, at: turn.at, order, group, statuses }) };
    },
    messageId: () => undefined,
    book(turn, booked) {
      const paid = booked.filter(({ payment }) => payment.state === 'PAID').map(({ payment }) => payment);
      const reports = [...Map.groupBy(paid, ({ messageId }) => messageId).values()].map((some) => {
        const id = numbered(turn, 'PSR');
        const statuses = statusesOf(some, 'ACSC');
        return { id, text: statusReport({ id, at: turn.at, order: some[0]!, statuses }) };
      });
      const entries = booked.map(({ entry }) => entry);
      return [...reports, notify(turn, entries)];
    },
    arrive(turn, { amount, text, sender }) {
      const reference = numbered(turn, 'REF');
      const entry = { reference, direction: 'CRDT', amount, bookedOn: turn.day, text, sender } as const;
      return { entry, sent: [notify(turn, [entry])] };
    },
  };
}

function fedDialect(network: FedNetwork, { account, currency }: Account, own: string): Dialect {
  const head = (turn: Turn, sender: string | undefined): FedHeader => ({
    network,
    id: fedId(network, turn.day, turn.next()),
    at: turn.at,
    own: sender || own,
  });
  const status = (
    turn: Turn,
    payment: Pick<BankPayment, 'messageId' | 'uetr' | 'endToEndId' | 'sender'>,
    code: string,
    reason?: string,
  ): Sent => {
    const header = head(turn, payment.sender);
    const about = { messageId: payment.messageId, name: 'pacs.008.001.08', uetr: payment.uetr };
    const said = { endToEndId: payment.endToEndId, code, reason };
    return { id: header.id, text: fedStatus(header, about, said) };
  };
  /** FedNow settles what it has announced, and says so. */
  const settled = (turn: Turn, { id, name }: { id: string; name: string }): Sent[] => {
    if (network !== 'fednow') return [];
    const header = head(turn, own);
    return [{ id: header.id, text: fedStatus(header, { messageId: id, name }, { code: 'ACSC' }) }];
  };
  return {
    read: (bytes) => readFedOrder(bytes, currency.decimals),
    refuse: (turn, order, reason) => {
      const { sender } = order as FedOrder;
      return status(turn, { ...order.payments[0]!, messageId: order.messageId, sender }, 'RJCT', reason);
    },
    answer(turn, _, [payment]) {
      return payment!.state === 'REJECTED'
        ? status(turn, payment!, 'RJCT', 'AC04')
        : status(turn, payment!, network === 'fednow' ? 'ACTC' : 'ACSP');
    },
    messageId: (turn, payment) =>
      payment.state === 'RETURNED' ? fedId(network, turn.day, turn.next()) : payment.messageId,
    book(turn, booked) {
      return booked.flatMap(({ payment, entry }) => {
        if (payment.state === 'PAID') return [status(turn, payment, 'ACSC')];
        const { messageId, endToEndId, uetr, amount, creditor } = payment;
        const header = { ...head(turn, payment.sender), id: entry.messageId! };
        const returned = {
          messageId,
          endToEndId,
          uetr,
          amount,
          day: turn.day,
          account,
          creditor,
          reason: 'AC04',
        };
        const text = fedReturn(header, returned);
        return [{ id: header.id, text }, ...settled(turn, { id: header.id, name: 'pacs.004.001.10' })];
      });
    },
    arrive(turn, { amount, text, sender }) {
      const header = head(turn, own);
      const { id } = header;
      const arrival = { amount, day: turn.day, account, text, sender, uetr: uetrOf(id) };
      const entry = {
        reference: id,
        messageId: id,
        direction: 'CRDT',
        amount,
        bookedOn: turn.day,
        text,
        sender,
      } as const;
      const sent = [
        { id, text: fedArrival(header, arrival) },
        ...settled(turn, { id, name: 'pacs.008.001.08' }),
      ];
      return { entry, sent };
    },
  };
}

/** The ABA number is that of the operator, in its configuration. */
export const dialectOf = (messages: MessageSet, account: Account, own: string): Dialect =>
  messages === 'pain.001' ? customerDialect(account) : fedDialect(messages, account, own);

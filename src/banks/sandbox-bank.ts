import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { decimalOf, unitsOf } from './amount.ts';
import type { MessageSet } from './orders.ts';
import { type BankPayment, type Deposit, dialectOf, type Sent, type Turn } from './sandbox-dialects.ts';
import {
  type OrderedPayment,
  type SandboxBalance,
  type SandboxEntry,
  statement,
} from './sandbox-messages.ts';
import { joined, type Session, type Transport } from './transport.ts';

/**
 * A bank for tests and the sandbox: reads files of payments, and answers as a bank does. What it does with a payment depends on
 * the cents of its amount: .66 is rejected, .77 is paid and comes back, .88 waits for `slowMs`, all others are paid after
 * `payMs`. It is a bank of which the operator is a customer, or the other side of Fedwire or FedNow. Its record, in a file of its own, is the truth about what was paid.
 */
export type SandboxBankOptions = {
  readonly transport: Transport;
  /** As Ferry names them: `outgoing` has files for the bank. */
  readonly outgoing: string;
  readonly incoming: string;
  readonly account: string;
  /** As in the configuration of the rail, pain.001 by default. */
  readonly messages?: MessageSet;
  /** The ABA number of the operator who is a bank. */
  readonly aba?: string;
  readonly currency: { readonly code: string; readonly decimals: number };
  /** The path of its record. */
  readonly record: string;
  readonly payMs: number;
  readonly slowMs: number;
  readonly nowMs: () => number;
};

export type BankRecord = {
  /** The number of the next message or entry. */
  next: number;
  openingUnits: string;
  /** Message ids that it has taken. */
  files: string[];
  payments: BankPayment[];
  /** Booked since the last statement, and before. */
  unstated: SandboxEntry[];
  stated: SandboxEntry[];
};

const EMPTY: BankRecord = { next: 1, openingUnits: '0', files: [], payments: [], unstated: [], stated: [] };

const centsOf = ({ amount }: { readonly amount: string }): string => amount.slice(-2);

export type SandboxDeposit = Deposit;

const requestsOf = (record: string): string => `${record}.deposits`;

/** Lets a bank that runs in another process receive a deposit: only that process changes the record. */
export async function requestDeposit(record: string, id: string, deposit: SandboxDeposit): Promise<void> {
  const directory = requestsOf(record);
  await mkdir(directory, { recursive: true });
  await writeFile(`${directory}/${id}.tmp`, JSON.stringify(deposit));
  await rename(`${directory}/${id}.tmp`, `${directory}/${id}.json`);
}

export type { BankPayment } from './sandbox-dialects.ts';

export type SandboxBank = {
  /** Takes what is there, pays what is due, and answers. Returns how many messages it sent. */
  turn(): Promise<number>;
  /** Money arrives for the operator. */
  deposit(deposit: Deposit): Promise<string>;
  /** A statement of everything booked since the last one. */
  state(): Promise<void>;
  record(): Promise<BankRecord>;
};

export function createSandboxBank(options: SandboxBankOptions): SandboxBank {
  const { transport, outgoing, incoming, account, currency, payMs, slowMs, nowMs } = options;
  const dialect = dialectOf(
    options.messages ?? 'pain.001',
    { account, currency },
    options.aba ?? '021000021',
  );
  const time = (): string => `${new Date(nowMs()).toISOString().slice(0, 19)}Z`;
  const day = (): string => time().slice(0, 10);

  async function load(): Promise<BankRecord> {
    try {
      return JSON.parse(await readFile(options.record, 'utf8')) as BankRecord;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return structuredClone(EMPTY);
      throw error;
    }
  }
  async function save(record: BankRecord): Promise<void> {
    await writeFile(`${options.record}.tmp`, JSON.stringify(record));
    await rename(`${options.record}.tmp`, options.record);
  }
  const turnOf = (record: BankRecord): Turn => ({
    next() {
      record.next += 1;
      return record.next - 1;
    },
    at: time(),
    day: day(),
  });

  /** A message for Ferry, under the name that it is read under only when it is whole. */
  async function send(session: Session, { id, text }: Sent): Promise<void> {
    const path = joined(incoming, `${id}.xml`);
    await session.write(`${path}.tmp`, Buffer.from(text));
    await session.rename(`${path}.tmp`, path);
  }

  function accept(
    record: BankRecord,
    payment: OrderedPayment,
    order: ReturnType<typeof dialect.read>,
  ): BankPayment {
    const { messageId, paymentInformationId, sender } = order;
    const { endToEndId, uetr, amount, creditor } = payment;
    const made: BankPayment = {
      endToEndId,
      uetr,
      messageId,
      paymentInformationId,
      ...(sender !== undefined && { sender }),
      amount,
      creditor,
      state: centsOf(payment) === '66' ? 'REJECTED' : 'ACCEPTED',
      dueMs: nowMs() + (centsOf(payment) === '88' ? slowMs : payMs),
    };
    record.payments.push(made);
    return made;
  }

  /** The answer to one file. The same message id again is a duplicate, whatever the file contains. */
  function answer(record: BankRecord, bytes: Buffer): Sent {
    const order = dialect.read(bytes);
    const turn = turnOf(record);
    if (record.files.includes(order.messageId)) return dialect.refuse(turn, order, 'AM05');
    record.files.push(order.messageId);
    const fault = order.account === account ? order.fault : 'AC02';
    if (fault !== undefined) return dialect.refuse(turn, order, fault);
    const accepted = order.payments.map((one) => accept(record, one, order));
    return dialect.answer(turn, order, accepted);
  }

  function pay(record: BankRecord, payment: BankPayment): SandboxEntry {
    const { endToEndId, amount } = payment;
    const turn = turnOf(record);
    const isReturn = payment.state === 'PAID';
    payment.state = isReturn ? 'RETURNED' : 'PAID';
    const entry: SandboxEntry = {
      reference: `REF${String(turn.next()).padStart(10, '0')}`,
      messageId: dialect.messageId(turn, payment),
      direction: isReturn ? 'CRDT' : 'DBIT',
      amount,
      bookedOn: day(),
      endToEndId,
      ...(isReturn && { returned: 'AC04', text: 'RETURNED PAYMENT' }),
    };
    record.unstated.push(entry);
    return entry;
  }

  /** Takes the files: the record is saved before a file is removed, so that a file is never lost. */
  async function take(session: Session): Promise<number> {
    const files = (await session.list(outgoing)).filter(({ name }) => name.endsWith('.xml'));
    for (const { name } of files) {
      const bytes = await session.read(joined(outgoing, name));
      const record = await load();
      const sent = answer(record, bytes);
      await save(record);
      await session.remove(joined(outgoing, name));
      await send(session, sent);
    }
    return files.length;
  }

  async function payDue(session: Session): Promise<number> {
    const record = await load();
    const due = record.payments.filter(
      (one) =>
        one.dueMs <= nowMs() && (one.state === 'ACCEPTED' || (one.state === 'PAID' && centsOf(one) === '77')),
    );
    if (due.length === 0) return 0;
    const booked = due.map((payment) => ({ payment, entry: pay(record, payment) }));
    for (const { payment } of booked) payment.dueMs = nowMs() + payMs;
    const messages = dialect.book(turnOf(record), booked);
    await save(record);
    for (const one of messages) await send(session, one);
    return messages.length;
  }

  async function receive(session: Session, deposit: SandboxDeposit): Promise<string> {
    const record = await load();
    const { entry, sent } = dialect.arrive(turnOf(record), deposit);
    record.unstated.push(entry);
    await save(record);
    for (const one of sent) await send(session, one);
    return entry.reference;
  }

  async function takeRequests(session: Session): Promise<number> {
    const directory = requestsOf(options.record);
    const names = await readdir(directory).catch(() => []);
    const requests = names.filter((name) => name.endsWith('.json'));
    for (const name of requests) {
      await receive(session, JSON.parse(await readFile(`${directory}/${name}`, 'utf8')) as SandboxDeposit);
      await rm(`${directory}/${name}`);
    }
    return requests.length;
  }

  const balanceOf = (units: bigint): SandboxBalance => ({
    amount: decimalOf(units < 0n ? -units : units, currency),
    direction: units < 0n ? 'DBIT' : 'CRDT',
  });

  async function connected<Value>(work: (session: Session) => Promise<Value>): Promise<Value> {
    const session = await transport.connect();
    try {
      return await work(session);
    } finally {
      await session.close();
    }
  }

  return {
    turn: () =>
      connected(
        async (session) => (await take(session)) + (await payDue(session)) + (await takeRequests(session)),
      ),
    deposit: (deposit) => connected((session) => receive(session, deposit)),
    state: () =>
      connected(async (session) => {
        const record = await load();
        const entries = record.unstated;
        const openingUnits = BigInt(record.openingUnits);
        const closingUnits = entries.reduce((sum, { direction, amount }) => {
          const units = unitsOf(amount, currency)!;
          return direction === 'CRDT' ? sum + units : sum - units;
        }, openingUnits);
        record.stated.push(...entries);
        record.unstated = [];
        record.openingUnits = String(closingUnits);
        const id = `STM${String(turnOf(record).next()).padStart(10, '0')}`;
        const text = statement({
          id,
          at: time(),
          day: day(),
          account,
          currency: currency.code,
          entries,
          opening: balanceOf(openingUnits),
          closing: balanceOf(closingUnits),
        });
        await save(record);
        await send(session, { id, text });
      }),
    record: load,
  };
}

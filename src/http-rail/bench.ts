import type { Assets } from '../kernel/asset.ts';
import { newId } from '../kernel/id.ts';
import type { Networks, RailName } from '../networks/register.ts';
import type { AdapterClient, Call, Reply } from './client.ts';
import { paymentFault, type RailFacts, refusalOf, type Validation } from './outcome.ts';
import { paymentPath } from './rail.ts';
import type { AdapterPayment, PaymentOrder, Refusal } from './schema.ts';

/** What the rules for adapters are tested with. */

/** A rule that the adapter does not obey: what it did, and what its author has to do. */
export class Violation extends Error {
  readonly todo: string;

  constructor(found: string, todo: string) {
    super(found);
    this.todo = todo;
  }
}

/** The adapter does not have this part, and need not. */
export class NotProvided extends Error {}

export type BenchParts = {
  readonly rail: RailName;
  readonly asset: string;
  readonly amount: string;
  readonly destination: object;
  readonly assets: Assets;
  readonly networks: Networks;
  readonly validation: Validation;
  /** How long payments may take. */
  readonly waitMs: number;
  /** Signs as Ferry does. */
  readonly client: AdapterClient;
  /** With a signature of another secret, of another body, of ten minutes ago, in ten minutes, and with none. */
  readonly wrong: Readonly<Record<'secret' | 'body' | 'old' | 'early' | 'unsigned', AdapterClient>>;
  readonly signal: AbortSignal;
  /** Restarts the adapter and resolves once it answers; undefined if the author gave no command. */
  readonly restart?: (() => Promise<void>) | undefined;
};

type Answered = Extract<Reply, { kind: 'answered' }>;

/** An answer with what it says: a payment, a refusal, or neither. */
export type Heard = Answered & { readonly payment?: AdapterPayment; readonly refusal?: Refusal | undefined };

export type Bench = BenchParts & {
  readonly facts: RailFacts;
  order(change?: Partial<PaymentOrder>): PaymentOrder;
  call(call: Call, client?: AdapterClient): Promise<Answered>;
  put(order: PaymentOrder, client?: AdapterClient): Promise<Heard>;
  get(key: string, client?: AdapterClient): Promise<Heard>;
  /** The payment of an answer that must have one. */
  paymentOf(heard: Heard, order: PaymentOrder, what: string): AdapterPayment;
  /** Violated if there is a payment under the key of a request that was refused. */
  expectUnknown(key: string, after: string): Promise<void>;
};

export const EXACT_AMOUNTS =
  'Keep amounts as decimal strings or as integers of the smallest unit. Floating-point numbers lose digits.';

export function createBench(parts: BenchParts): Bench {
  const { rail, validation, networks } = parts;
  const facts: RailFacts = { name: rail, isChain: networks.isCryptoNetwork(rail) };
  const bench: Bench = {
    ...parts,
    facts,
    order: (change = {}) => {
      const { asset, amount, destination } = parts;
      return { key: newId(), rail, asset, amount, destination, ...change };
    },
    async call(call, client = parts.client) {
      const reply = await client.call(call, parts.signal);
      if (reply.kind === 'answered') return reply;
      throw new Violation(
        `${call.method} ${call.path} gets no answer: ${reply.reason}`,
        'Answer every request, also those that you refuse.',
      );
    },
    put: async (order, client) =>
      hear(await bench.call({ method: 'PUT', path: paymentPath(order.key), body: order }, client), order.key),
    get: async (key, client) =>
      hear(await bench.call({ method: 'GET', path: paymentPath(key) }, client), key),
    paymentOf(heard, order, what) {
      if (heard.payment !== undefined) return heard.payment;
      const fault =
        heard.status >= 200 && heard.status < 300
          ? `the answer is not a payment: ${paymentFault(heard.body, order.key, facts, validation)}`
          : `the answer is ${heard.status}`;
      throw new Violation(
        `${what}: ${fault}`,
        fault.includes(': /amount')
          ? EXACT_AMOUNTS
          : 'Answer 200 with the payment: key, asset, amount, status, reference.',
      );
    },
    async expectUnknown(key, after) {
      if ((await bench.get(key)).payment === undefined) return;
      throw new Violation(
        `${after}, the adapter has a payment under its key`,
        'Verify the request before you record anything of it.',
      );
    },
  };

  function hear(answer: Answered, key: string): Heard {
    const isPayment =
      answer.status >= 200 &&
      answer.status < 300 &&
      paymentFault(answer.body, key, facts, validation) === undefined;
    if (isPayment) return { ...answer, payment: answer.body as AdapterPayment };
    return { ...answer, refusal: refusalOf(answer, validation) };
  }
  return bench;
}

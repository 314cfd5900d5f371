import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, EXACT_AMOUNTS, NotProvided, Violation } from './bench.ts';
import { isSameAmount } from './outcome.ts';
import type { AdapterPayment, PaymentOrder } from './schema.ts';

/** What must hold of payments. */

export type Rule = {
  readonly name: string;
  /** Throws a violation. Resolves with what was found. */
  run(bench: Bench): Promise<string>;
};

const REPEATS = 10;
/** How often a payment is asked about while it is pending. */
const ASK_MS = 200;

function expectSame(one: AdapterPayment, other: AdapterPayment, what: string): void {
  if (one.reference === other.reference) return;
  throw new Violation(
    `${what}: the reference was ${one.reference}, and then ${other.reference}, so there are two payments`,
    'Look up the key and record the payment in one step, under a lock or a unique constraint, before you pay.',
  );
}

function expectAmount(payment: AdapterPayment, { asset, amount }: PaymentOrder): void {
  if (payment.asset === asset && isSameAmount(payment.amount, amount)) return;
  throw new Violation(
    `${amount} ${asset} were requested, and ${payment.amount} ${payment.asset} are reported`,
    EXACT_AMOUNTS,
  );
}

const isAccepted: Rule = {
  name: 'a payment is accepted, and reported with its key, asset, amount and reference',
  async run(bench) {
    const order = bench.order();
    const payment = bench.paymentOf(await bench.put(order), order, 'PUT /payments/{key}');
    expectAmount(payment, order);
    const asked = bench.paymentOf(await bench.get(order.key), order, 'GET /payments/{key} afterwards');
    expectAmount(asked, order);
    expectSame(payment, asked, 'PUT and then GET of one key');
    return `reference ${payment.reference}, ${payment.status}`;
  },
};

const repeats: Rule = {
  name: 'the same request again is the same payment',
  async run(bench) {
    const order = bench.order();
    const first = bench.paymentOf(await bench.put(order), order, 'the first request');
    for (let time = 0; time < 3; time += 1) {
      const next = bench.paymentOf(await bench.put(order), order, 'the same request again');
      expectSame(first, next, 'the same request again');
    }
    return 'one payment for 4 requests';
  },
};

/** Races are not lost every time. */
const ROUNDS = 3;

const concurrently: Rule = {
  name: 'the same request many times at once is the same payment',
  async run(bench) {
    const what = `${REPEATS} equal requests at once`;
    for (let round = 0; round < ROUNDS; round += 1) {
      const order = bench.order();
      const answers = await Promise.all(Array.from({ length: REPEATS }, () => bench.put(order)));
      const payments = answers.map((one) => bench.paymentOf(one, order, what));
      for (const one of payments) expectSame(payments[0]!, one, what);
      const asked = bench.paymentOf(await bench.get(order.key), order, 'GET /payments/{key} afterwards');
      expectSame(payments[0]!, asked, `${what}, then GET`);
    }
    return `${ROUNDS} payments for ${ROUNDS * REPEATS} requests`;
  },
};

const otherBody: Rule = {
  name: 'another payment under the same key is refused',
  async run(bench) {
    const order = bench.order();
    bench.paymentOf(await bench.put(order), order, 'the first request');
    const other = { ...order, amount: `1${order.amount}` };
    const { status } = await bench.put(other);
    if (status !== 409)
      throw new Violation(
        `a request for ${other.amount} ${other.asset} under the key of a payment of ${order.amount} ${order.asset} gets ${status}`,
        'Compare the request with the recorded one, and answer 409 with "outcome": "conflict" if they differ.',
      );
    expectAmount(bench.paymentOf(await bench.get(order.key), order, 'GET afterwards'), order);
    return 'refused with 409; the first payment is unchanged';
  },
};

const otherKey: Rule = {
  name: 'a body with another key than the path is refused',
  async run(bench) {
    const order = bench.order();
    const { key } = bench.order();
    const body = { ...order, key };
    const { status } = await bench.call({ method: 'PUT', path: `/payments/${order.key}`, body });
    if (status < 400 || status > 499)
      throw new Violation(
        `a body with another key than the path gets ${status}`,
        'Answer 409 with "outcome": "conflict" unless the key of the body is the key of the path: the signature covers the body only.',
      );
    await bench.expectUnknown(order.key, 'after a body with another key than the path');
    await bench.expectUnknown(key, 'after a body with another key than the path');
    return `refused with ${status}`;
  },
};

const unknownKey: Rule = {
  name: 'an unknown key is not found',
  async run(bench) {
    const { key } = bench.order();
    for (let time = 0; time < 2; time += 1) {
      const { status, refusal } = await bench.get(key);
      if (status !== 404 || refusal?.outcome !== 'not_found')
        throw new Violation(
          `GET of an unknown key gets ${status}${status === 404 ? ' without "outcome": "not_found"' : ''}`,
          'Answer 404 with {"outcome": "not_found"}: a 404 without it could come from a proxy, and means nothing.',
        );
    }
    return '404, not_found';
  },
};

/** Amounts that floating-point numbers cannot hold, or that programs round. */
function amountsOf(decimals: number): string[] {
  const smallest = decimals === 0 ? '1' : `0.${'1'.padStart(decimals, '0')}`;
  const fraction = decimals === 0 ? '' : `.${'29'.padEnd(decimals, '1').slice(0, decimals)}`;
  return [
    smallest,
    `1${fraction}`,
    `1234567${fraction}`,
    `9007199254740993${fraction}`,
    `99999999999999999999${fraction}`,
  ];
}

const amounts: Rule = {
  name: 'amounts are exact to the smallest unit, also large ones',
  async run(bench) {
    const { decimals } = bench.assets.get(bench.asset);
    const tried = amountsOf(decimals);
    let rejected = 0;
    for (const amount of tried) {
      const order = bench.order({ amount });
      const heard = await bench.put(order);
      if (heard.refusal?.outcome === 'rejected') {
        rejected += 1;
        continue;
      }
      expectAmount(bench.paymentOf(heard, order, `a payment of ${amount} ${bench.asset}`), order);
      expectAmount(bench.paymentOf(await bench.get(order.key), order, 'GET afterwards'), order);
    }
    return `${tried[0]} to ${tried.at(-1)}${rejected > 0 ? `; ${rejected} of ${tried.length} rejected` : ''}`;
  },
};

async function endOf(bench: Bench, order: PaymentOrder): Promise<AdapterPayment> {
  const endMs = performance.now() + bench.waitMs;
  for (;;) {
    const payment = bench.paymentOf(await bench.get(order.key), order, 'GET /payments/{key}');
    if (payment.status !== 'pending') return payment;
    if (performance.now() >= endMs)
      throw new Violation(
        `a payment is still pending after ${bench.waitMs / 1_000} s`,
        'Report completed or failed once you know. If your payments take longer, run this test with --wait <seconds>.',
      );
    await sleep(ASK_MS);
  }
}

const ends: Rule = {
  name: 'a payment ends, and its end is final',
  async run(bench) {
    const order = bench.order();
    bench.paymentOf(await bench.put(order), order, 'PUT /payments/{key}');
    const end = await endOf(bench, order);
    for (const heard of [await bench.get(order.key), await bench.put(order), await bench.get(order.key)]) {
      const later = bench.paymentOf(heard, order, 'after its end');
      expectSame(end, later, 'after the end of a payment');
      if (later.status !== end.status)
        throw new Violation(
          `a payment that was ${end.status} is reported as ${later.status} afterwards`,
          'completed and failed are final: money that comes back later is a return, which you report with a notice.',
        );
    }
    if (end.status === 'failed')
      throw new Violation(
        `the payment failed: ${end.reason}`,
        'This test needs a payment that succeeds: name one that your adapter can make with --asset, --amount and --destination.',
      );
    return `completed as ${end.reference}`;
  },
};

const rejection: Rule = {
  name: 'a payment that is rejected stays rejected',
  async run(bench) {
    const order = bench.order({ asset: 'XXXTEST' });
    const first = await bench.put(order);
    const isRejected =
      first.payment?.status === 'failed' || (first.refusal?.outcome === 'rejected' && first.status < 500);
    if (first.payment !== undefined && !isRejected)
      throw new Violation(
        `a payment of the unknown asset XXXTEST is ${first.payment.status}`,
        'Reject what you cannot pay: answer with "status": "failed" and a reason.',
      );
    if (!isRejected)
      throw new NotProvided(
        `a payment of the unknown asset XXXTEST gets ${first.status}, which Ferry asks about`,
      );
    const { payment, status } = await bench.get(order.key);
    if (payment?.status !== 'failed')
      throw new Violation(
        `a payment was rejected, and GET of its key gets ${payment?.status ?? status}`,
        'Record rejected payments too, and report them as failed: Ferry returns the money only if the rejection is final.',
      );
    return `failed: ${payment.reason}`;
  },
};

const restarts: Rule = {
  name: 'a restart loses no payment',
  async run(bench) {
    if (bench.restart === undefined)
      throw new NotProvided('not tested: name a command that restarts your adapter with --restart-command');
    const orders = [bench.order(), bench.order()];
    const before = [];
    for (const order of orders)
      before.push(bench.paymentOf(await bench.put(order), order, 'before the restart'));
    await bench.restart();
    for (const [index, order] of orders.entries()) {
      const heard = await bench.get(order.key);
      if (heard.payment === undefined)
        throw new Violation(
          `after a restart, GET of a payment that was accepted gets ${heard.status}`,
          'Write each payment to a disk or database, and flush it, before you answer.',
        );
      expectSame(before[index]!, heard.payment, 'before and after a restart');
      const again = bench.paymentOf(await bench.put(order), order, 'the same request after a restart');
      expectSame(before[index]!, again, 'the same request before and after a restart');
      await endOf(bench, order);
    }
    return `${orders.length} payments were kept, and ended`;
  },
};

export const PAYMENT_RULES: readonly Rule[] = [
  unknownKey,
  isAccepted,
  repeats,
  concurrently,
  otherBody,
  otherKey,
  amounts,
  ends,
  rejection,
  restarts,
];

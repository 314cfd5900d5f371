import type { TSchema } from 'typebox';
import { newId } from '../kernel/id.ts';
import { type Bench, NotProvided, Violation } from './bench.ts';
import type { Call } from './client.ts';
import { instructionsShape } from './rail.ts';
import type { Rule } from './rules-payments.ts';
import { AddressShape, HealthShape, QuoteShape } from './schema.ts';

/** What must hold of signatures, and of the parts that an adapter may leave out. */

export const HEALTH_RULE: Rule = {
  name: 'GET /health answers',
  async run(bench) {
    const { status, body } = await bench.call({ method: 'GET', path: '/health' });
    const fault = bench.validation.fault(HealthShape, body);
    if (status !== 200 || fault !== undefined)
      throw new Violation(
        `GET /health gets ${status}${status === 200 ? `: ${fault}` : ''}`,
        'Answer 200 with {"status": "ok"} while payments can be made.',
      );
    return 'ok';
  },
};

/** Requests that must be refused, by what is wrong with them. */
const FORGERIES = [
  [
    'secret',
    'a signature with another secret',
    'Compute the HMAC of "{webhook-id}.{webhook-timestamp}.{body}" and compare it.',
  ],
  [
    'body',
    'a body that was changed after it was signed',
    'Compute the HMAC of the bytes of the body as you received them.',
  ],
  ['unsigned', 'a request without a signature', 'Refuse requests without the three webhook headers.'],
  [
    'old',
    'a timestamp of ten minutes ago',
    'Refuse timestamps that are more than 5 minutes from your clock: whoever has seen a request could repeat it.',
  ],
  ['early', 'a timestamp in ten minutes', 'Refuse timestamps that are more than 5 minutes from your clock.'],
] as const;

const forgery = ([name, what, todo]: (typeof FORGERIES)[number]): Rule => ({
  name: `${what} is refused`,
  async run(bench) {
    const order = bench.order();
    const { status } = await bench.put(order, bench.wrong[name]);
    if (status !== 401) throw new Violation(`a payment with ${what} gets ${status}, not 401`, todo);
    await bench.expectUnknown(order.key, `after a payment with ${what}`);
    // The altered body of a GET is its path, which the client cannot alter.
    if (name !== 'body') {
      const asked = await bench.get(order.key, bench.wrong[name]);
      if (asked.status !== 401)
        throw new Violation(
          `GET /payments/{key} with ${what} gets ${asked.status}, not 401`,
          'Verify requests without a body too: the payload is the method, a space, and the path with its query.',
        );
    }
    return 'refused with 401';
  },
});

/** Content of a part that the adapter may leave out. */
async function contentOf(bench: Bench, call: Call, schema: TSchema): Promise<unknown> {
  const { status, body } = await bench.call(call);
  if (status === 404 || status === 501) throw new NotProvided(`${call.method} ${call.path} is not provided`);
  const fault = bench.validation.fault(schema, body);
  if (status !== 200 || fault !== undefined)
    throw new Violation(
      `${call.method} ${call.path} gets ${status}${status === 200 ? `: ${fault}` : ''}`,
      'Answer 200 with the documented body, or 404 if you do not provide it.',
    );
  return body;
}

const addresses: Rule = {
  name: 'a deposit address belongs to one id, and stays the same',
  async run(bench) {
    const { rail, networks } = bench;
    if (!networks.isCryptoNetwork(rail)) throw new NotProvided(`${rail} has no deposit addresses`);
    const addressOf = async (id: string): Promise<string> => {
      const call = { method: 'POST', path: '/deposit-addresses', body: { id, rail } } as const;
      return ((await contentOf(bench, call, AddressShape)) as { address: string }).address;
    };
    const [one, other] = [newId(), newId()];
    const first = await addressOf(one);
    const again = [await addressOf(one), ...(await Promise.all([addressOf(one), addressOf(one)]))];
    const changed = again.find((address) => address !== first);
    if (changed !== undefined)
      throw new Violation(
        `the deposit address of one id was ${first}, and then ${changed}`,
        'Record the address under its id, or derive it from the id: Ferry may ask again.',
      );
    if ((await addressOf(other)) === first)
      throw new Violation(
        `two ids have the deposit address ${first}`,
        'Give every id an address of its own: the address decides who is credited.',
      );
    const fault = networks.addressFault(rail, first);
    if (fault !== undefined)
      throw new Violation(`the deposit address ${first} ${fault}`, `Answer addresses of ${rail}.`);
    return first;
  },
};

const instructions: Rule = {
  name: 'deposit instructions have the fields of the rail',
  async run(bench) {
    const { rail, networks } = bench;
    if (networks.isCryptoNetwork(rail)) throw new NotProvided(`${rail} has deposit addresses instead`);
    await contentOf(
      bench,
      { method: 'GET', path: '/deposit-instructions' },
      instructionsShape(networks, rail),
    );
    return 'valid';
  },
};

const quote: Rule = {
  name: 'a quote is a decimal string in the asset that was asked for',
  async run(bench) {
    const call = { method: 'GET', path: `/quote?asset=${encodeURIComponent(bench.asset)}` } as const;
    const found = (await contentOf(bench, call, QuoteShape)) as { asset: string; fee: string };
    if (found.asset !== bench.asset)
      throw new Violation(
        `a quote for ${bench.asset} is in ${found.asset}`,
        'Quote in the asset that was asked for.',
      );
    return `${found.fee} ${found.asset}`;
  },
};

export const FORGERY_RULES: readonly Rule[] = FORGERIES.map(forgery);
export const OPTIONAL_RULES: readonly Rule[] = [addresses, instructions, quote];

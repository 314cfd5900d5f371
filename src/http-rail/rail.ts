import type { TSchema } from 'typebox';
import type { Assets } from '../kernel/asset.ts';
import { closed, patternMeaning } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { HTTP_RAIL_LIMITS } from '../limits-http-rail.ts';
import type { FiatKind } from '../networks/fiat.ts';
import type { Networks, RailName } from '../networks/register.ts';
import { detailsOf, type Payment, type Rail } from '../rails/rail.ts';
import type { AdapterClient, Call, Reply } from './client.ts';
import {
  isConflict,
  otherAmount,
  type RailFacts,
  stateOf,
  submitResultOf,
  type Validation,
} from './outcome.ts';
import { type AdapterPayment, AddressShape, type PaymentOrder, QuoteShape } from './schema.ts';

export type RailParts = {
  readonly name: RailName;
  readonly horizonMs: number;
  readonly client: AdapterClient;
  readonly validation: Validation;
  readonly assets: Assets;
  readonly networks: Networks;
  /** Whether the adapter provides deposit addresses or instructions, and quotes. */
  readonly takesDeposits: boolean;
  readonly quotesFees: boolean;
  /** Something that an operator has to investigate. */
  readonly trouble: (what: string, facts: object) => void;
};

/** TypeBox's validation has 300 modules: only nodes with an HTTP rail load them. */
export async function loadValidation(): Promise<Validation> {
  const { Pointer, Value } = await import('typebox/value');
  return {
    fault(schema, value) {
      if (value === undefined) return 'it must be JSON';
      const [first] = Value.Errors(schema, value);
      if (first === undefined) return undefined;
      const { instancePath, message, keyword, params } = first;
      const must = keyword === 'pattern' ? `must ${patternMeaning(String(params.pattern))}` : message;
      const found = JSON.stringify(Pointer.Get(value, instancePath)) ?? '';
      return `${instancePath || 'it'} ${must}, not ${found.slice(0, HTTP_RAIL_LIMITS.textShownMax)}`;
    },
  };
}

/** The body of `PUT /payments/{key}`. The same payment always has the same body. */
export function orderOf(rail: RailName, payment: Payment): PaymentOrder {
  const { key, asset, amount, memo, destination, originator, beneficiary } = payment;
  return {
    key,
    rail,
    asset,
    amount,
    ...(memo !== null && memo !== '' && { memo }),
    destination,
    ...(originator && { originator: detailsOf(originator) }),
    ...(beneficiary && { beneficiary }),
  };
}

export const paymentPath = (key: string): string => `/payments/${encodeURIComponent(key)}`;

/** What the adapter answers to a question; throws unless it has the shape. */
function contentOf(reply: Reply, schema: TSchema, { fault }: Validation): unknown {
  if (reply.kind !== 'answered') throw new Error(reply.reason);
  if (reply.status < 200 || reply.status > 299) throw new Error(`the adapter answers ${reply.status}`);
  const misshapen = fault(schema, reply.body);
  if (misshapen !== undefined) throw new Error(`the answer of the adapter is not valid: ${misshapen}`);
  return reply.body;
}

/** The operator's own account, as customers are shown it. */
export function instructionsShape(networks: Networks, kind: FiatKind): TSchema {
  const { account, details } = networks.fiat(kind).instructions;
  return Type.Object({ [account.field]: account.whole, ...details }, closed);
}

function depositsOf(parts: RailParts): Pick<Rail, 'depositAddress' | 'depositInstructions'> {
  const { name, client, networks, validation } = parts;
  const get = async (call: Call, schema: TSchema, signal: AbortSignal): Promise<unknown> =>
    contentOf(await client.call(call, signal), schema, validation);
  if (!networks.isCryptoNetwork(name)) {
    const shape = instructionsShape(networks, name);
    return {
      async depositInstructions(signal) {
        return { [name]: await get({ method: 'GET', path: '/deposit-instructions' }, shape, signal) };
      },
    };
  }
  return {
    async depositAddress(id, signal) {
      const call = { method: 'POST', path: '/deposit-addresses', body: { id, rail: name } } as const;
      const answer = (await get(call, AddressShape, signal)) as { id: string; address: string };
      const fault =
        answer.id === id
          ? networks.addressFault(name, answer.address)
          : `is for the id ${answer.id}, not ${id}`;
      // Money that is sent to an address that nobody has is lost.
      if (fault !== undefined) throw new Error(`the deposit address of the adapter ${fault}`);
      return networks.canonicalAddress(name, answer.address);
    },
  };
}

function quotesOf({ client, validation, assets }: RailParts): Pick<Rail, 'quoteFee'> {
  return {
    async quoteFee(asset, signal) {
      const call = { method: 'GET', path: `/quote?asset=${encodeURIComponent(asset)}` } as const;
      const reply = await client.call(call, signal);
      // The adapter cannot say.
      if (reply.kind === 'answered' && [404, 501].includes(reply.status)) return undefined;
      const quote = contentOf(reply, QuoteShape, validation) as { asset: string; fee: string };
      if (quote.asset !== asset) throw new Error(`the adapter quotes ${quote.asset}, not ${asset}`);
      if (/^0*(\.0*)?$/.test(quote.fee)) return 0n;
      const parsed = assets.parse(asset, quote.fee);
      if (!parsed.ok) throw new Error(`the quote of the adapter ${parsed.message}`);
      return parsed.units;
    },
  };
}

const OTHER_PAYMENT = 'an adapter has another payment under the key of a withdrawal';

/** A rail whose other side is an adapter that the operator has written, in any language. */
export function createHttpRail(parts: RailParts): Rail {
  const { name, horizonMs, client, validation, networks, trouble } = parts;
  const facts: RailFacts = { name, isChain: networks.isCryptoNetwork(name) };
  return {
    name,
    horizonMs,
    async submit(payment, signal) {
      const { key } = payment;
      const call = { method: 'PUT', path: paymentPath(key), body: orderOf(name, payment) } as const;
      const reply = await client.call(call, signal);
      if (isConflict(reply, validation)) trouble(OTHER_PAYMENT, { rail: name, key });
      return submitResultOf(reply, payment, facts, validation);
    },
    async ask(key, signal, requested) {
      const reply = await client.call({ method: 'GET', path: paymentPath(key) }, signal);
      const state = stateOf(reply, key, facts, validation);
      if (state.kind === 'not-found' || requested === undefined) return state;
      const other = otherAmount((reply as { body: unknown }).body as AdapterPayment, requested);
      if (other === undefined) return state;
      // The end of that payment must not end the withdrawal.
      trouble(OTHER_PAYMENT, { rail: name, key, reported: other });
      throw new Error(other);
    },
    ...(parts.quotesFees && quotesOf(parts)),
    ...(parts.takesDeposits && depositsOf(parts)),
  };
}

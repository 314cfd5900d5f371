import { HTTP_RAIL_LIMITS } from '../limits-http-rail.ts';
import * as examples from './examples.ts';
import {
  AddressOrderShape,
  AddressShape,
  HealthShape,
  NoticeShape,
  NoticesShape,
  PaymentOrderShape,
  PaymentShape,
  QuoteShape,
  RecordedShape,
  RefusalShape,
} from './schema.ts';

/** The OpenAPI document for authors of adapters: what Ferry asks of them, and what they report to Ferry. */

type Json = Record<string, unknown>;

const SHAPES = [
  PaymentOrderShape,
  PaymentShape,
  RefusalShape,
  AddressOrderShape,
  AddressShape,
  QuoteShape,
  HealthShape,
  NoticesShape,
  RecordedShape,
] as unknown as readonly { readonly title: string }[];

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** Examples by name, each under its own key. */
const shown = (given: Readonly<Record<string, unknown>>): Json => ({
  examples: Object.fromEntries(Object.entries(given).map(([name, value]) => [name, { value }])),
});

const json = (schema: Json, given: Readonly<Record<string, unknown>>): Json => ({
  content: { 'application/json': { schema, ...shown(given) } },
});

const refusal = (description: string, outcome: keyof typeof examples.REFUSALS): Json => ({
  description,
  ...json(refTo('Refusal'), { [outcome]: examples.REFUSALS[outcome] }),
});

const UNAUTHENTICATED = {
  '401': refusal('The signature or its timestamp is not valid. Record nothing.', 'unauthenticated'),
};
const NOT_PROVIDED = { '404': { description: 'You do not provide this.' } };

const KEY_PARAMETER = {
  name: 'key',
  in: 'path',
  required: true,
  description: 'The key of the payment. The body of a PUT has the same one.',
  schema: { type: 'string' },
};

const PUT_PAYMENT = {
  operationId: 'putPayment',
  tags: ['Payments'],
  summary: 'Make a payment',
  description:
    'Requests with one key are one payment, however often and however fast they come. Record it durably before you answer. Ferry sends the same bytes again if it has to repeat a request. An answer that is not documented here is an unknown outcome: Ferry then asks, and repeats the request only after the horizon, under the same key.',
  parameters: [KEY_PARAMETER],
  requestBody: { required: true, ...json(refTo('PaymentOrder'), { wire: examples.ORDER }) },
  responses: {
    '200': {
      description: 'You have the payment. `failed` means that it is never paid under this key.',
      ...json(refTo('Payment'), {
        pending: examples.PENDING,
        completed: examples.COMPLETED,
        failed: examples.FAILED,
      }),
    },
    ...UNAUTHENTICATED,
    '409': refusal(
      'The key has another payment. The outcome is unknown, and an operator is alerted.',
      'conflict',
    ),
    '422': refusal('You will never pay it under this key. The money returns to the customer.', 'rejected'),
    '503': refusal('You did not take it. Ferry repeats the request later.', 'not_accepted'),
  },
};

const GET_PAYMENT = {
  operationId: 'getPayment',
  tags: ['Payments'],
  summary: 'Get the state of a payment',
  parameters: [KEY_PARAMETER],
  responses: {
    '200': {
      description: 'The payment',
      ...json(refTo('Payment'), {
        pending: examples.PENDING,
        completed: examples.COMPLETED,
        failed: examples.FAILED,
      }),
    },
    ...UNAUTHENTICATED,
    '404': refusal(
      'You do not know the key. The body is required: a 404 without it could come from a proxy, and says nothing.',
      'not_found',
    ),
  },
};

const POST_ADDRESS = {
  operationId: 'postDepositAddress',
  tags: ['Deposits'],
  summary: 'Get a deposit address (optional; crypto networks)',
  requestBody: {
    required: true,
    ...json(refTo('DepositAddressOrder'), { ETHEREUM: examples.ADDRESS_ORDER }),
  },
  responses: {
    '200': {
      description: 'The address of this id, always the same',
      ...json(refTo('DepositAddress'), { ETHEREUM: examples.ADDRESS }),
    },
    ...UNAUTHENTICATED,
    ...NOT_PROVIDED,
  },
};

const GET_INSTRUCTIONS = {
  operationId: 'getDepositInstructions',
  tags: ['Deposits'],
  summary: "Get the operator's own bank account (optional; banks)",
  responses: {
    '200': {
      description: 'With the fields that the rail has in `fiat_network_instructions` of Ferry’s API',
      ...json({ type: 'object' }, { wire: examples.INSTRUCTIONS }),
    },
    ...UNAUTHENTICATED,
    ...NOT_PROVIDED,
  },
};

const GET_QUOTE = {
  operationId: 'getQuote',
  tags: ['Payments'],
  summary: 'Get what sending an asset costs now (optional)',
  parameters: [
    {
      name: 'asset',
      in: 'query',
      required: true,
      description: 'Code of the asset',
      schema: { type: 'string' },
    },
  ],
  responses: {
    '200': { description: 'The cost', ...json(refTo('Quote'), { USD: examples.QUOTE }) },
    ...UNAUTHENTICATED,
    ...NOT_PROVIDED,
  },
};

const GET_HEALTH = {
  operationId: 'getHealth',
  tags: ['Health'],
  summary: 'Whether payments can be made',
  responses: {
    '200': { description: 'They can', ...json(refTo('Health'), { ok: examples.HEALTH }) },
    ...UNAUTHENTICATED,
  },
};

const PROBLEM_SCHEMA = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What is wrong, with the field' },
    meta: { type: 'object' },
  },
};

const problem = (description: string): Json => ({
  description,
  content: { 'application/problem+json': { schema: refTo('Problem') } },
});

const POST_NOTICES = {
  operationId: 'postNotices',
  tags: ['Notices'],
  summary: 'Report to Ferry: outcomes, deposits and returns',
  description:
    'Sent by the adapter to Ferry. Once it is answered with 200, the notices are durable. Repeat it until then, with a new signature: the same notice has one effect, however often it is sent. A deposit or return is identified by `account` and `reference`, or by `tx_hash` and `output` or `address`.',
  parameters: [
    {
      name: 'rail',
      in: 'path',
      required: true,
      description: 'Name of the rail',
      schema: { type: 'string' },
      example: 'wire',
    },
  ],
  requestBody: {
    required: true,
    ...json(refTo('Notices'), {
      ...Object.fromEntries(
        Object.entries(examples.NOTICES).map(([name, notice]) => [
          name.replaceAll(' ', '-'),
          { rail: 'wire', notices: [notice] },
        ]),
      ),
      'a-deposit-on-a-chain': { rail: 'ETHEREUM', notices: [examples.DEPOSIT_ON_CHAIN] },
    }),
  },
  responses: {
    '200': { description: 'Recorded', ...json(refTo('Recorded'), { one: { recorded: 1 } }) },
    '400': problem(
      'A field is wrong: `meta.errors` names it. Nothing was recorded. Correct it before you repeat it.',
    ),
    '401': problem('The signature or its timestamp is not valid. Nothing was recorded.'),
    '503': problem('The service is temporarily unavailable. Nothing was recorded. Repeat the request.'),
  },
};

const SIGNATURE = `Standard Webhooks, in both directions, with the secret of the rail (\`whsec_…\`). Headers: \`webhook-id\`, \`webhook-timestamp\` (seconds since 1970) and \`webhook-signature\`, which has one or more signatures \`v1,<base64>\`, separated by blanks. A signature is the HMAC-SHA256 of \`{webhook-id}.{webhook-timestamp}.{payload}\`. The payload is the body, byte for byte. A request without a body has as its payload the method, a blank, and the path with its query as it is sent: \`GET /payments/01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40\`. Refuse timestamps that are more than ${HTTP_RAIL_LIMITS.toleranceSeconds} seconds from your clock.`;

export function adapterOpenApi(): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Adapters for Ferry’s HTTP rail',
      version: '1',
      description:
        'An adapter connects Ferry to a bank, a custodian or a chain. Ferry calls the paths under the URL of the adapter; the adapter reports to Ferry at `/v2/rails/{rail}/notices`. Amounts are decimal strings. Fields that you do not know are to be ignored.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      {
        url: 'https://adapter.test',
        description: 'The adapter: `url` in the configuration of the rail',
      },
    ],
    security: [{ signature: [] }],
    tags: [
      { name: 'Payments', description: 'From Ferry to the adapter' },
      { name: 'Deposits', description: 'From Ferry to the adapter' },
      { name: 'Health', description: 'From Ferry to the adapter' },
      { name: 'Notices', description: 'From the adapter to Ferry' },
    ],
    paths: {
      '/payments/{key}': { put: PUT_PAYMENT, get: GET_PAYMENT },
      '/deposit-addresses': { post: POST_ADDRESS },
      '/deposit-instructions': { get: GET_INSTRUCTIONS },
      '/quote': { get: GET_QUOTE },
      '/health': { get: GET_HEALTH },
      '/v2/rails/{rail}/notices': {
        servers: [{ url: 'https://ferry.test', description: 'Ferry: FERRY_PUBLIC_URL' }],
        post: POST_NOTICES,
      },
    },
    components: {
      schemas: {
        ...Object.fromEntries(SHAPES.map((shape) => [shape.title, shape])),
        Notices: {
          ...NoticesShape,
          properties: {
            ...NoticesShape.properties,
            notices: { ...NoticesShape.properties.notices, items: refTo('Notice') },
          },
        },
        Notice: NoticeShape,
        Problem: PROBLEM_SCHEMA,
      },
      securitySchemes: {
        signature: { type: 'apiKey', in: 'header', name: 'webhook-signature', description: SIGNATURE },
      },
    },
  };
}

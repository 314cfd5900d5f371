import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/auth/administration.ts';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { newId } from '../../src/kernel/id.ts';
import { type Receiver, startReceiver } from '../events/receiver.ts';
import {
  type Belongings,
  createBelongings,
  exampleFor,
  type Operation,
  pathFor,
} from '../support/openapi.ts';
import { startTestService, type TestCustomer } from '../support/service.ts';

// Before the tests are collected: one test for each operation of the document.
const service = await startTestService();
const { operations } = service.description;
const secured = operations.filter((operation) => operation.scopes.length > 0);
let receiver: Receiver;
let customer: TestCustomer;
let own: Belongings;
/** By the id of the operation. */
const real = new Map<string, { sent: any; body: any }>();
afterAll(async () => {
  await receiver.close();
  await service.stop();
});

const EXAMPLE_URL = 'https://example.com/ferry';
const exampleOf = (operation: Operation): any => {
  const [content] = Object.values<any>(operation.responses[200].content);
  return content.example;
};

/** What is another one every time, and says nothing about the shape of an answer. */
const CHANGING = new Set(
  `secret webhook-signature webhook-timestamp date duration_ms next_page_cursor address memo_id reference
   crypto_tx_hash crypto_tx_index access_token x kid`.split(/\s+/),
);

function comparable(value: any, key = ''): any {
  if (CHANGING.has(key)) return `<${key}>`;
  if (Array.isArray(value)) return value.map((one) => comparable(one));
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, comparable(one, name)]));
  if (typeof value !== 'string') return value;
  return (
    value
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g, '<id>')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replaceAll(receiver.url, EXAMPLE_URL)
      .replaceAll(service.url, 'https://example.com')
      .replaceAll(/^trade-7781-\d+$/g, 'trade-7781')
      // What keeps a test's fiat account PENDING.
      .replaceAll('Atlantis', 'US')
  );
}

/** Where ids of the request stand in the answer: the example has to have its own in the same places. */
function places(sent: any, body: any): string[] {
  const fields = Object.entries<unknown>(sent ?? {}).filter(([, value]) => typeof value === 'string');
  return Object.entries<unknown>(body ?? {})
    .flatMap(([name, value]) =>
      fields.filter(([, one]) => one === value).map(([field]) => `${field} is ${name}`),
    )
    .sort();
}

/** Things that work as the examples say: a receiver that answers, a withdrawal, a profile that was made over the API. */
async function createOwn(): Promise<{ own: Belongings; partner: TestCustomer }> {
  const partner = await service.createCustomer();
  const base = await createBelongings(service, customer, partner);
  const partnersProfile = await service.createProfile(partner);
  let webhook = '';
  let trades = 0;
  const make: Belongings['make'] = {
    ...base.make,
    async webhooks() {
      const body = { url: receiver.url, event_types: ['transfer.*'] };
      const answer = await customer.call('POST', '/v2/events/webhooks', body);
      webhook = answer.body.id;
      return webhook;
    },
    async transactions() {
      trades += 1;
      const body = {
        ...service.description.operation('createSettlementTransaction').body!.example,
        source_profile_id: base.fields.source_profile_id,
        target_profile_id: partnersProfile,
        ref_id: `trade-7781-${trades}`,
      };
      return (await customer.call('POST', '/v2/settlement/transactions', body)).body.id;
    },
    async deliveries() {
      const tested = await customer.call('POST', `/v2/events/webhooks/${webhook}/test`);
      // So that a replay waits until it was looked at.
      await customer.call('PUT', `/v2/events/webhooks/${webhook}`, { enabled: false });
      return tested.body.id;
    },
  };
  return { own: { ...base, make }, partner };
}

/** Makes a difference only to lists: first all that makes something, then all that shows it. */
const ORDER = ['POST', 'PUT', 'DELETE', 'GET'];

async function ask(operation: Operation, partner: TestCustomer): Promise<{ sent: any; body: any }> {
  const sent = operation.body === undefined ? undefined : exampleFor(operation, own, 'shown');
  const path =
    operation.id === 'getProfile'
      ? `/v2/profiles/${real.get('createProfile')!.body.id}`
      : await pathFor(operation, own);
  if (operation.id === 'listWebhookDeliveries') await own.make.deliveries!();
  const caller = operation.id === 'affirmSettlementTransaction' ? partner : customer;
  const answer = await caller.call(operation.method, path, sent);
  if (answer.status !== 200) throw new Error(`${operation.name}: ${JSON.stringify(answer.body)}`);
  return { sent, body: answer.body };
}

beforeAll(async () => {
  receiver = await startReceiver();
  customer = await service.createCustomer();
  const made = await createOwn();
  own = made.own;
  for (const kind of ['suspense-deposits', 'transfers']) await own.make[kind]!();
  // Rails contradict themselves only when something is badly wrong with them.
  await service.database.query(
    `insert into rail_contradictions (transfer_id, rail, reported, recorded, detail, at_ns)
     values ($1, 'BITCOIN', 'COMPLETED', 'FAILED', 'BITCOIN confirmed the payment 3 times.', 1)`,
    [newId()],
  );
  const sorted = [...secured].sort((a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method));
  for (const operation of sorted) {
    if (operation.id !== 'streamEvents') real.set(operation.id, await ask(operation, made.partner));
  }
});

describe('the example answer', () => {
  it('is given for every operation', () => {
    expect(operations.filter((one) => exampleOf(one) === undefined).map(({ name }) => name)).toEqual([]);
  });

  it.each(
    secured
      .filter(({ id }) => id !== 'streamEvents')
      .map((operation) => [operation.name, operation] as const),
  )('of %s has the fields and the values of a real one', (_name, operation) => {
    const example = exampleOf(operation);
    const { sent, body } = real.get(operation.id)!;
    if (!Array.isArray(body.items)) {
      expect(comparable(example)).toEqual(comparable(body));
      expect(places(operation.body?.example, example)).toEqual(places(sent, body));
      return;
    }
    expect(example.items).toHaveLength(1);
    expect(comparable(body.items)).toContainEqual(comparable(example.items[0]));
    // The last page has no cursor; the feed has no last page.
    const { items: _, ...rest } = example;
    expect(rest).toEqual(operation.id === 'listEvents' ? { ...rest, has_more: false } : {});
    if (operation.id === 'listEvents') expect(Object.keys(body).sort()).toEqual(Object.keys(example).sort());
  });

  it('of the stream is an event as the feed has it', () => {
    expect(exampleOf(service.description.operation('streamEvents'))).toEqual(
      exampleOf(service.description.operation('getEvent')),
    );
  });

  it('of the token endpoint, and of what describes it, is like a real one', async () => {
    const { clientId, clientSecret } = await createClient(service.database, {
      customer: customer.id,
      name: 'example',
      scopes: SCOPE_NAMES,
    });
    const token = service.description.operation('createToken');
    const response = await fetch(`${service.url}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({
        ...token.body!.example,
        client_id: clientId,
        client_secret: clientSecret,
      }),
    });
    expect(comparable(exampleOf(token))).toEqual(comparable(await response.json()));
    for (const id of ['getKeys', 'getAuthorizationServerMetadata']) {
      const operation = service.description.operation(id);
      const { body } = await service.anonymous.call('GET', operation.path);
      expect(comparable(exampleOf(operation))).toEqual(comparable(body));
    }
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/auth/administration.ts';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { newId } from '../../src/kernel/id.ts';
import { withSession } from '../people/visitor.ts';
import { asExamples } from '../support/belongings.ts';
import { openItems, profileWithDeposit, untilBookedIsFinal } from '../support/books.ts';
import { comparableAnswer, places } from '../support/comparable.ts';
import {
  type Belongings,
  createBelongings,
  exampleFor,
  type Operation,
  pathFor,
  withDigest,
} from '../support/openapi.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestService, type TestCustomer } from '../support/service.ts';
import { SPECIAL_ANSWERS } from './special-answers.ts';

const service = await startTestService();
const { operations } = service.description;
const secured = operations.filter((operation) => operation.scopes.length > 0);
let receiver: Receiver;
let customer: TestCustomer;
/** The other side of settlements. */
let partner: TestCustomer;
let own: Belongings;
/** By the id of the operation. */
type Asked = { path: string; sent: any; body: any };
const real = new Map<string, Asked>();
afterAll(async () => {
  await receiver.close();
  await service.stop();
});

const EXAMPLE_URL = 'https://example.com/ferry';
const exampleOf = (operation: Operation): any => {
  const [content] = Object.values<any>(operation.responses[200].content);
  return content.example;
};

const comparable = (value: unknown): any =>
  comparableAnswer(value, { [receiver.url]: EXAMPLE_URL, [service.url]: 'https://example.com' });

/** What the examples refer to: a receiver that answers, a withdrawal, a profile that was created over the API. */
async function createOwn(): Promise<Belongings> {
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
      // So that a replay is still PENDING when it is read.
      await customer.call('PUT', `/v2/events/webhooks/${webhook}`, { enabled: false });
      return tested.body.id;
    },
    listPersonSessions: async () => withSession(service, await base.make.people!()),
    endPersonSessions: async () => withSession(service, await base.make.people!()),
    ...asExamples(service, customer),
    deactivateProfile: async () =>
      (await customer.call('POST', '/v2/profiles', { nickname: 'Old treasury' })).body.id,
    getFiatDepositInstructions: async () =>
      (
        await customer.call('POST', '/v2/transfer/fiat-deposit-instructions', {
          ...service.description.operation('createFiatDepositInstructions').body!.example,
          profile_id: base.fields.profile_id,
        })
      ).body.id,
    stablecoins: async () =>
      (
        await customer.call('POST', '/v2/conversion/stablecoins', {
          ...service.description.operation('createStablecoinConversion').body!.example,
          profile_id: base.fields.profile_id,
        })
      ).body.id,
    listProfileEntries: () => profileWithDeposit(service, customer),
    async getStatement() {
      const id = await profileWithDeposit(service, customer);
      await untilBookedIsFinal(service.database);
      return id;
    },
  };
  return { ...base, make };
}

/** What creates something comes first. The order matters only for lists. */
const ORDER = ['POST', 'PUT', 'DELETE', 'GET'];

async function ask(operation: Operation): Promise<Asked> {
  const example = operation.body === undefined ? undefined : exampleFor(operation, own, 'shown');
  const path =
    operation.id === 'getProfile'
      ? `/v2/profiles/${real.get('createProfile')!.body.id}`
      : (await pathFor(operation, own)) + (operation.id.endsWith('AuditLog') ? '?actions=profile.*' : '');
  if (operation.id === 'listOperatorApprovals') await own.make.getOperatorApproval!();
  if (operation.id === 'listApprovals') await own.make.approvals!();
  if (operation.id === 'listDestinations') await own.make.destinations!();
  if (operation.id === 'listCryptoDestinationAddresses') await own.make['crypto-destination-addresses']!();
  if (operation.id === 'listWebhookDeliveries') await own.make.deliveries!();
  if (operation.id === 'listFiatAccountViews') await customer.call('GET', path.replace(/\/views$/, ''));
  const sent = await withDigest(operation, own, path, example);
  if (operation.id === 'matchItems') sent.item_ids = await openItems(customer);
  const caller = operation.id === 'affirmSettlementTransaction' ? partner : customer;
  const answer = await caller.call(operation.method, path, sent);
  if (answer.status !== 200) throw new Error(`${operation.name}: ${JSON.stringify(answer.body)}`);
  return { path, sent, body: answer.body };
}

beforeAll(async () => {
  receiver = await startReceiver();
  customer = await service.createCustomer();
  partner = await service.createCustomer();
  own = await createOwn();
  for (const kind of ['suspense-deposits', 'transfers']) await own.make[kind]!();
  // A rail contradicts itself only when it is faulty.
  await service.database.query(
    `insert into rail_contradictions (transfer_id, rail, reported, recorded, detail, at_ns)
     values ($1, 'BITCOIN', 'COMPLETED', 'FAILED', '3 confirmations on BITCOIN.', 1)`,
    [newId()],
  );
  const sorted = [...secured].sort((a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method));
  for (const operation of sorted) {
    if (operation.id !== 'streamEvents') real.set(operation.id, await ask(operation));
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
    const special = SPECIAL_ANSWERS[operation.id];
    if (special !== undefined) {
      special(example, body, comparable);
      return;
    }
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

  it('of the stream is an event of the feed', () => {
    const [, data] = /^data: (.*)\n\n$/.exec(exampleOf(service.description.operation('streamEvents')))!;
    expect(JSON.parse(data!)).toEqual(exampleOf(service.description.operation('getEvent')));
  });

  it('of the token endpoint and its metadata has the shape of a real answer', async () => {
    const { clientId, clientSecret } = await createClient(service.database, service.vault, {
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

describe('the example of a problem', () => {
  type Content = { examples: Record<string, { value: any }> };
  const exampleProblem = (operation: Operation, status: number, slug: string): any => {
    const content = operation.responses[status]?.content['application/problem+json'] as Content | undefined;
    return content?.examples[slug]?.value;
  };
  const having = (status: number, slug: string) =>
    secured
      .filter((operation) => exampleProblem(operation, status, slug) !== undefined)
      .map((operation) => [operation.name, operation] as const);
  const names = (list: readonly (readonly [string, Operation])[]): string[] => list.map(([name]) => name);

  function expectLike(operation: Operation, answer: { status: number; body: any }, slug: string): void {
    expect(answer.body.type).toMatch(new RegExp(`/${slug}$`));
    expect(comparable(exampleProblem(operation, answer.status, slug))).toEqual(comparable(answer.body));
  }

  /** The valid request with changes. */
  const again = (operation: Operation, change: (body: any) => any, path?: string) => {
    const { sent, path: usual } = real.get(operation.id) ?? { sent: undefined, path: operation.path };
    return customer.call(operation.method, path ?? usual, sent === undefined ? undefined : change(sent));
  };

  /** Not a replay of the valid request. */
  const asNewRequest = (change: (body: any) => any) => (body: any) =>
    JSON.parse(
      JSON.stringify(change(body)).replaceAll(
        /"(ref_id|nickname)":"[^"]*"/g,
        (_, name: string) => `"${name}":"${newId()}"`,
      ),
    );

  it.each(having(400, 'invalid-request'))('of %s: invalid request', async (_name, operation) => {
    const [{ pointer }] = exampleProblem(operation, 400, 'invalid-request').meta.errors;
    const { path = operation.path } = real.get(operation.id) ?? {};
    const answer = pointer.startsWith('/query/')
      ? await again(operation, (body) => body, `${path}${path.includes('?') ? '&' : '?'}colour=red`)
      : await again(operation, (body) => ({ ...body, [pointer.slice(1)]: undefined }));
    expectLike(operation, answer, 'invalid-request');
  });

  it('of all operations: no valid token, and a token without the scope', async () => {
    const scopes = ['events:read_event', 'funding:read_profile'];
    const weak = await Promise.all(scopes.map((scope) => service.createCustomer({ scopes: [scope] })));
    for (const operation of secured) {
      const path = operation.path.replaceAll(/\{\w*id\}/g, newId());
      const unknown = await service.anonymous.call(operation.method, path, undefined, {
        authorization: 'Bearer nonsense',
      });
      const example = exampleProblem(operation, 401, 'unauthenticated');
      expect({ ...example, detail: '' }).toEqual({ ...unknown.body, detail: '' });
      const other = operation.scopes[0] === scopes[0] ? weak[1]! : weak[0]!;
      expectLike(operation, await other.call(operation.method, path), 'insufficient-scope');
    }
  });

  it.each(having(404, 'not-found'))('of %s: not found', async (_name, operation) => {
    const example = exampleProblem(operation, 404, 'not-found');
    // The address of another customer is not found either, which needs two customers.
    if (example.meta.resource === 'deposit address') return;
    if (/\{(client_)?id\}/.test(operation.path)) {
      const query = /\?.*/.exec(real.get(operation.id)?.path ?? '')?.[0] ?? '';
      const path = operation.path.replaceAll(/\{\w*id\}/g, newId()).replace('{asset}', 'USD') + query;
      return expectLike(
        operation,
        await again(
          operation,
          asNewRequest((body) => body),
          path,
        ),
        'not-found',
      );
    }
    // Named in the body: by a field of the example, by one that it leaves out, or further inside.
    const sent = operation.body!.example;
    const [field] = Object.entries(sent).find(([, value]) => value === example.meta.id) ?? [];
    const inside = JSON.stringify(sent).includes(example.meta.id);
    const name = field ?? `${example.meta.resource}_id`;
    const change = (body: any): any =>
      field === undefined && inside
        ? JSON.parse(JSON.stringify(body).replaceAll(own.fields[name]!, newId()))
        : { ...body, [name]: newId() };
    expectLike(operation, await again(operation, asNewRequest(change)), 'not-found');
  });

  it.each(having(400, 'exceeds-precision'))('of %s: too many decimals', async (_name, operation) => {
    const { max_decimals: decimals } = exampleProblem(operation, 400, 'exceeds-precision').meta;
    const amount = `0.${'1'.repeat(decimals + 1)}`;
    const list = ['legs', 'transfers'].find((name) => operation.body!.example[name] !== undefined);
    const answer = await again(operation, (body) =>
      list === undefined
        ? { ...body, amount }
        : { ...body, [list]: [{ ...body[list][0], amount }, ...body[list].slice(1)] },
    );
    expectLike(operation, answer, 'exceeds-precision');
  });

  it.each(having(403, 'insufficient-funds'))('of %s: insufficient funds', async (_name, operation) => {
    const poor = await service.createProfile(customer, { USD: '0.01', BTC: '0.01' });
    const change = (body: any): any => ({
      ...body,
      ...(body.transfers === undefined
        ? { [body.profile_id === undefined ? 'from_profile_id' : 'profile_id']: poor }
        : { transfers: body.transfers.map((one: any) => ({ ...one, from_profile_id: poor })) }),
    });
    expectLike(operation, await again(operation, asNewRequest(change)), 'insufficient-funds');
  });

  it('of a conflict has the existing record and what differs', async () => {
    const changes: Record<string, object> = {
      createPlatformTransfer: { amount: '1' },
      createCryptoWithdrawal: { amount: '1' },
      createSettlementTransaction: { legs: [{ direction: 'DELIVER', asset: 'USD', amount: '1' }] },
      createWebhook: { url: 'https://example.com/other' },
      createDepositAddress: { metadata: { user: '43' } },
      createFiatDepositInstructions: { metadata: { user: '43' } },
      createProfile: { description: 'Another one' },
      bookJournalEntry: { amount: '1' },
      resolveWithdrawal: { reason: 'Another one.' },
      cancelWithdrawal: { reason: 'Another one.' },
      createAccount: { create_profile: false },
      simulateDeposit: { amount: '1' },
      reportBalance: { balance: '1' },
      importStatement: { content: 'at,asset,direction,amount,reference\n2026-01-15,USD,CREDIT,1,x\n' },
    };
    const bulk = service.description.operation('createPlatformTransfers');
    const changed = await again(bulk, ({ transfers: [first, ...others] }) => ({
      transfers: [{ ...first, amount: '1' }, ...others],
      atomic: true,
    }));
    expectLike(bulk, changed, 'already-exists');
    for (const [id, change] of Object.entries(changes)) {
      const operation = service.description.operation(id);
      const answer = await again(operation, (body) => ({ ...body, ...change }));
      expectLike(operation, answer, 'already-exists');
    }
    const members = service.description.operation('addAccountMembers');
    const other = await again(members, ({ account_id, members: [one] }) => ({
      account_id,
      members: [{ ...one, roles: ['FINANCIAL_ADVISOR'] }],
    }));
    expectLike(members, other, 'already-exists');
  });

  it('of an invalid state names the state', async () => {
    const unchanged = (body: any) => body;
    for (const id of [
      'simulateTransferCompletion',
      'creditSuspenseDeposit',
      'approveFiatAccount',
      'matchItems',
    ]) {
      const operation = service.description.operation(id);
      expectLike(operation, await again(operation, unchanged), 'invalid-state');
    }
    for (const id of ['resolveWithdrawal', 'cancelWithdrawal']) {
      const operation = service.description.operation(id);
      expectLike(operation, await again(operation, asNewRequest(unchanged)), 'invalid-state');
    }
    const { description } = service;
    const replay = description.operation('replayWebhookDelivery');
    const replayed = real.get(replay.id)!;
    const path = replayed.path.replace(/[^/]+\/replay$/, `${replayed.body.id}/replay`);
    expectLike(replay, await again(replay, unchanged, path), 'invalid-state');
    const affirm = description.operation('affirmSettlementTransaction');
    const cancel = description.operation('cancelSettlementTransaction');
    const transaction = await own.make.transactions!();
    const at = `/v2/settlement/transactions/${transaction}`;
    expectLike(affirm, await again(affirm, unchanged, `${at}/affirm`), 'forbidden');
    expect((await again(cancel, unchanged, at)).status).toBe(200);
    expectLike(affirm, await partner.call('PUT', `${at}/affirm`), 'invalid-state');
    const affirmed = real.get(affirm.id)!.path.replace('/affirm', '');
    expectLike(cancel, await again(cancel, unchanged, affirmed), 'invalid-state');
  });

  it('is given for each kind of problem that an operation has', () => {
    for (const operation of secured) {
      for (const [status, response] of Object.entries<any>(operation.responses)) {
        const examples = response.content['application/problem+json']?.examples ?? {};
        for (const [slug, { value }] of Object.entries<any>(examples)) {
          expect(value).toMatchObject({ status: Number(status), detail: expect.stringMatching(/^\S.*\.$/) });
          expect(JSON.stringify(value), `${operation.id} ${slug}`).not.toMatch(/undefined|null|NaN/);
        }
      }
    }
    expect(names(having(503, 'unavailable'))).toHaveLength(secured.length);
  });
});

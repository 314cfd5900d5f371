import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient, disableClient } from '../../src/auth/administration.ts';
import { newId } from '../../src/kernel/id.ts';
import {
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

const CLIENTS = '/v2/operator/clients';
let service: TestService;
let operator: TestCustomer;
let alice: TestCustomer;
const ids: string[] = [];
beforeAll(async () => {
  service = await startTestService();
  [operator, alice] = [await service.createCustomer(), await service.createCustomer()];
  const { database, vault } = service;
  for (let count = 0; count < 7; count += 1) {
    const draft = { customer: alice.id, name: `client ${count}`, scopes: ['funding:read_profile'] };
    ids.push((await createClient(database, vault, draft)).clientId);
  }
  await disableClient(database, ids[3]!);
});
afterAll(() => service.stop());

const listed = async (query: string): Promise<any[]> =>
  (await operator.call('GET', `${CLIENTS}?${query}`)).body.items;
const idsOf = (items: readonly any[]): string[] => items.map((one) => one.client_id);

it('lists the clients of all customers, newest first, each as it is shown alone and without a secret', async () => {
  const all = await listed('limit=100');
  expect(new Set(all.map((one) => one.customer_id))).toEqual(new Set([operator.id, alice.id]));
  expect(idsOf(all).slice(0, 7)).toEqual(ids.toReversed());
  const { credentials: _, ...alone } = (await operator.call('GET', `${CLIENTS}/${ids[0]}`)).body;
  expect(all.find((one) => one.client_id === ids[0])).toEqual(alone);
  expect(JSON.stringify(all)).not.toMatch(/secret/);
});

it('pages with a cursor, also among clients of the same instant, and lists each once', async () => {
  await service.database.query(`update clients set created_at_ns = 5 where customer_id = $1`, [alice.id]);
  const found: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await operator.call(
      'GET',
      `${CLIENTS}?customer_id=${alice.id}&order=ASC&limit=3${cursor}`,
    );
    found.push(...idsOf(body.items));
    if (body.next_page_cursor === undefined) break;
    cursor = `&page_cursor=${body.next_page_cursor}`;
  }
  expect(found).toHaveLength(8);
  expect(new Set(found)).toEqual(new Set(idsOf(await listed(`customer_id=${alice.id}&limit=100`))));
});

it('filters by customer and by status', async () => {
  expect(await listed(`customer_id=${newId()}`)).toEqual([]);
  expect(idsOf(await listed('statuses=DISABLED'))).toEqual([ids[3]]);
  const active = await listed(`customer_id=${alice.id}&statuses=ACTIVE&limit=100`);
  expect(active).toHaveLength(7);
  expect(idsOf(active)).not.toContain(ids[3]);
  expect(await listed(`customer_id=${alice.id}&statuses=ACTIVE&statuses=DISABLED&limit=100`)).toHaveLength(8);
  expectInvalid(await operator.call('GET', `${CLIENTS}?statuses=GONE`), '/query/statuses/0');
  expectInvalid(await operator.call('GET', `${CLIENTS}?page_cursor=nonsense`), '/query/page_cursor');
});

it('needs the scope of an operator', async () => {
  const reader = await service.createCustomer({ scopes: ['funding:read_profile'] });
  expectProblem(await reader.call('GET', CLIENTS), 403, 'insufficient-scope');
});

it('lists only its own clients to a customer, with their scopes', async () => {
  const { status, body } = await alice.call('GET', '/v2/clients?limit=100&statuses=ACTIVE');
  expect(status).toBe(200);
  expect(new Set(body.items.map((one: any) => one.customer_id))).toEqual(new Set([alice.id]));
  expect(idsOf(body.items)).toEqual(expect.arrayContaining(ids.filter((id) => id !== ids[3])));
  expect(idsOf(body.items)).not.toContain(ids[3]);
  expect(body.items.find((one: any) => one.client_id === ids[0]).scopes).toEqual(['funding:read_profile']);
  const none = await service.createCustomer({ scopes: ['funding:read_profile'] });
  expectProblem(await none.call('GET', '/v2/clients'), 403, 'insufficient-scope');
});

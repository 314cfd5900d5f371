import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFerry, type FerryOptions, InsufficientFunds } from '../../packages/client/src/index.ts';
import { createClient } from '../../src/auth/administration.ts';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { balanceOf } from '../support/transfers.ts';

let service: TestService;
let options: FerryOptions;
let from: string;
let to: string;
beforeAll(async () => {
  service = await startTestService();
  const customer = await service.createCustomer();
  const { clientId, clientSecret } = await createClient(service.database, service.vault, {
    customer: customer.id,
    name: 'bulk',
    scopes: SCOPE_NAMES,
  });
  options = { baseUrl: service.url, clientId, clientSecret };
  from = await service.createProfile(customer, { USD: '3000' });
  to = await service.createProfile(customer);
});
afterAll(() => service.stop());

const orders = (count: number, amount = '1') =>
  Array.from({ length: count }, () => ({ from_profile_id: from, to_profile_id: to, asset: 'USD', amount }));
const received = async (): Promise<number> => Number((await balanceOf(service, to, 'USD')).available);

/** Loses the answer of every second bulk, and answers every third transfer of the others with a 503 although it was executed. */
function unreliable(): typeof fetch {
  let count = 0;
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.url.endsWith('/bulk')) return response;
    count += 1;
    const body: any = await response.json();
    if (count % 2 === 1) throw new TypeError('fetch failed');
    if (count > 2) return Response.json(body);
    const problem = { type: 'x/problems/unavailable', title: '', status: 503, detail: 'Retry.', meta: {} };
    const results = body.results.map((one: any, index: number) =>
      index % 3 === 0 ? { ref_id: one.ref_id, status: 503, problem } : one,
    );
    return Response.json({ results });
  };
}

it('executes each transfer once, whatever happens to the answers', async () => {
  const before = await received();
  const ferry = createFerry({ ...options, fetch: unreliable() });
  const results = await ferry.transferAll(orders(50));
  expect(results.map(({ transfer }) => transfer?.status)).toEqual(Array(50).fill('COMPLETED'));
  expect(results.map(({ transfer }) => transfer?.ref_id)).toEqual(results.map(({ refId }) => refId));
  expect((await received()) - before).toBe(50);
});

it('sends more than a request can have in several, and returns problems in their places', async () => {
  const ferry = createFerry(options);
  const before = await received();
  const many = orders(1_001);
  const results = await ferry.transferAll([...many, ...orders(1, '99999')]);
  expect(results.slice(0, -1).every(({ transfer }) => transfer !== undefined)).toBe(true);
  expect(results.at(-1)!.problem).toBeInstanceOf(InsufficientFunds);
  expect((await received()) - before).toBe(1_001);
});

it('throws the problem of an atomic bulk, of which nothing is executed', async () => {
  const ferry = createFerry(options);
  const before = await received();
  const all = [...orders(3), ...orders(1, '99999')];
  const failed = ferry.transferAll(all, { atomic: true });
  await expect(failed).rejects.toBeInstanceOf(InsufficientFunds);
  await expect(failed).rejects.toMatchObject({ meta: { index: 3 } });
  expect(await received()).toBe(before);
  await expect(ferry.transferAll(orders(1_001), { atomic: true })).rejects.toThrow(/At most 1000/);
});

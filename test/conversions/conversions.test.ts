import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import { disableProfile } from '../support/transfers.ts';

/** USD against the operator's own stablecoin and back: one to one, exact, once. */
const PATH = '/v2/conversion/stablecoins';

let service: TestService;
let alice: TestCustomer;
let profile: string;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  profile = await service.createProfile(alice, { USD: '1000', PUSD: '5.000001' });
});
// The audit of the whole ledger finds no violation: every conversion has its postings, and every posting its conversion.
afterAll(() => service.stop());

const convert = (changes: object = {}): Promise<Answer> =>
  alice.call('POST', PATH, {
    profile_id: profile,
    amount: '10',
    source_asset: 'USD',
    target_asset: 'PUSD',
    ...changes,
  });

async function balances(id = profile): Promise<Record<string, string>> {
  const { body } = await alice.call('GET', `/v2/profiles/${id}/balances`);
  return Object.fromEntries(body.items.map((one: any) => [one.asset, one.available]));
}

describe('a conversion', () => {
  it('debits one asset and credits the other with the same amount', async () => {
    const { status, body } = await convert({ amount: '10.50', metadata: { order: '7' } });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.any(String),
      customer_id: alice.id,
      profile_id: profile,
      amount: '10.5',
      source_asset: 'USD',
      target_asset: 'PUSD',
      status: 'SETTLED',
      metadata: { order: '7' },
      created_at: expect.any(String),
    });
    expect(await balances()).toEqual({ USD: '989.5', PUSD: '15.500001' });
    expect((await alice.call('GET', `${PATH}/${body.id}`)).body).toEqual(body);
    const back = await convert({ amount: '10.5', source_asset: 'PUSD', target_asset: 'USD' });
    expect(back.status).toBe(200);
    expect(await balances()).toEqual({ USD: '1000', PUSD: '5.000001' });
  });

  it('emits an event with the conversion, and is the cause of both entries', async () => {
    const { body } = await convert({ amount: '1' });
    const events = await alice.call('GET', `/v2/events?resource_ids=${body.id}&wait_seconds=20`);
    expect(events.body.items).toMatchObject([{ type: 'conversion.settled', data: body }]);
    for (const asset of ['USD', 'PUSD']) {
      const entries = await alice.call('GET', `/v2/profiles/${profile}/entries?asset=${asset}&limit=1`);
      expect(entries.body.items[0].cause).toEqual({ type: 'CONVERSION', id: body.id });
    }
  });

  it('with a ref_id happens once, whatever is repeated at the same time', async () => {
    const before = await balances();
    const ref_id = `conversion ${newId()}`;
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => convert({ ref_id, amount: index % 2 === 0 ? '2' : '2.00' })),
    );
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(9);
    const usd = Number(before.USD) - 2;
    expect((await balances()).USD).toBe(String(usd));
    const meta = expectProblem(await convert({ ref_id, amount: '3' }), 409, 'already-exists');
    expect(meta).toEqual({ existing: answers[0]!.body, differs: ['amount'] });
  });

  it('of more than there is moves nothing, and leaves the ref_id usable', async () => {
    const poor = await service.createProfile(alice, { USD: '1' });
    const request = { profile_id: poor, amount: '1.01', ref_id: `poor ${newId()}` };
    const meta = expectProblem(await convert(request), 403, 'insufficient-funds');
    expect(meta).toEqual({ profile_id: poor, asset: 'USD', available: '1', needed: '1.01' });
    expect(await balances(poor)).toEqual({ USD: '1' });
    expect((await convert({ ...request, amount: '1' })).status).toBe(200);
    expect(await balances(poor)).toEqual({ USD: '0', PUSD: '1' });
  });

  it('keeps the sum of both balances, whatever is converted', async () => {
    const own = await service.createProfile(alice, { USD: '100', PUSD: '100' });
    const step = fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 9_000 }));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 5 }), async (steps) => {
        for (const [toCoin, cents] of steps) {
          const [source_asset, target_asset] = toCoin ? ['USD', 'PUSD'] : ['PUSD', 'USD'];
          const amount = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
          await convert({ profile_id: own, amount, source_asset, target_asset });
        }
        const { USD, PUSD } = await balances(own);
        const cents = (text: string): number => Math.round(Number(text) * 100);
        expect(cents(USD!) + cents(PUSD!)).toBe(20_000);
      }),
      { numRuns: 10 },
    );
  });
});

describe('refused is', () => {
  it.each([
    ['a pair without USD', { source_asset: 'BTC', target_asset: 'PUSD' }, '/target_asset'],
    ['a pair without the stablecoin', { source_asset: 'USD', target_asset: 'USDC' }, '/target_asset'],
    ['an asset with itself', { target_asset: 'USD' }, '/target_asset'],
    ['an unknown asset', { target_asset: 'XYZ' }, '/target_asset'],
    ['nothing', { amount: '0' }, '/amount'],
    ['a number', { amount: 5 }, '/amount'],
    ['an unknown field', { fee: '1' }, '/fee'],
  ])('%s', async (_title, changes, pointer) => {
    const before = await service.countRows();
    const { errors } = expectProblem(await convert(changes), 400, 'invalid-request');
    expect(errors[0].pointer).toBe(pointer);
    expect(await service.countRows()).toEqual(before);
  });

  it.each([
    ['USD', 'PUSD'],
    ['PUSD', 'USD'],
  ])('an amount with more decimals than either has, from %s to %s', async (source_asset, target_asset) => {
    const answer = await convert({ amount: '1.001', source_asset, target_asset });
    expect(expectProblem(answer, 400, 'exceeds-precision')).toMatchObject({ asset: 'USD', max_decimals: 2 });
  });

  it('a profile of another customer, and a disabled one', async () => {
    const other = await service.createProfile(await service.createCustomer(), { USD: '5' });
    expectProblem(await convert({ profile_id: other }), 404, 'not-found');
    const own = await service.createProfile(alice, { USD: '50' });
    await disableProfile(service, own);
    expectProblem(await convert({ profile_id: own }), 403, 'forbidden');
  });

  it('a third-party integration that names no end user', async () => {
    const broker = await service.createCustomer({ integration: 'THIRD_PARTY' });
    const own = await service.createProfile(broker, { USD: '5' });
    const body = { profile_id: own, amount: '1', source_asset: 'USD', target_asset: 'PUSD' };
    expectInvalid(await broker.call('POST', PATH, body), '/identity_id', '/account_id');
  });
});

describe('the list', () => {
  it('pages through all conversions of the customer, by profile and ref_id', async () => {
    const customer = await service.createCustomer();
    const [one, other] = [
      await service.createProfile(customer, { USD: '100' }),
      await service.createProfile(customer, { USD: '100' }),
    ];
    const ids: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      const body = { profile_id: index % 2 === 0 ? one : other, amount: '1', source_asset: 'USD' };
      const made = await customer.call('POST', PATH, { ...body, target_asset: 'PUSD', ref_id: `c${index}` });
      ids.push(made.body.id);
    }
    const found: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = await customer.call(
        'GET',
        `${PATH}?order=ASC&limit=3${cursor && `&page_cursor=${cursor}`}`,
      );
      found.push(...page.body.items.map(({ id }: { id: string }) => id));
      cursor = page.body.next_page_cursor;
    }
    expect(found).toEqual(ids);
    const ofOne = await customer.call('GET', `${PATH}?profile_ids=${one}&order=ASC`);
    expect(ofOne.body.items.map(({ id }: { id: string }) => id)).toEqual(ids.filter((_, at) => at % 2 === 0));
    const byRef = await customer.call('GET', `${PATH}?ref_ids=c3`);
    expect(byRef.body.items.map(({ id }: { id: string }) => id)).toEqual([ids[3]]);
    expect((await alice.call('GET', `${PATH}?ids=${ids[0]}`)).body.items).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { expectInvalid, startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { createIdentity } from '../support/transfers.ts';

/** Filters that lists of several capabilities have. Each page by page, so that a cursor loses and repeats nothing. */
let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
});
afterAll(() => service.stop());

async function walk(path: string, query: string, limit = 2): Promise<any[]> {
  const found: any[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const more = cursor && `&page_cursor=${cursor}`;
    const page = await alice.call('GET', `${path}?limit=${limit}&order=ASC&${query}${more}`);
    if (page.status !== 200) throw new Error(JSON.stringify(page.body));
    found.push(...page.body.items);
    cursor = page.body.next_page_cursor;
  }
  return found;
}
const ids = (items: any[]): string[] => items.map((one) => one.id);

describe('settlement transactions', () => {
  const PATH = '/v2/settlement/transactions';

  it('are found by source, target and what they wait for', async () => {
    const [a, b] = [await service.createProfile(alice), await service.createProfile(alice)];
    const other = await service.createProfile(bob);
    const trade = async (source: string, target: string, by = alice): Promise<string> =>
      (
        await by.call('POST', PATH, {
          source_profile_id: source,
          target_profile_id: target,
          legs: [{ direction: 'DELIVER', asset: 'USD', amount: '1' }],
          settlement_window_start: new Date(Date.now() + 86_400_000).toISOString(),
        })
      ).body.id;
    const made = [
      await trade(a, other),
      await trade(b, other),
      await trade(a, b),
      await trade(other, a, bob),
      await trade(a, other),
    ];
    await bob.call('PUT', `${PATH}/${made[0]}/affirm`);
    const pick = (...at: number[]): string[] => at.map((index) => made[index]!);
    expect(ids(await walk(PATH, `source_profile_id=${a}`))).toEqual(pick(0, 2, 4));
    expect(ids(await walk(PATH, `target_profile_id=${a}`))).toEqual(pick(3));
    expect(ids(await walk(PATH, `target_profile_id=${other}`))).toEqual(pick(0, 1, 4));
    expect(ids(await walk(PATH, `source_profile_id=${a}&target_profile_id=${other}`))).toEqual(pick(0, 4));
    expect(ids(await walk(PATH, `secondary_statuses=AWAITING_WINDOW`))).toEqual(pick(0));
    const waiting = await walk(PATH, 'secondary_statuses=AWAITING_AFFIRMATION');
    expect(ids(waiting)).toEqual(pick(1, 2, 3, 4));
    for (const one of waiting) expect(one.secondary_status.name).toBe('AWAITING_AFFIRMATION');
    const affirmed = `source_profile_id=${a}&statuses=AFFIRMED&order_by=UPDATED_AT`;
    expect(ids(await walk(PATH, affirmed))).toEqual(pick(0));
    expect((await alice.call('GET', `${PATH}?source_profile_id=${newId()}`)).body.items).toEqual([]);
    expectInvalid(await alice.call('GET', `${PATH}?source_profile_id=x`), '/query/source_profile_id');
  });
});

describe('transfers', () => {
  const PATH = '/v2/transfer/transfers';

  it('are found by assets, what they wait for, and one identity', async () => {
    const [a, b] = [
      await service.createProfile(alice, { USD: '100', BTC: '5', ETH: '5' }),
      await service.createProfile(alice),
    ];
    const identity = await createIdentity(service, alice);
    const move = async (asset: string, more: object = {}): Promise<string> =>
      (
        await alice.call('POST', '/v2/transfer/internal', {
          from_profile_id: a,
          to_profile_id: b,
          asset,
          amount: '1',
          ...more,
        })
      ).body.id;
    const made = [await move('USD'), await move('BTC'), await move('ETH'), await move('BTC')];
    const named = await move('USD', { from_identity_id: identity });
    const withdrawal = await alice.call('POST', '/v2/transfer/crypto-withdrawals', {
      profile_id: a,
      asset: 'BTC',
      crypto_network: 'BITCOIN',
      destination_address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      amount: '0.5',
    });
    const ofA = `profile_ids=${a}`;
    const { name } = withdrawal.body.secondary_status;
    expect(ids(await walk(PATH, `${ofA}&assets=BTC`))).toEqual([made[1], made[3], withdrawal.body.id]);
    expect(ids(await walk(PATH, `${ofA}&assets=USD&assets=ETH`))).toEqual([made[0], made[2], named]);
    const debits = 'assets=BTC&type=INTERNAL_TRANSFER_DEBIT';
    expect(ids(await walk(PATH, debits))).toEqual([made[1], made[3]]);
    expect(ids(await walk(PATH, `assets=ETH&order_by=UPDATED_AT`))).toContain(made[2]);
    expect(ids(await walk(PATH, `secondary_statuses=${name}`))).toEqual([withdrawal.body.id]);
    expect(ids(await walk(PATH, `secondary_statuses=${name}&statuses=COMPLETED`))).toEqual([]);
    expect(ids(await walk(PATH, `identity_id=${identity}`))).toEqual([named]);
    expect(ids(await walk(PATH, `identity_id=${identity}&identity_ids=${newId()}`))).toEqual([]);
    expect(ids(await walk(PATH, `assets=BTC&assets=USD&ids=${made[0]}&ids=${made[2]}`))).toEqual([made[0]]);
  });
});

describe('records of an identity', () => {
  it('are found in the lists of accounts, deposit addresses and deposit instructions', async () => {
    const profile = await service.createProfile(alice);
    const [one, other] = [await createIdentity(service, alice), await createIdentity(service, alice)];
    const post = async (path: string, body: object): Promise<string> =>
      (await alice.call('POST', path, body)).body.id;
    const lists = [
      {
        path: '/v2/identity/accounts',
        make: (identity_id: string) => post('/v2/identity/accounts', { account: { identity_id } }),
      },
      {
        path: '/v2/transfer/deposit-addresses',
        make: (identity_id: string) =>
          post('/v2/transfer/deposit-addresses', {
            profile_id: profile,
            crypto_network: 'BITCOIN',
            identity_id,
          }),
      },
      {
        path: '/v2/transfer/fiat-deposit-instructions',
        make: (identity_id: string) =>
          post('/v2/transfer/fiat-deposit-instructions', {
            profile_id: profile,
            fiat_network: 'WIRE',
            identity_id,
          }),
      },
    ];
    for (const { path, make } of lists) {
      const made = [await make(one), await make(other), await make(one), await make(one)];
      expect(ids(await walk(path, `identity_id=${one}`))).toEqual([made[0], made[2], made[3]]);
      expect(ids(await walk(path, `identity_ids=${one}&identity_ids=${other}`))).toEqual(made);
    }
  });

  it('have fiat deposit instructions that can be read one by one', async () => {
    const profile = await service.createProfile(alice);
    const PATH = '/v2/transfer/fiat-deposit-instructions';
    const { body } = await alice.call('POST', PATH, { profile_id: profile, fiat_network: 'WIRE' });
    expect((await alice.call('GET', `${PATH}/${body.id}`)).body).toEqual(body);
    expect((await bob.call('GET', `${PATH}/${body.id}`)).status).toBe(404);
  });
});

describe('times in filters', () => {
  it.each([
    ['created_at.gte=0001-01-01T00:00:00Z', true],
    ['created_at.gt=0000-01-01T00:00:00%2B23:59', true],
    ['created_at.lt=9999-12-31T23:59:59.999999999Z', true],
    ['created_at.lte=9999-12-31T23:59:60Z', true],
    ['created_at.gte=9999-12-31T23:59:59Z', false],
    ['created_at.gt=2262-04-11T23:47:16.854775807Z', false],
    ['created_at.eq=9999-12-31T23:59:59Z', false],
    ['created_at.lt=0001-01-01T00:00:00Z', false],
    ['created_at.lte=1677-09-21T00:12:43Z', false],
    ['created_at.gte=2016-12-31t23:59:60z', true],
    ['created_at.gte=1990-12-31T15:59:60-08:00', true],
    ['updated_at.gte=0001-01-01T00:00:00Z&order_by=CREATED_AT', true],
    ['updated_at.gte=9999-01-01T00:00:00Z&order_by=CREATED_AT', false],
  ])('may be of any year, and leap seconds: %s', async (query, isFound) => {
    const customer = await service.createCustomer();
    await customer.call('POST', '/v2/identity/identities', { institution_details: { name: 'Harbour' } });
    const { status, body } = await customer.call('GET', `/v2/identity/identities?${query}`);
    expect([status, body.items.length]).toEqual([200, isFound ? 1 : 0]);
  });

  it('are exact to the nanosecond, at any offset', async () => {
    const { body } = await alice.call('POST', '/v2/identity/identities', {
      institution_details: { name: 'Exact' },
    });
    const found = async (query: string): Promise<boolean> =>
      (await walk('/v2/identity/identities', query, 100)).some(({ id }) => id === body.id);
    const at = encodeURIComponent(body.created_at);
    const offset = encodeURIComponent(body.created_at.replace('Z', '+00:00'));
    expect(await found(`created_at.eq=${at}`)).toBe(true);
    expect(await found(`created_at.eq=${offset}`)).toBe(true);
    expect(await found(`created_at.gt=${at}`)).toBe(false);
    expect(await found(`created_at.gte=${at}`)).toBe(true);
    expect(await found(`created_at.lt=${at}`)).toBe(false);
  });

  it.each(['2016-12-30T23:59:60Z', '2026-02-30T00:00:00Z', '10000-01-01T00:00:00Z'])(
    'that do not exist are refused: %s',
    async (time) => {
      const answer = await alice.call('GET', `/v2/profiles?created_at.lt=${time}`);
      expectInvalid(answer, '/query/created_at.lt');
    },
  );
});

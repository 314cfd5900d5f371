import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { pidOf, untilBlockedBy } from '../support/barriers.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

const PATH = '/v2/profiles';
const NEW = {
  id: expect.any(String),
  status: 'ACTIVE',
  created_at: expect.any(String),
  updated_at: expect.any(String),
};

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  bob = await service.createCustomer();
  await freshAlice();
});
afterAll(() => service.stop());

/** A customer without any records. */
async function freshAlice(): Promise<void> {
  alice = await service.createCustomer();
}

const create = (body: unknown): Promise<Answer> => alice.call('POST', PATH, body);

async function createAccount(customer: TestCustomer): Promise<string> {
  const identity = await customer.call('POST', '/v2/identity/identities', {
    institution_details: { name: 'Harbour Brokerage' },
  });
  const account = await customer.call('POST', '/v2/identity/accounts', {
    account: { identity_id: identity.body.id },
  });
  return account.body.id;
}

/** The answer, after checking that nothing was written. */
async function refused(request: () => Promise<Answer>): Promise<Answer> {
  const before = await service.countRows();
  const answer = await request();
  expect(await service.countRows()).toEqual(before);
  return answer;
}

describe('creating a profile', () => {
  beforeEach(freshAlice);

  it('makes the first one DEFAULT and later ones NORMAL, for each customer', async () => {
    const first = await create({ nickname: 'Main' });
    expect(first.status).toBe(200);
    expect(first.body).toEqual({ ...NEW, nickname: 'Main', type: 'DEFAULT' });
    expect((await create({ nickname: 'Savings' })).body.type).toBe('NORMAL');
    expect((await bob.call('POST', PATH, { nickname: 'Main' })).body.type).toBe('DEFAULT');
  });

  it('makes exactly one of many that are created at once DEFAULT', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => create({ nickname: `Profile ${index}` })),
    );
    expect(answers.filter(({ body }) => body.type === 'DEFAULT')).toHaveLength(1);
    expect(answers.filter(({ body }) => body.type === 'NORMAL')).toHaveLength(9);
  });

  it('stores the description and the account', async () => {
    const request = {
      nickname: 'Größe 📈',
      description: 'two\nlines',
      account_id: await createAccount(alice),
    };
    const { body } = await create(request);
    expect(body).toEqual({ ...NEW, type: 'DEFAULT', ...request });
    expect((await alice.call('GET', `${PATH}/${body.id}`)).body).toEqual(body);
  });

  it('refuses a nickname that is taken, and shows its profile and what differs', async () => {
    const accountId = await createAccount(alice);
    const { body: existing } = await create({ nickname: 'Main', description: 'first' });
    const cases: [object, string[]][] = [
      [{ nickname: 'Main', description: 'first' }, []],
      [{ nickname: 'Main' }, ['description']],
      [{ nickname: 'Main', account_id: accountId }, ['account_id', 'description']],
    ];
    for (const [request, differs] of cases) {
      const meta = expectProblem(await refused(() => create(request)), 409, 'already-exists');
      expect(meta).toEqual({ existing, differs });
    }
    expect((await create({ nickname: 'main' })).status).toBe(200);
  });

  it('creates one profile for ten requests with the same nickname at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => create({ nickname: 'Main' })));
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
    const created = answers.find(({ status }) => status === 200)!;
    for (const answer of answers) {
      if (answer !== created) expect(answer.body.meta.existing).toEqual(created.body);
    }
  });

  it('refuses a nickname that another node takes at the same moment', async () => {
    const id = newId();
    let answer: Promise<Answer>;
    await service.database.transaction(async (tx) => {
      await tx.query(
        `insert into profiles (id, customer_id, nickname, type, created_at_ns) values ($1, $2, 'Main', 'DEFAULT', 1)`,
        [id, alice.id],
      );
      answer = create({ nickname: 'Main' });
      answer.catch(() => undefined);
      await untilBlockedBy(service.database, await pidOf(tx));
    });
    const { existing } = expectProblem(await answer!, 409, 'already-exists');
    expect(existing).toEqual({ ...NEW, id, nickname: 'Main', type: 'DEFAULT' });
  });

  it('accepts nickname and description at their limits', async () => {
    const answer = await create({ nickname: '😀'.repeat(140), description: 'x'.repeat(500) });
    expect(answer.status).toBe(200);
  });

  it('answers 404 for unknown accounts and those of other customers', async () => {
    for (const id of [await createAccount(bob), newId()]) {
      const answer = await refused(() => create({ nickname: 'Main', account_id: id }));
      expect(expectProblem(answer, 404, 'not-found')).toEqual({ resource: 'account', id });
    }
  });
});

describe('validation', () => {
  const cases: [string, unknown, string[]][] = [
    ['without a nickname', {}, ['/nickname']],
    ['with null as nickname', { nickname: null }, ['/nickname']],
    ['with a number as nickname', { nickname: 1 }, ['/nickname']],
    ['with blanks around the nickname', { nickname: ' Main' }, ['/nickname']],
    ['with a nickname of blanks', { nickname: '  ' }, ['/nickname']],
    ['with a line break in the nickname', { nickname: 'a\nb' }, ['/nickname']],
    ['with a nickname of 141 characters', { nickname: 'x'.repeat(141) }, ['/nickname']],
    ['with null as description', { nickname: 'x', description: null }, ['/description']],
    [
      'with a description of 501 characters',
      { nickname: 'x', description: 'x'.repeat(501) },
      ['/description'],
    ],
    ['with a malformed account', { nickname: 'x', account_id: 'x' }, ['/account_id']],
    ['with a type', { nickname: 'x', type: 'DEFAULT' }, ['/type']],
  ];
  it.each(cases)('refuses a request %s', async (_title, body, pointers) => {
    expectInvalid(await refused(() => create(body)), ...pointers);
  });
});

describe('reading profiles', () => {
  beforeEach(freshAlice);

  it('answers 404 for unknown profiles and those of other customers', async () => {
    const { id } = (await bob.call('POST', PATH, { nickname: 'Other' })).body;
    for (const path of [id, newId()].flatMap((one) => [one, `${one}/balances`, `${one}/balances/USD`])) {
      const answer = await alice.call('GET', `${PATH}/${path}`);
      const meta = expectProblem(answer, 404, 'not-found');
      expect(meta).toEqual({ resource: 'profile', id: path.slice(0, 36) });
    }
    expectInvalid(await alice.call('GET', `${PATH}/x`), '/path/id');
    expect((await alice.call('GET', PATH)).body).toEqual({ items: [] });
    expect((await alice.call('GET', `${PATH}?ids=${id}`)).body).toEqual({ items: [] });
  });

  it('pages through them while others are added', async () => {
    for (let index = 0; index < 7; index += 1) await create({ nickname: `Profile ${index}` });
    const seen: string[] = [];
    let query = '?limit=3';
    for (let page = 0; page < 3; page += 1) {
      const { body } = await alice.call('GET', PATH + query);
      seen.push(...body.items.map((item: any) => item.nickname));
      expect(body.next_page_cursor === undefined).toBe(page === 2);
      query = `?limit=3&page_cursor=${body.next_page_cursor}`;
      await create({ nickname: `Late ${page}` });
    }
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((index) => `Profile ${index}`));
    const ascending = await alice.call('GET', `${PATH}?order=ASC&limit=2`);
    expect(ascending.body.items.map((item: any) => item.nickname)).toEqual(['Profile 0', 'Profile 1']);
    expectInvalid(
      await alice.call('GET', `${PATH}?page_cursor=${ascending.body.next_page_cursor}`),
      '/query/page_cursor',
    );
  });

  it('filters by id, nickname and account, and refuses other parameters', async () => {
    const accountId = await createAccount(alice);
    const [one, two, three] = [
      (await create({ nickname: 'One, two' })).body,
      (await create({ nickname: 'Two' })).body,
      (await create({ nickname: 'Three', account_id: accountId })).body,
    ];
    const items = async (query: string) => (await alice.call('GET', `${PATH}?order=ASC&${query}`)).body.items;
    expect(await items(`ids=${one.id}&ids=${two.id}`)).toEqual([one, two]);
    expect(await items(`nicknames=${encodeURIComponent('One, two')}`)).toEqual([one]);
    expect(await items(`account_ids=${accountId}`)).toEqual([three]);
    expect(await items('created_at.lt=2020-01-01T00:00:00Z')).toEqual([]);
    expectInvalid(
      await alice.call('GET', `${PATH}?limit=0&order_by=NICKNAME`),
      '/query/limit',
      '/query/order_by',
    );
  });

  it('needs the scopes', async () => {
    const reader = await service.createCustomer({ scopes: ['funding:read_profile'] });
    expect((await reader.call('GET', PATH)).status).toBe(200);
    const meta = expectProblem(await reader.call('POST', PATH, { nickname: 'x' }), 403, 'insufficient-scope');
    expect(meta.required).toBe('funding:write_profile');
    const writer = await service.createCustomer({ scopes: ['funding:write_profile'] });
    const { id } = (await writer.call('POST', PATH, { nickname: 'x' })).body;
    for (const path of ['', `/${id}`, `/${id}/balances`, `/${id}/balances/USD`]) {
      expectProblem(await writer.call('GET', PATH + path), 403, 'insufficient-scope');
    }
  });
});

describe('balances', () => {
  const transfer = async (from: string, to: string, amount: string): Promise<string> => {
    const body = { from_profile_id: from, to_profile_id: to, amount, asset: 'USD' };
    const answer = await alice.call('POST', '/v2/transfer/internal', body);
    expect(answer.status).toBe(200);
    return answer.body.created_at;
  };
  const usd = (available: string): object => ({ asset: 'USD', available, held: '0', trading: '0' });

  it('include every asset that the profile ever had, and are zero for one that it never had', async () => {
    const id = await service.createProfile(alice, { USD: '100.50', BTC: '0.00000001' });
    const { body } = await alice.call('GET', `${PATH}/${id}/balances`);
    expect(body).toEqual({
      items: [{ asset: 'BTC', available: '0.00000001', held: '0', trading: '0' }, usd('100.5')],
    });
    expect((await alice.call('GET', `${PATH}/${id}/balances/USD`)).body).toEqual(usd('100.5'));
    const never = await alice.call('GET', `${PATH}/${id}/balances/ETH`);
    expect(never.body).toEqual({ asset: 'ETH', available: '0', held: '0', trading: '0' });
  });

  it('of a profile without any are an empty list', async () => {
    const { id } = (await create({ nickname: 'Empty' })).body;
    expect((await alice.call('GET', `${PATH}/${id}/balances`)).body).toEqual({ items: [] });
  });

  it('of an unknown asset are not found', async () => {
    const id = await service.createProfile(alice);
    for (const asset of ['DOGE', 'usd']) {
      const answer = await alice.call('GET', `${PATH}/${id}/balances/${asset}`);
      expect(expectProblem(answer, 404, 'not-found')).toEqual({ resource: 'asset', id: asset });
    }
    expectInvalid(await alice.call('GET', `${PATH}/${id}/balances/${'X'.repeat(13)}`), '/path/asset');
  });

  it('are shown as of a time, including what happened at that instant', async () => {
    const from = await service.createProfile(alice, { USD: '100' });
    const to = await service.createProfile(alice);
    const times = [
      await transfer(from, to, '10'),
      await transfer(from, to, '20'),
      await transfer(to, from, '5'),
    ];
    const at = async (profile: string, time: string) => {
      const query = `?at=${encodeURIComponent(time)}`;
      const one = (await alice.call('GET', `${PATH}/${profile}/balances/USD${query}`)).body;
      expect((await alice.call('GET', `${PATH}/${profile}/balances${query}`)).body).toEqual({ items: [one] });
      return one.available;
    };
    const known = await Promise.all(times.map(async (time) => [await at(from, time), await at(to, time)]));
    expect(known).toEqual([
      ['90', '10'],
      ['70', '30'],
      ['75', '25'],
    ]);
    expect(await at(to, '2020-01-01T00:00:00+02:00')).toBe('0');
    expect((await alice.call('GET', `${PATH}/${to}/balances/USD`)).body).toEqual(usd('25'));
  });

  it('of the future are refused, as is a malformed time', async () => {
    const id = await service.createProfile(alice, { USD: '1' });
    const future = new Date(Date.now() + 60_000).toISOString();
    for (const time of [future, 'yesterday', '2025-02-30T00:00:00Z', '']) {
      for (const path of ['balances', 'balances/USD']) {
        expectInvalid(await alice.call('GET', `${PATH}/${id}/${path}?at=${time}`), '/query/at');
      }
    }
    expectInvalid(await alice.call('GET', `${PATH}/${id}/balances?limit=1`), '/query/limit');
  });
});

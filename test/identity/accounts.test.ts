import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

const PATH = '/v2/identity/accounts';

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let identity: string;
beforeAll(async () => {
  service = await startTestService();
  bob = await service.createCustomer();
  await freshAlice();
});
afterAll(() => service.stop());

/** A customer without any records. */
async function freshAlice(): Promise<void> {
  alice = await service.createCustomer();
  identity = await createIdentity(alice);
}

async function createIdentity(customer: TestCustomer): Promise<string> {
  const person_details = { first_name: 'Tomás', last_name: 'Herrera' };
  return (await customer.call('POST', '/v2/identity/identities', { person_details })).body.id;
}

const create = (account: object, rest: object = {}): Promise<Answer> =>
  alice.call('POST', PATH, { account: { identity_id: identity, ...account }, ...rest });

/** The answer, after checking that nothing was written. */
async function refused(request: () => Promise<Answer>): Promise<Answer> {
  const before = await service.countRows();
  const answer = await request();
  expect(await service.countRows()).toEqual(before);
  return answer;
}

describe('creating an account', () => {
  beforeEach(freshAlice);

  it('creates a brokerage account without members', async () => {
    const answer = await create({});
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: expect.any(String),
      identity_id: identity,
      type: 'BROKERAGE',
      members: [],
      created_at: expect.stringMatching(/Z$/),
      updated_at: answer.body.created_at,
    });
    expect((await alice.call('GET', `${PATH}/${answer.body.id}`)).body).toEqual(answer.body);
  });

  it('stores every field', async () => {
    const request = { type: 'CUSTODY', description: 'd'.repeat(500), ref_id: 'one', metadata: { a: 'b' } };
    const { body } = await create(request, { create_profile: false });
    expect(body).toMatchObject({ identity_id: identity, ...request });
    expect(body).not.toHaveProperty('profile_id');
    expect((await alice.call('GET', `${PATH}/${body.id}`)).body).toEqual(body);
  });

  it('creates a profile with it on request', async () => {
    const { body } = await create({}, { create_profile: true });
    const profile = await alice.call('GET', `/v2/profiles/${body.profile_id}`);
    expect(profile.body).toEqual({
      id: body.profile_id,
      nickname: `Account ${body.id}`,
      type: 'NORMAL',
      account_id: body.id,
      status: 'ACTIVE',
      created_at: expect.any(String),
      updated_at: profile.body.created_at,
    });
    expect((await alice.call('GET', `/v2/profiles/${body.profile_id}/balances/USD`)).status).toBe(200);
    // It belongs to the end user: the customer's own first profile is still the default one.
    expect((await alice.call('POST', '/v2/profiles', { nickname: 'Main' })).body.type).toBe('DEFAULT');
  });

  it('replays the current account for the same request, and creates no second profile', async () => {
    const first = await create({ ref_id: 'one' }, { create_profile: true });
    const added = await alice.call('POST', '/v2/identity/account-members', {
      account_id: first.body.id,
      members: [{ identity_id: await createIdentity(alice), roles: ['AUTHORIZED_USER'] }],
    });
    const again = await refused(() => create({ ref_id: 'one', type: 'BROKERAGE' }, { create_profile: true }));
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual({
      ...first.body,
      members: added.body.members,
      updated_at: again.body.updated_at,
    });
    expect(again.body.updated_at > first.body.updated_at).toBe(true);
  });

  it('refuses a different request with the same ref_id, and names what differs', async () => {
    const { body: existing } = await create({ ref_id: 'one' });
    const other = await createIdentity(alice);
    const cases: [object, object, string[]][] = [
      [{}, { create_profile: true }, ['create_profile']],
      [{ type: 'OTHER', description: 'x' }, {}, ['description', 'type']],
      [{ identity_id: other }, {}, ['identity_id']],
    ];
    for (const [account, rest, differs] of cases) {
      const answer = await refused(() => create({ ref_id: 'one', ...account }, rest));
      expect(expectProblem(answer, 409, 'already-exists')).toEqual({ existing, differs });
    }
  });

  it('creates one account and one profile for twenty equal requests at once', async () => {
    const before = await service.countRows();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => create({ ref_id: 'one' }, { create_profile: true })),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1);
    const after = await service.countRows();
    expect(after.accounts! - before.accounts!).toBe(1n);
    expect(after.profiles! - before.profiles!).toBe(1n);
  });

  it('does not use up a ref_id with a refused request', async () => {
    const refusal = await refused(() => create({ identity_id: newId(), ref_id: 'one' }));
    expectProblem(refusal, 404, 'not-found');
    expect((await create({ ref_id: 'one' })).status).toBe(200);
  });

  it('answers 404 for unknown identities and those of other customers', async () => {
    for (const id of [await createIdentity(bob), newId()]) {
      const answer = await refused(() => create({ identity_id: id }, { create_profile: true }));
      expect(expectProblem(answer, 404, 'not-found')).toEqual({ resource: 'identity', id });
    }
  });

  it('refuses a disabled identity', async () => {
    await service.database.query(`update identities set status = 'DISABLED' where id = $1`, [identity]);
    const meta = expectProblem(await refused(() => create({})), 403, 'forbidden');
    expect(meta).toEqual({ identity_id: identity });
  });
});

describe('validation', () => {
  const cases: [string, object, object, string][] = [
    ['without account', {}, { account: undefined }, '/account'],
    ['with null as account', {}, { account: null }, '/account'],
    ['without identity_id', { identity_id: undefined }, {}, '/account/identity_id'],
    ['with a malformed identity_id', { identity_id: 'x' }, {}, '/account/identity_id'],
    ['with an unknown type', { type: 'SAVINGS' }, {}, '/account/type'],
    ['with a description of 501 characters', { description: 'x'.repeat(501) }, {}, '/account/description'],
    ['with null as ref_id', { ref_id: null }, {}, '/account/ref_id'],
    ['with a list as metadata', { metadata: [] }, {}, '/account/metadata'],
    ['with members', { members: [] }, {}, '/account/members'],
    ['with text as create_profile', {}, { create_profile: 'true' }, '/create_profile'],
    ['with null as create_profile', {}, { create_profile: null }, '/create_profile'],
    ['with an unknown field', {}, { profile: true }, '/profile'],
  ];
  it.each(cases)('refuses a request %s', async (_title, account, rest, pointer) => {
    expectInvalid(await refused(() => create(account, rest)), pointer);
  });
});

describe('reading accounts', () => {
  beforeEach(freshAlice);

  it('answers 404 for unknown accounts and those of other customers', async () => {
    const theirs = await bob.call('POST', PATH, { account: { identity_id: await createIdentity(bob) } });
    for (const id of [theirs.body.id, newId()]) {
      const meta = expectProblem(await alice.call('GET', `${PATH}/${id}`), 404, 'not-found');
      expect(meta).toEqual({ resource: 'account', id });
      expect((await alice.call('GET', `${PATH}?ids=${id}`)).body).toEqual({ items: [] });
    }
    expectInvalid(await alice.call('GET', `${PATH}/x`), '/path/id');
  });

  it('pages through them, with their members, while others are added', async () => {
    for (let index = 0; index < 5; index += 1) await create({ ref_id: `ref ${index}` });
    const [account] = (await alice.call('GET', `${PATH}?ref_ids=${encodeURIComponent('ref 0')}`)).body.items;
    const added = await alice.call('POST', '/v2/identity/account-members', {
      account_id: account.id,
      members: [{ identity_id: await createIdentity(alice), roles: ['BENEFICIAL_OWNER'] }],
    });
    const seen: any[] = [];
    let query = '?limit=2';
    for (let page = 0; page < 3; page += 1) {
      const { body } = await alice.call('GET', PATH + query);
      seen.push(...body.items);
      expect(body.next_page_cursor === undefined).toBe(page === 2);
      query = `?limit=2&page_cursor=${body.next_page_cursor}`;
      await create({ ref_id: `late ${page}` });
    }
    expect(seen.map((item) => item.ref_id)).toEqual([4, 3, 2, 1, 0].map((index) => `ref ${index}`));
    expect(seen.at(-1).members).toEqual(added.body.members);
  });

  it('filters by owner and orders by the last change; a new member is a change', async () => {
    const one = (await create({})).body;
    const two = (await create({})).body;
    const other = await createIdentity(alice);
    const three = (await create({ identity_id: other })).body;
    const ids = async (query: string) =>
      (await alice.call('GET', `${PATH}?${query}`)).body.items.map((item: any) => item.id);
    expect(await ids(`identity_ids=${identity}`)).toEqual([two.id, one.id]);
    await alice.call('POST', '/v2/identity/account-members', {
      account_id: one.id,
      members: [{ identity_id: other, roles: ['AUTHORIZED_USER'] }],
    });
    expect(await ids('order_by=UPDATED_AT')).toEqual([one.id, three.id, two.id]);
    expect(await ids('order_by=CREATED_AT&order=ASC')).toEqual([one.id, two.id, three.id]);
    expect(await ids(`updated_at.gt=${three.updated_at}`)).toEqual([one.id]);
    expectInvalid(await alice.call('GET', `${PATH}?account_ids=${one.id}`), '/query/account_ids');
  });

  it('needs the scopes', async () => {
    const reader = await service.createCustomer({ scopes: ['identity:read_account'] });
    expect((await reader.call('GET', PATH)).status).toBe(200);
    const answer = await reader.call('POST', PATH, { account: { identity_id: identity } });
    expect(expectProblem(answer, 403, 'insufficient-scope').required).toBe('identity:write_account');
    const writer = await service.createCustomer({ scopes: ['identity:write_account'] });
    expectProblem(await writer.call('GET', PATH), 403, 'insufficient-scope');
    expectProblem(await writer.call('GET', `${PATH}/${newId()}`), 403, 'insufficient-scope');
  });
});

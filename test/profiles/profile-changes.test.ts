import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

const PATH = '/v2/profiles';

let service: TestService;
let alice: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
});
afterAll(() => service.stop());

const create = async (nickname: string, more: object = {}): Promise<any> =>
  (await alice.call('POST', PATH, { nickname, ...more })).body;
const update = (id: string, body: object): Promise<Answer> => alice.call('PUT', `${PATH}/${id}`, body);

describe('updating a profile', () => {
  it('changes the given fields and keeps the others', async () => {
    const before = await create('Payroll', { description: 'Salaries' });
    const renamed = await update(before.id, { nickname: 'Wages' });
    expect(renamed.body).toEqual({ ...before, nickname: 'Wages', updated_at: expect.any(String) });
    expect(renamed.body.updated_at > before.updated_at).toBe(true);
    const described = await update(before.id, { description: 'Weekly' });
    expect(described.body).toMatchObject({ nickname: 'Wages', description: 'Weekly' });
    expect((await alice.call('GET', `${PATH}/${before.id}`)).body).toEqual(described.body);
  });

  it('with the values that it has changes nothing, so a retry is safe', async () => {
    const { id } = await create('Rent');
    const first = await update(id, { nickname: 'Rents' });
    expect((await update(id, { nickname: 'Rents' })).body).toEqual(first.body);
  });

  it('is in the audit log, with who did it', async () => {
    const { id } = await create('Logged');
    await update(id, { nickname: 'Logged again' });
    const log = async (): Promise<any[]> =>
      (await alice.call('GET', `/v2/audit-log?resource_ids=${id}`)).body.items;
    await expect
      .poll(async () => (await log()).map(({ action }) => action))
      .toEqual(['profile.updated', 'profile.created']);
    const [updated] = await log();
    expect([updated.before.nickname, updated.after.nickname]).toEqual(['Logged', 'Logged again']);
  });

  it('to a nickname that another profile has is refused, and shows that profile', async () => {
    const taken = await create('Taken');
    const { id } = await create('Other');
    const meta = expectProblem(await update(id, { nickname: 'Taken' }), 409, 'already-exists');
    expect(meta).toEqual({ existing: taken, differs: ['id'] });
    const bob = await service.createCustomer();
    const theirs = await bob.call('POST', PATH, { nickname: 'Bobs' });
    const free = await bob.call('PUT', `${PATH}/${theirs.body.id}`, { nickname: 'Taken' });
    expect(free.status).toBe(200);
  });

  it('of many profiles to one nickname at the same time succeeds once', async () => {
    const profiles = await Promise.all(Array.from({ length: 6 }, (_, index) => create(`Race ${index}`)));
    const answers = await Promise.all(profiles.map(({ id }) => update(id, { nickname: 'Winner' })));
    expect(answers.map(({ status }) => status).sort((one, other) => one - other)).toEqual([
      200, 409, 409, 409, 409, 409,
    ]);
  });

  it.each([
    [{}, ''],
    [{ nickname: ' x' }, '/nickname'],
    [{ type: 'DEFAULT' }, '/type'],
    [{ account_id: '0198c5a5-0000-7000-8000-000000000001' }, '/account_id'],
  ])('refuses %j', async (body, pointer) => {
    const { id } = await create(`Refuses ${JSON.stringify(body)}`);
    expectInvalid(await update(id, body), pointer);
  });
});

describe('deactivating a profile', () => {
  const deactivate = (id: string): Promise<Answer> => alice.call('DELETE', `${PATH}/${id}`);

  it('stops everything from and to it; it can still be read', async () => {
    const id = await service.createProfile(alice);
    const rich = await service.createProfile(alice, { USD: '5' });
    const { status, body } = await deactivate(id);
    expect([status, body.status]).toEqual([200, 'DISABLED']);
    const transfer = { from_profile_id: rich, to_profile_id: id, asset: 'USD', amount: '1' };
    expectProblem(await alice.call('POST', '/v2/transfer/internal', transfer), 403, 'forbidden');
    expect((await alice.call('GET', `${PATH}/${id}`)).body).toEqual(body);
    expect((await deactivate(id)).body).toEqual(body);
  });

  it('that has a balance is refused, and says which', async () => {
    const id = await service.createProfile(alice, { USD: '5', BTC: '0.1' });
    const meta = expectProblem(await deactivate(id), 409, 'invalid-state');
    expect(meta).toEqual({
      status: 'ACTIVE',
      balances: [
        { asset: 'BTC', available: '0.1', held: '0', trading: '0' },
        { asset: 'USD', available: '5', held: '0', trading: '0' },
      ],
    });
    const other = await service.createProfile(alice);
    for (const [asset, amount] of [
      ['USD', '5'],
      ['BTC', '0.1'],
    ])
      await alice.call('POST', '/v2/transfer/internal', {
        from_profile_id: id,
        to_profile_id: other,
        asset,
        amount,
      });
    expect((await deactivate(id)).status).toBe(200);
  });
});

describe('the list of profiles', () => {
  it('is ordered by the time of the last change, page by page', async () => {
    const customer = await service.createCustomer();
    const ids: string[] = [];
    for (const nickname of ['a', 'b', 'c', 'd', 'e'])
      ids.push((await customer.call('POST', PATH, { nickname })).body.id);
    for (const [index, id] of [ids[3]!, ids[0]!, ids[2]!].entries())
      await customer.call('PUT', `${PATH}/${id}`, { description: `change ${index}` });
    const expected = [ids[1]!, ids[4]!, ids[3]!, ids[0]!, ids[2]!];
    for (const order of ['ASC', 'DESC']) {
      const found: string[] = [];
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const query = `order_by=UPDATED_AT&order=${order}&limit=2${cursor && `&page_cursor=${cursor}`}`;
        const page = await customer.call('GET', `${PATH}?${query}`);
        found.push(...page.body.items.map((one: any) => one.id));
        cursor = page.body.next_page_cursor;
      }
      expect(found).toEqual(order === 'ASC' ? expected : expected.toReversed());
    }
  });

  it('finds a nickname, and balances of some assets', async () => {
    const id = await service.createProfile(alice, { USD: '5', BTC: '1', ETH: '2' });
    const { nickname } = (await alice.call('GET', `${PATH}/${id}`)).body;
    const query = new URLSearchParams({ nickname });
    const list = await alice.call('GET', `${PATH}?${query.toString()}`);
    expect(list.body.items.map((one: any) => one.id)).toEqual([id]);
    const both = new URLSearchParams([...query, ['nicknames', 'another one']]);
    expect((await alice.call('GET', `${PATH}?${both.toString()}`)).body.items).toEqual([]);
    const balances = await alice.call('GET', `${PATH}/${id}/balances?assets=USD&assets=ETH&assets=LTC`);
    expect(balances.body.items.map((one: any) => one.asset)).toEqual(['ETH', 'USD']);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFiatAccount } from '../../src/fiat-accounts/store.ts';
import { newId } from '../../src/kernel/id.ts';
import { type WrittenEvent, eventsOf as writtenEvents } from '../support/events.ts';
import {
  expectNoWholeNumber,
  FIAT_ACCOUNTS,
  listening,
  NUMBER,
  request,
  waiting,
  wire,
  wrong,
} from '../support/fiat-accounts.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
/** All answers of the service in this file. */
const said: string[] = [];
beforeAll(async () => {
  service = await startTestService();
  alice = listening(await service.createCustomer(), said);
  bob = listening(await service.createCustomer(), said);
});
afterAll(() => service.stop());

async function create(body: object = request, customer = alice): Promise<any> {
  const answer = await customer.call('POST', FIAT_ACCOUNTS, body);
  expect(answer.status).toBe(200);
  return answer.body;
}
const get = (id: string, customer = alice): Promise<Answer> => customer.call('GET', `${FIAT_ACCOUNTS}/${id}`);
const list = (query: string, customer = alice): Promise<Answer> =>
  customer.call('GET', `${FIAT_ACCOUNTS}?${query}`);
const idsOf = (answer: Answer): string[] => answer.body.items.map(({ id }: { id: string }) => id);
const eventsOf = (id: string): Promise<WrittenEvent[]> => writtenEvents(service.database, id);

describe('get and list', () => {
  it('shows an account as it is, with its number masked', async () => {
    const created = await create({ ...waiting, ref_id: 'shown', metadata: { a: '1' } });
    expect((await get(created.id)).body).toEqual(created);
    expect((await list(`ids=${created.id}`)).body).toEqual({ items: [created] });
    expect(created.fiat_network_instructions.wire.account_number).toBe('****6789');
  });

  it('masks the account number of every kind', async () => {
    for (const [kind, field] of [
      ['cubix', 'account_id'],
      ['bank_network_2', 'account_number'],
      ['bank_network_3', 'account_number'],
      ['cbit', 'wallet_address'],
    ] as const) {
      const instructions = { [kind]: { [field]: NUMBER } };
      const { id } = await create({ ...request, fiat_network_instructions: instructions });
      expect((await get(id)).body).toMatchObject({
        status: 'APPROVED',
        fiat_network_instructions: { [kind]: { [field]: '****6789' } },
      });
    }
  });

  it('filters by id, ref_id, identity, account, state and time', async () => {
    const customer = listening(await service.createCustomer(), said);
    const [identity, account] = [newId(), newId()];
    const approved = await create({ ...request, ref_id: 'filter, "one"' }, customer);
    const pending = await create({ ...waiting, ref_id: 'filter two' }, customer);
    const rejected = await create(wrong, customer);
    await service.database.query('update fiat_accounts set identity_id = $2, account_id = $3 where id = $1', [
      pending.id,
      identity,
      account,
    ]);
    const found = async (query: string) => idsOf(await list(query, customer));
    expect(await found('')).toEqual([rejected.id, pending.id, approved.id]);
    expect(await found('order=ASC')).toEqual([approved.id, pending.id, rejected.id]);
    expect(await found(`ids=${approved.id}&ids=${rejected.id}`)).toEqual([rejected.id, approved.id]);
    expect(await found(`ref_ids=${encodeURIComponent('filter, "one"')}`)).toEqual([approved.id]);
    expect(await found(`identity_ids=${identity}`)).toEqual([pending.id]);
    expect(await found(`account_ids=${account}`)).toEqual([pending.id]);
    expect(await found('statuses=PENDING&statuses=REJECTED')).toEqual([rejected.id, pending.id]);
    expect(await found(`created_at.lt=${pending.created_at}`)).toEqual([approved.id]);
    expect(await found(`created_at.gte=${pending.created_at}&statuses=PENDING`)).toEqual([pending.id]);
    await customer.call('PUT', `${FIAT_ACCOUNTS}/${approved.id}`, { metadata: {} });
    expect(await found('order_by=UPDATED_AT&limit=1')).toEqual([approved.id]);
  });

  it('pages without losing or repeating an account while others are added', async () => {
    const customer = listening(await service.createCustomer(), said);
    const made: string[] = [];
    for (let count = 0; count < 7; count += 1) made.push((await create(request, customer)).id);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await list(`limit=2${cursor}`, customer);
      seen.push(...idsOf(page));
      await create(request, customer);
      cursor = page.body.next_page_cursor ? `&page_cursor=${page.body.next_page_cursor}` : 'end';
    } while (cursor !== 'end');
    expect(seen).toEqual(made.reverse());
  });

  it('refuses unknown query parameters', async () => {
    expectInvalid(await list('status=PENDING'), '/query/status');
    expectInvalid(await list('statuses=OPEN'), '/query/statuses/0');
    expectInvalid(await list('ids=x'), '/query/ids/0');
    expectInvalid(await list('limit=0'), '/query/limit');
    expectInvalid(await list('limit=1001'), '/query/limit');
    expectInvalid(await list('page_cursor=nonsense'), '/query/page_cursor');
  });

  it("answers 404 for an unknown account or another customer's, and 400 for a malformed id", async () => {
    const { id } = await create();
    for (const path of [`${FIAT_ACCOUNTS}/${id}`, `${FIAT_ACCOUNTS}/${newId()}`]) {
      for (const [method, body] of [['GET'], ['PUT', { metadata: {} }], ['DELETE']] as const) {
        const before = await service.countRows();
        const meta = expectProblem(await bob.call(method, path, body), 404, 'not-found');
        expect(meta).toEqual({ resource: 'fiat account', id: path.slice(FIAT_ACCOUNTS.length + 1) });
        expect(await service.countRows()).toEqual(before);
      }
    }
    expect(idsOf(await list(`ids=${id}`, bob))).toEqual([]);
    expectInvalid(await get('x'), '/path/id');
  });

  it('needs the right scope for reading and for writing', async () => {
    const writer = await service.createCustomer({ scopes: ['transfer:write_fiat_account'] });
    const reader = await service.createCustomer({ scopes: ['transfer:read_fiat_account'] });
    expectProblem(await list('', writer), 403, 'insufficient-scope');
    expectProblem(await get(newId(), writer), 403, 'insufficient-scope');
    expectProblem(await reader.call('PUT', `${FIAT_ACCOUNTS}/${newId()}`, {}), 403, 'insufficient-scope');
    expectProblem(await reader.call('DELETE', `${FIAT_ACCOUNTS}/${newId()}`), 403, 'insufficient-scope');
  });
});

describe('update', () => {
  it('changes the given fields, keeps the rest, and restarts the review', async () => {
    const created = await create({ ...request, metadata: { a: '1' } });
    const renamed = { institution_details: { name: 'Analytical Engines Ltd' } };
    const answer = await alice.call('PUT', `${FIAT_ACCOUNTS}/${created.id}`, { fiat_account_owner: renamed });
    expect(answer.body).toEqual({
      ...created,
      fiat_account_owner: renamed,
      status: 'PENDING',
      updated_at: expect.any(String),
    });
    expect((await get(created.id)).body.status).toBe('APPROVED');
    const stored = await findFiatAccount(service.database, alice.id, created.id);
    expect(stored!.fiatNetworkInstructions).toEqual({ wire });
    expect((await eventsOf(created.id)).map(({ type }) => type)).toEqual([
      'fiat_account.pending',
      'fiat_account.approved',
      'fiat_account.pending',
      'fiat_account.approved',
    ]);
  });

  it('accepts new instructions of the same kind, also for a rejected account', async () => {
    const { id } = await create(wrong);
    expect((await get(id)).body.status).toBe('REJECTED');
    const { fiat_network_instructions } = request;
    const answer = await alice.call('PUT', `${FIAT_ACCOUNTS}/${id}`, {
      fiat_network_instructions,
      metadata: { b: '2' },
    });
    expect(answer.body).toMatchObject({ status: 'PENDING', metadata: { b: '2' } });
    expect((await get(id)).body.status).toBe('APPROVED');
  });

  it('refuses an empty change, another kind, another masked number, and what creating would refuse', async () => {
    const { id } = await create();
    const put = (body: unknown) => alice.call('PUT', `${FIAT_ACCOUNTS}/${id}`, body);
    const before = await service.countRows();
    expectInvalid(await put({}), '');
    const cubix = { cubix: { account_id: 'abc' } };
    expectInvalid(await put({ fiat_network_instructions: cubix }), '/fiat_network_instructions');
    expectInvalid(await put({ fiat_network_instructions: { wire, ...cubix } }), '/fiat_network_instructions');
    expectInvalid(
      await put({ fiat_network_instructions: { wire: { ...wire, account_number: '****0000' } } }),
      '/fiat_network_instructions/wire/account_number',
    );
    expectInvalid(await put({ fiat_account_owner: {} }), '/fiat_account_owner');
    expectInvalid(
      await put({ ref_id: 'x', identity_id: newId(), status: 'APPROVED' }),
      '/ref_id',
      '/identity_id',
      '/status',
    );
    expectInvalid(await put({ metadata: null }), '/metadata');
    expect(await service.countRows()).toEqual(before);
    expect((await get(id)).body.status).toBe('APPROVED');
  });

  it('keeps every change when many arrive at once, each with its event', async () => {
    const { id } = await create(waiting);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        alice.call('PUT', `${FIAT_ACCOUNTS}/${id}`, { metadata: { index: `${index}` } }),
      ),
    );
    const times = new Set(answers.map(({ body }) => body.updated_at));
    expect(times.size).toBe(30);
    expect(await eventsOf(id)).toHaveLength(31);
    const latest = answers
      .map(({ body }) => body)
      .find((body) => body.updated_at === [...times].sort(byTime).at(-1));
    expect((await get(id)).body).toEqual(latest);
  });

  /** Trailing zeros are trimmed, so the texts do not sort by themselves. */
  const byTime = (a: string, b: string): number => (padded(a) < padded(b) ? -1 : 1);
  const padded = (time: string): string => time.replace('Z', '').padEnd(29, '0');
});

describe('delete', () => {
  it('answers with the account, which is not found afterwards', async () => {
    const created = await create();
    const answer = await alice.call('DELETE', `${FIAT_ACCOUNTS}/${created.id}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      ...created,
      status: 'APPROVED',
      fiat_account_owner: { person_details: { first_name: '****', last_name: '****' } },
      fiat_network_instructions: {
        wire: {
          ...created.fiat_network_instructions.wire,
          fiat_account_owner_address: { country: 'US' },
        },
      },
      updated_at: expect.any(String),
      deleted_at: answer.body.updated_at,
    });
    expectProblem(await get(created.id), 404, 'not-found');
    expect(idsOf(await list(`ids=${created.id}`))).toEqual([]);
    const before = await service.countRows();
    expectProblem(
      await alice.call('PUT', `${FIAT_ACCOUNTS}/${created.id}`, { metadata: {} }),
      404,
      'not-found',
    );
    expectProblem(await alice.call('DELETE', `${FIAT_ACCOUNTS}/${created.id}`), 404, 'not-found');
    const approve = `/v2/sandbox/fiat-accounts/${created.id}/approve`;
    expectProblem(await alice.call('POST', approve), 404, 'not-found');
    expect(await service.countRows()).toEqual(before);
    expect((await eventsOf(created.id)).at(-1)).toEqual({
      customer_id: alice.id,
      type: 'fiat_account.deleted',
      resource: answer.body,
    });
  });

  it('happens once for many requests at once', async () => {
    const { id } = await create(waiting);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => alice.call('DELETE', `${FIAT_ACCOUNTS}/${id}`)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9);
  });
});

it('no answer, problem or event in this file contains a whole account number', async () => {
  await expectNoWholeNumber(said, [service]);
});

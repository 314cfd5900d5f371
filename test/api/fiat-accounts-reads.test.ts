import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { allEvents, type WrittenEvent, eventsOf as writtenEvents } from '../support/events.ts';
import type { TestCustomer, TestService } from '../support/service.ts';
import { type Answer, expectInvalid, expectProblem, startTestService } from '../support/service.ts';

const PATH = '/v2/transfer/fiat-accounts';
const QUEUE = '/v2/operator/fiat-accounts';
const NUMBER = '000123456789';
const PRODUCTION = {
  FERRY_MODE: 'production',
  DATABASE_URL: 'postgres://not.used',
  FERRY_PUBLIC_URL: 'https://ferry.example',
};

let service: TestService;
let production: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
/** Everything that the service said in this file. */
const said: string[] = [];

function listening(customer: TestCustomer): TestCustomer {
  return {
    ...customer,
    async call(...request) {
      const answer = await customer.call(...request);
      said.push(JSON.stringify(answer.body));
      return answer;
    },
  };
}

beforeAll(async () => {
  [service, production] = await Promise.all([startTestService(), startTestService(PRODUCTION)]);
  alice = listening(await service.createCustomer());
  bob = listening(await service.createCustomer());
});
afterAll(async () => {
  await Promise.all([service.stop(), production.stop()]);
});

const address = { country: 'US', address1: '1 Main Street', city: 'New York' };
const wire = {
  account_number: NUMBER,
  routing_details: {
    routing_number_type: 'ABA',
    routing_number: '021000021',
    bank_name: 'First Bank',
    bank_address: address,
  },
  fiat_account_owner_address: address,
};
const owner = { person_details: { first_name: 'Ada', last_name: 'Lovelace' } };
const request = { fiat_account_owner: owner, fiat_network_instructions: { wire } };
/** The owner's street is missing: nobody but a person can say whether that will do. */
const waiting = {
  ...request,
  fiat_network_instructions: { wire: { ...wire, fiat_account_owner_address: { country: 'US' } } },
};
const wrong = {
  ...request,
  fiat_network_instructions: {
    wire: { ...wire, routing_details: { ...wire.routing_details, routing_number: '021000022' } },
  },
};

async function create(body: object = request, customer = alice): Promise<any> {
  const answer = await customer.call('POST', PATH, body);
  expect(answer.status).toBe(200);
  return answer.body;
}
const get = (id: string, customer = alice): Promise<Answer> => customer.call('GET', `${PATH}/${id}`);
const list = (query: string, customer = alice): Promise<Answer> => customer.call('GET', `${PATH}?${query}`);
const idsOf = (answer: Answer): string[] => answer.body.items.map(({ id }: { id: string }) => id);

const eventsOf = (id: string, from = service): Promise<WrittenEvent[]> => writtenEvents(from.database, id);

describe('get and list', () => {
  it('shows an account as it is, with its number masked', async () => {
    const created = await create({ ...waiting, ref_id: 'shown', metadata: { a: '1' } });
    expect((await get(created.id)).body).toEqual(created);
    expect((await list(`ids=${created.id}`)).body).toEqual({ items: [created] });
    expect(created.fiat_network_instructions.wire.account_number).toBe('****6789');
  });

  it('masks what names the account in every kind', async () => {
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
    const customer = listening(await service.createCustomer());
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
    await customer.call('PUT', `${PATH}/${approved.id}`, { metadata: {} });
    expect(await found('order_by=UPDATED_AT&limit=1')).toEqual([approved.id]);
  });

  it('pages without losing or repeating an account while others are added', async () => {
    const customer = listening(await service.createCustomer());
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

  it('refuses a query that it does not know', async () => {
    expectInvalid(await list('status=PENDING'), '/query/status');
    expectInvalid(await list('statuses=OPEN'), '/query/statuses/0');
    expectInvalid(await list('ids=x'), '/query/ids/0');
    expectInvalid(await list('limit=0'), '/query/limit');
    expectInvalid(await list('limit=1001'), '/query/limit');
    expectInvalid(await list('page_cursor=nonsense'), '/query/page_cursor');
  });

  it("answers 404 for an unknown account or another customer's, and 400 for an id that is none", async () => {
    const { id } = await create();
    for (const path of [`${PATH}/${id}`, `${PATH}/${newId()}`]) {
      for (const [method, body] of [['GET'], ['PUT', { metadata: {} }], ['DELETE']] as const) {
        const before = await service.countRows();
        const meta = expectProblem(await bob.call(method, path, body), 404, 'not-found');
        expect(meta).toEqual({ resource: 'fiat account', id: path.slice(PATH.length + 1) });
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
    expectProblem(await reader.call('PUT', `${PATH}/${newId()}`, {}), 403, 'insufficient-scope');
    expectProblem(await reader.call('DELETE', `${PATH}/${newId()}`), 403, 'insufficient-scope');
  });
});

describe('update', () => {
  it('changes what is given, keeps the rest, and begins the review anew', async () => {
    const created = await create({ ...request, metadata: { a: '1' } });
    const renamed = { institution_details: { name: 'Analytical Engines Ltd' } };
    const answer = await alice.call('PUT', `${PATH}/${created.id}`, { fiat_account_owner: renamed });
    expect(answer.body).toEqual({
      ...created,
      fiat_account_owner: renamed,
      status: 'PENDING',
      updated_at: expect.any(String),
    });
    expect((await get(created.id)).body.status).toBe('APPROVED');
    const [row] = await service.database.query<any>('select * from fiat_accounts where id = $1', [
      created.id,
    ]);
    expect(row.fiat_network_instructions).toEqual({ wire });
    expect((await eventsOf(created.id)).map(({ type }) => type)).toEqual([
      'fiat_account.pending',
      'fiat_account.approved',
      'fiat_account.pending',
      'fiat_account.approved',
    ]);
  });

  it('takes new instructions of the same kind, from a rejected account too', async () => {
    const { id } = await create(wrong);
    expect((await get(id)).body.status).toBe('REJECTED');
    const { fiat_network_instructions } = request;
    const answer = await alice.call('PUT', `${PATH}/${id}`, {
      fiat_network_instructions,
      metadata: { b: '2' },
    });
    expect(answer.body).toMatchObject({ status: 'PENDING', metadata: { b: '2' } });
    expect((await get(id)).body.status).toBe('APPROVED');
  });

  it('refuses nothing at all, another kind, a masked number, and what breaks a rule of creating', async () => {
    const { id } = await create();
    const put = (body: unknown) => alice.call('PUT', `${PATH}/${id}`, body);
    const before = await service.countRows();
    expectInvalid(await put({}), '');
    const cubix = { cubix: { account_id: 'abc' } };
    expectInvalid(await put({ fiat_network_instructions: cubix }), '/fiat_network_instructions');
    expectInvalid(await put({ fiat_network_instructions: { wire, ...cubix } }), '/fiat_network_instructions');
    const { fiat_network_instructions: shown } = (await get(id)).body;
    expectInvalid(
      await put({ fiat_network_instructions: shown }),
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
        alice.call('PUT', `${PATH}/${id}`, { metadata: { index: `${index}` } }),
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
  it('answers with the account, which is then gone from everywhere', async () => {
    const created = await create();
    const answer = await alice.call('DELETE', `${PATH}/${created.id}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      ...created,
      status: 'APPROVED',
      updated_at: expect.any(String),
      deleted_at: answer.body.updated_at,
    });
    expectProblem(await get(created.id), 404, 'not-found');
    expect(idsOf(await list(`ids=${created.id}`))).toEqual([]);
    const before = await service.countRows();
    expectProblem(await alice.call('PUT', `${PATH}/${created.id}`, { metadata: {} }), 404, 'not-found');
    expectProblem(await alice.call('DELETE', `${PATH}/${created.id}`), 404, 'not-found');
    const approve = `/v2/sandbox/fiat-accounts/${created.id}/approve`;
    expectProblem(await alice.call('POST', approve), 404, 'not-found');
    expect(await service.countRows()).toEqual(before);
    expect((await eventsOf(created.id)).at(-1)).toEqual({
      customer_id: alice.id,
      type: 'fiat_account.deleted',
      resource: answer.body,
    });
  });

  it('happens once when many ask at once', async () => {
    const { id } = await create(waiting);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => alice.call('DELETE', `${PATH}/${id}`)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9);
  });
});

describe('review', () => {
  it('approves in the sandbox at once what passes the checks, and says so in an event', async () => {
    const created = await create();
    expect(created.status).toBe('PENDING');
    const { body } = await get(created.id);
    expect(body.status).toBe('APPROVED');
    expect((await eventsOf(created.id)).at(-1)).toEqual({
      customer_id: alice.id,
      type: 'fiat_account.approved',
      resource: { ...body, reason: 'All automatic checks passed.' },
    });
  });

  it('rejects what is certainly wrong, with the reason in the event', async () => {
    const { id, status } = await create(wrong);
    expect(status).toBe('PENDING');
    expect((await get(id)).body.status).toBe('REJECTED');
    expect((await eventsOf(id)).at(-1)).toMatchObject({
      type: 'fiat_account.rejected',
      resource: { status: 'REJECTED', reason: expect.stringContaining('check digit') },
    });
  });

  it.each<[string, string, { reason?: string } | undefined]>([
    ['approve', 'APPROVED', undefined],
    ['reject', 'REJECTED', { reason: 'no such bank' }],
    ['reject', 'REJECTED', {}],
  ])('the sandbox can %s an account that waits, once', async (verb, status, body) => {
    const { id } = await create(waiting);
    expect((await get(id)).body.status).toBe('PENDING');
    const path = `/v2/sandbox/fiat-accounts/${id}/${verb}`;
    const answer = await alice.call('POST', path, body);
    expect(answer.body).toEqual({ ...(await get(id)).body, status });
    const { resource } = (await eventsOf(id)).at(-1)!;
    expect(resource).toEqual({ ...answer.body, reason: body?.reason ?? `${status} in the sandbox.` });
    for (const again of ['approve', 'reject']) {
      const before = await service.countRows();
      const second = await alice.call('POST', `/v2/sandbox/fiat-accounts/${id}/${again}`);
      expect(expectProblem(second, 409, 'invalid-state')).toEqual({ status });
      expect(await service.countRows()).toEqual(before);
    }
  });

  it("the sandbox reviews one's own accounts only, with the scope for it, and takes no unknown field", async () => {
    const { id } = await create(waiting);
    const path = `/v2/sandbox/fiat-accounts/${id}/approve`;
    expectProblem(await bob.call('POST', path), 404, 'not-found');
    const other = await service.createCustomer({ scopes: ['operator:review'] });
    expectProblem(await other.call('POST', path), 403, 'insufficient-scope');
    expectInvalid(await alice.call('POST', path, { why: 'x' }), '/why');
    expectInvalid(await alice.call('POST', path, { reason: 7 }), '/reason');
    expect((await get(id)).body.status).toBe('PENDING');
  });

  it('of many reviews at once exactly one counts', async () => {
    const { id } = await create(waiting);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        alice.call('POST', `/v2/sandbox/fiat-accounts/${id}/${index % 2 === 0 ? 'approve' : 'reject'}`),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await eventsOf(id)).toHaveLength(2);
  });
});

describe('operators in production', () => {
  let customer: TestCustomer;
  let operator: TestCustomer;
  beforeAll(async () => {
    customer = listening(await production.createCustomer());
    operator = listening(await production.createCustomer({ scopes: ['operator:review'] }));
  });
  const review = (id: string, verb: string, body?: object): Promise<Answer> =>
    operator.call('POST', `${QUEUE}/${id}/${verb}`, body);

  it('find what waits, whoever owns it, with what the checks found', async () => {
    const passes = await create(request, customer);
    const asks = await create(waiting, customer);
    const fails = await create(wrong, customer);
    const queue = await operator.call('GET', `${QUEUE}?customer_ids=${customer.id}`);
    expect(queue.body.items).toEqual([
      {
        ...asks,
        customer_id: customer.id,
        findings: [
          {
            verdict: 'ASK',
            reason: 'The address of the owner is incomplete: address1 and city missing.',
          },
        ],
      },
      { ...passes, customer_id: customer.id, findings: [] },
    ]);
    const rejected = await operator.call('GET', `${QUEUE}?statuses=REJECTED&ids=${fails.id}`);
    expect(idsOf(rejected)).toEqual([fails.id]);
    const first = await operator.call('GET', `${QUEUE}?limit=1&order=ASC`);
    const second = await operator.call(
      'GET',
      `${QUEUE}?limit=1&order=ASC&page_cursor=${first.body.next_page_cursor}`,
    );
    expect([...idsOf(first), ...idsOf(second)]).toEqual([passes.id, asks.id]);
  });

  it('approve and reject, once, with a reason that the customer gets', async () => {
    for (const [verb, status, body, reason] of [
      ['approve', 'APPROVED', undefined, 'Approved by an operator.'],
      ['approve', 'APPROVED', { reason: 'called the bank' }, 'called the bank'],
      ['reject', 'REJECTED', { reason: 'no such bank' }, 'no such bank'],
    ] as const) {
      const { id } = await create(request, customer);
      expect((await get(id, customer)).body.status).toBe('PENDING');
      expect((await review(id, verb, body)).body).toMatchObject({ id, status });
      const shown = (await get(id, customer)).body;
      expect(shown.status).toBe(status);
      expect((await eventsOf(id, production)).at(-1)).toEqual({
        customer_id: customer.id,
        type: `fiat_account.${status.toLowerCase()}`,
        resource: { ...shown, reason },
      });
      expect(expectProblem(await review(id, 'approve'), 409, 'invalid-state')).toEqual({ status });
    }
  });

  it('must say why they reject, and which state they looked at if they like', async () => {
    const { id, updated_at } = await create(request, customer);
    expectProblem(await review(id, 'reject'), 400, 'invalid-request');
    expectInvalid(await review(id, 'reject', {}), '/reason');
    expectInvalid(await review(id, 'approve', { updated_at: 'yesterday' }), '/updated_at');
    await customer.call('PUT', `${PATH}/${id}`, { fiat_account_owner: owner });
    expect(expectProblem(await review(id, 'approve', { updated_at }), 409, 'invalid-state')).toEqual({
      status: 'PENDING',
    });
    const now = (await get(id, customer)).body.updated_at;
    expect((await review(id, 'approve', { updated_at: now })).body.status).toBe('APPROVED');
  });

  it('need the scope, and customers have none of it', async () => {
    const { id } = await create(request, customer);
    const plain = await production.createCustomer({ scopes: ['transfer:write_fiat_account'] });
    expectProblem(await plain.call('GET', QUEUE), 403, 'insufficient-scope');
    expectProblem(await plain.call('POST', `${QUEUE}/${id}/approve`), 403, 'insufficient-scope');
    expectProblem(await review(newId(), 'approve'), 404, 'not-found');
    expectInvalid(await review('x', 'approve'), '/path/id');
  });

  it('are the only ones who review there: the simulation endpoints do not exist', async () => {
    const metadata = await fetch(`${production.url}/.well-known/oauth-authorization-server`);
    const { scopes_supported: scopes } = (await metadata.json()) as { scopes_supported: string[] };
    expect(scopes).toContain('operator:review');
    expect(scopes).not.toContain('sandbox:simulate');
    const { id } = await create(request, customer);
    for (const verb of ['approve', 'reject']) {
      const answer = await customer.call('POST', `/v2/sandbox/fiat-accounts/${id}/${verb}`);
      expectProblem(answer, 404, 'not-found');
    }
    expect((await get(id, customer)).body.status).toBe('PENDING');
  });
});

it('no answer, problem or event of all these held a whole account number', async () => {
  expect(said.length).toBeGreaterThan(100);
  expect(said.filter((text) => text.includes(NUMBER))).toEqual([]);
  for (const { database } of [service, production]) {
    const events = await allEvents(database);
    expect(events.length).toBeGreaterThan(0);
    expect(events.filter((one) => JSON.stringify(one).includes(NUMBER))).toEqual([]);
  }
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { ENTRY_CHECKS } from '../../src/ledger/audit-checks.ts';
import { eventsOf } from '../support/events.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

const PATH = '/v2/settlement/transactions';

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let carol: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
  carol = await service.createCustomer();
});
afterAll(() => service.stop(ENTRY_CHECKS));

type Party = { customer: TestCustomer; profile: string };
const partyOf = async (customer: TestCustomer): Promise<Party> => ({
  customer,
  profile: await service.createProfile(customer),
});

/** Its window opens tomorrow, so that nothing but the test itself changes it. */
async function propose(source: Party, target: Party, over: object = {}): Promise<any> {
  const answer = await source.customer.call('POST', PATH, {
    source_profile_id: source.profile,
    target_profile_id: target.profile,
    legs: [{ direction: 'DELIVER', asset: 'USD', amount: '10' }],
    settlement_window_start: new Date(Date.now() + 86_400_000).toISOString(),
    ...over,
  });
  expect(answer.status).toBe(200);
  return answer.body;
}

const affirm = (who: TestCustomer, id: string): Promise<Answer> => who.call('PUT', `${PATH}/${id}/affirm`);
const cancel = (who: TestCustomer, id: string): Promise<Answer> => who.call('DELETE', `${PATH}/${id}`);
const get = (who: TestCustomer, id: string): Promise<Answer> => who.call('GET', `${PATH}/${id}`);

async function idsOf(who: TestCustomer, query = ''): Promise<string[]> {
  const answer = await who.call('GET', `${PATH}${query}`);
  expect(answer.status).toBe(200);
  expect(answer.body.next_page_cursor).toBeUndefined();
  return answer.body.items.map((item: { id: string }) => item.id);
}

async function setStatus(id: string, status: string): Promise<void> {
  await service.database.query('update settlement_transactions set status = $2 where id = $1', [id, status]);
}

describe('reading one transaction', () => {
  it('shows the same record to both parties, and nothing to others', async () => {
    const [source, target] = [await partyOf(alice), await partyOf(bob)];
    const created = await propose(source, target, { ref_id: newId() });
    for (const party of [alice, bob]) {
      const answer = await get(party, created.id);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(created);
    }
    const meta = expectProblem(await get(carol, created.id), 404, 'not-found');
    expect(meta).toEqual({ resource: 'settlement transaction', id: created.id });
  });

  it('answers an unknown id with 404 and a malformed one with 400', async () => {
    expectProblem(await get(alice, newId()), 404, 'not-found');
    expectInvalid(await get(alice, 'x'), '/path/id');
    expectInvalid(await affirm(alice, newId().toUpperCase()), '/path/id');
    expectInvalid(await cancel(alice, 'x'), '/path/id');
  });

  it('needs the scope for reading to read, and the one for writing to act', async () => {
    const writer = await service.createCustomer({ scopes: ['settlement:write_transaction'] });
    const reader = await service.createCustomer({ scopes: ['settlement:read_transaction'] });
    const created = await propose(await partyOf(writer), await partyOf(reader));
    for (const answer of [await get(writer, created.id), await writer.call('GET', PATH)]) {
      expect(expectProblem(answer, 403, 'insufficient-scope').required).toBe('settlement:read_transaction');
    }
    for (const answer of [await affirm(reader, created.id), await cancel(reader, created.id)]) {
      expect(expectProblem(answer, 403, 'insufficient-scope').required).toBe('settlement:write_transaction');
    }
    expect(await idsOf(reader)).toEqual([created.id]);
  });

  it('needs a token', async () => {
    const headers = { authorization: 'Bearer no' };
    for (const [method, path] of [
      ['GET', PATH],
      ['GET', `${PATH}/${newId()}`],
      ['PUT', `${PATH}/${newId()}/affirm`],
      ['DELETE', `${PATH}/${newId()}`],
    ] as const) {
      expectProblem(await alice.call(method, path, undefined, headers), 401, 'unauthenticated');
    }
  });

  it('answers 405 to other methods', async () => {
    const id = newId();
    expectProblem(await alice.call('POST', `${PATH}/${id}`, {}), 405, 'method-not-allowed');
    expectProblem(await alice.call('POST', `${PATH}/${id}/affirm`, {}), 405, 'method-not-allowed');
  });
});

describe('the list', () => {
  let mine: Party;
  let his: Party;
  let other: Party;
  let made: any[];
  let ann: TestCustomer;
  let ben: TestCustomer;
  beforeAll(async () => {
    [ann, ben] = [await service.createCustomer(), await service.createCustomer()];
    [mine, his, other] = [await partyOf(ann), await partyOf(ben), await partyOf(ann)];
    const stranger = await partyOf(carol);
    made = [
      await propose(mine, his, { ref_id: 'a' }),
      await propose(his, mine, { ref_id: 'a' }),
      await propose(mine, other, { ref_id: 'c' }),
      await propose(his, other, { ref_id: 'd' }),
    ];
    await propose(his, stranger, { ref_id: 'hidden' });
    await affirm(ann, made[1].id);
    await cancel(ann, made[0].id);
  });
  const id = (index: number): string => made[index].id;

  it('has the transactions of which the caller is source or target, each once, newest first', async () => {
    expect(await idsOf(ann)).toEqual([id(3), id(2), id(1), id(0)]);
    expect(await idsOf(ann, '?order=ASC')).toEqual([id(0), id(1), id(2), id(3)]);
    expect((await idsOf(ben)).slice(1)).toEqual([id(3), id(1), id(0)]);
    expect(await idsOf(await service.createCustomer())).toEqual([]);
  });

  it('can be ordered by the last change', async () => {
    expect(await idsOf(ann, '?order_by=UPDATED_AT')).toEqual([id(0), id(1), id(3), id(2)]);
  });

  it('shows each transaction like the operation that reads one', async () => {
    const { body } = await ann.call('GET', `${PATH}?limit=1&order=ASC`);
    expect(body.items).toEqual([(await get(ann, id(0))).body]);
    expect(body.next_page_cursor).toMatch(/^[\w-]+$/);
  });

  it('filters by id, and never shows those of others', async () => {
    const foreign = await propose(await partyOf(bob), await partyOf(carol));
    expect(await idsOf(ann, `?ids=${id(2)}&ids=${id(0)}&ids=${foreign.id}&ids=${newId()}`)).toEqual([
      id(2),
      id(0),
    ]);
  });

  it('filters by the ref_ids of the caller, never by those of the other party', async () => {
    expect(await idsOf(ann, '?ref_ids=a')).toEqual([id(0)]);
    expect(await idsOf(ben, '?ref_ids=a')).toEqual([id(1)]);
    expect(await idsOf(ann, '?ref_ids=d')).toEqual([]);
    expect(await idsOf(ann, '?ref_ids=a&ref_ids=c')).toEqual([id(2), id(0)]);
  });

  it('filters by profile, as source or target', async () => {
    expect(await idsOf(ann, `?profile_ids=${other.profile}`)).toEqual([id(3), id(2)]);
    expect(await idsOf(ann, `?profile_ids=${his.profile}`)).toEqual([id(3), id(1), id(0)]);
    expect(await idsOf(ann, `?profile_ids=${newId()}`)).toEqual([]);
  });

  it('filters by status', async () => {
    expect(await idsOf(ann, '?statuses=CANCELLED')).toEqual([id(0)]);
    expect(await idsOf(ann, '?statuses=AFFIRMED&statuses=CANCELLED')).toEqual([id(1), id(0)]);
    expect(await idsOf(ann, `?statuses=PENDING&profile_ids=${mine.profile}`)).toEqual([id(2)]);
  });

  it('filters by time, to the nanosecond', async () => {
    const at = encodeURIComponent(made[1].created_at);
    expect(await idsOf(ann, `?created_at.eq=${at}`)).toEqual([id(1)]);
    expect(await idsOf(ann, `?created_at.lt=${at}`)).toEqual([id(0)]);
    expect(await idsOf(ann, `?created_at.lte=${at}`)).toEqual([id(1), id(0)]);
    expect(await idsOf(ann, `?created_at.gt=${at}`)).toEqual([id(3), id(2)]);
    expect(await idsOf(ann, `?updated_at.gt=${encodeURIComponent(made[3].updated_at)}`)).toEqual([
      id(1),
      id(0),
    ]);
  });

  it.each([
    ['statuses=DONE', '/query/statuses/0'],
    ['ids=x', '/query/ids/0'],
    ['profile_ids=x', '/query/profile_ids/0'],
    ['ref_ids=', '/query/ref_ids/0'],
    ['limit=0', '/query/limit'],
    ['limit=1001', '/query/limit'],
    ['order=UP', '/query/order'],
    ['page_cursor=x', '/query/page_cursor'],
    ['created_at.lt=yesterday', '/query/created_at.lt'],
    ['status=PENDING', '/query/status'],
    [`ids=${newId()}&`.repeat(101), '/query/ids'],
  ])('refuses the query %s', async (query, pointer) => {
    expectInvalid(await alice.call('GET', `${PATH}?${query}`), pointer);
  });

  it('is the same in pages of any size, also while transactions are added', async () => {
    const [dan, eve] = [await service.createCustomer(), await service.createCustomer()];
    const [first, second, self] = [await partyOf(dan), await partyOf(eve), await partyOf(dan)];
    const pairs = [
      [first, second],
      [second, first],
      [first, self],
    ] as const;
    const bodies = await Promise.all(Array.from({ length: 24 }, (_, index) => propose(...pairs[index % 3]!)));
    const whole = await idsOf(dan, '?order=ASC');
    expect(new Set(whole)).toEqual(new Set(bodies.map((body) => body.id)));
    for (const limit of [1, 5, 23, 24]) {
      for (const order of ['ASC', 'DESC']) {
        const seen: string[] = [];
        let cursor = '';
        do {
          const query = `?limit=${limit}&order=${order}${cursor === '' ? '' : `&page_cursor=${cursor}`}`;
          const { body } = await dan.call('GET', PATH + query);
          expect(body.items.length).toBeLessThanOrEqual(limit);
          seen.push(...body.items.map((item: { id: string }) => item.id));
          cursor = body.next_page_cursor ?? '';
          if (order === 'DESC' && limit === 5 && seen.length === 5) await propose(second, first);
        } while (cursor !== '');
        const expected = order === 'ASC' ? whole : whole.toReversed();
        expect(seen.filter((one) => whole.includes(one))).toEqual(expected);
        expect(new Set(seen).size).toBe(seen.length);
      }
    }
  });
});

describe('affirming and cancelling', () => {
  const act = { affirm, cancel };
  const slugs = { 403: 'forbidden', 404: 'not-found', 409: 'invalid-state' } as const;
  const STATUSES = ['PENDING', 'AFFIRMED', 'CANCELLED', 'SETTLED', 'EXPIRED'] as const;
  const AWAITING_WINDOW = {
    name: 'AWAITING_WINDOW',
    detail: expect.stringMatching(/^The settlement window opens at .+Z and ends at .+Z\.$/),
  };
  const ACTORS = { affirm: 'target', cancel: 'source' } as const;

  /** Every state, action and party. A missing permission is reported before the state. */
  const table = (['affirm', 'cancel'] as const).flatMap((action) =>
    STATUSES.flatMap((status) =>
      (['source', 'target', 'both', 'neither'] as const).map((who) => {
        const may = who === 'both' || who === ACTORS[action];
        const allowed = status === 'PENDING' ? 200 : 409;
        return [action, status, who, who === 'neither' ? 404 : may ? allowed : 403] as const;
      }),
    ),
  );
  it.each(table)('%s of a transaction that is %s by %s answers %i', async (action, status, who, code) => {
    const source = await partyOf(alice);
    const target = await partyOf(who === 'both' ? alice : bob);
    const { id } = await propose(source, target);
    if (status !== 'PENDING') await setStatus(id, status);
    const before = await get(alice, id);
    const rows = await service.countRows();
    const caller = { source: alice, both: alice, target: bob, neither: carol }[who];
    const answer = await act[action](caller, id);
    if (code === 200) {
      const next = action === 'affirm' ? 'AFFIRMED' : 'CANCELLED';
      expect(answer.status).toBe(200);
      const { updated_at } = answer.body;
      const { secondary_status: _, ...same } = before.body;
      const why = next === 'AFFIRMED' ? { secondary_status: AWAITING_WINDOW } : {};
      expect(answer.body).toEqual({ ...same, ...why, status: next, updated_at });
      expect(updated_at > before.body.updated_at).toBe(true);
      expect((await get(alice, id)).body).toEqual(answer.body);
      const told = await eventsOf(service.database, id);
      const moves = told.filter((one) => one.type === `settlement.transaction.${next.toLowerCase()}`);
      expect(moves.map((one) => one.customer_id).sort()).toEqual(
        [...new Set([source.customer.id, target.customer.id])].sort(),
      );
      for (const one of moves) expect(one.resource).toEqual(answer.body);
      return;
    }
    const meta = expectProblem(answer, code, slugs[code]);
    if (code === 409) expect(meta).toEqual({ status });
    if (code === 404) expect(meta).toEqual({ resource: 'settlement transaction', id });
    expect((await get(alice, id)).body).toEqual(before.body);
    expect(await service.countRows()).toEqual(rows);
  });

  it('is refused after the end of the window, even before the record says EXPIRED', async () => {
    const [source, target] = [await partyOf(alice), await partyOf(bob)];
    const { id } = await propose(source, target);
    await service.database.query(
      'update settlement_transactions set window_start_ns = 0, window_end_ns = 1 where id = $1',
      [id],
    );
    for (const answer of [await affirm(bob, id), await cancel(alice, id), await affirm(bob, id)]) {
      expect(expectProblem(answer, 409, 'invalid-state')).toEqual({ status: 'EXPIRED' });
    }
    expectProblem(await affirm(alice, id), 403, 'forbidden');
    expectProblem(await cancel(carol, id), 404, 'not-found');
  });

  it('is possible before the window opens, and inside it', async () => {
    const [source, target] = [await partyOf(alice), await partyOf(bob)];
    for (const over of [{}, { settlement_window_start: undefined }]) {
      const { id } = await propose(source, target, over);
      expect((await affirm(bob, id)).body.status).toBe('AFFIRMED');
    }
  });

  it('refuses to affirm for a disabled profile, but lets its owner cancel', async () => {
    const [source, target] = [await partyOf(alice), await partyOf(bob)];
    const { id } = await propose(source, target);
    for (const { profile } of [source, target]) {
      await service.database.query(`update profiles set status = 'DISABLED' where id = $1`, [profile]);
    }
    const meta = expectProblem(await affirm(bob, id), 403, 'forbidden');
    expect(meta).toEqual({ profile_id: target.profile });
    expect((await cancel(alice, id)).body.status).toBe('CANCELLED');
  });

  it('needs no body, and refuses one with fields', async () => {
    const [source, target] = [await partyOf(alice), await partyOf(bob)];
    const json = { 'content-type': 'application/json' };
    const first = await propose(source, target);
    const path = `${PATH}/${first.id}/affirm`;
    expectInvalid(await bob.call('PUT', path, { amount: '1' }), '/amount');
    expect((await bob.call('PUT', path, undefined, json)).status).toBe(200);
    const second = await propose(source, target);
    expect((await bob.call('PUT', `${PATH}/${second.id}/affirm`, {})).status).toBe(200);
    const third = await propose(source, target);
    expectInvalid(await alice.call('DELETE', `${PATH}/${third.id}`, { why: 'x' }), '/why');
    expect((await alice.call('DELETE', `${PATH}/${third.id}`, undefined, json)).status).toBe(200);
  });
});

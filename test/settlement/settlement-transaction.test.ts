import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { type WrittenEvent, eventsOf as writtenEvents } from '../support/events.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

const PATH = '/v2/settlement/transactions';
const SECOND_MS = 1_000;
const DAY_MS = 86_400 * SECOND_MS;

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
let source: string;
let target: string;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  bob = await service.createCustomer();
  source = await service.createProfile(alice);
  target = await service.createProfile(bob);
});
afterAll(() => service.stop());

const LEG = { direction: 'DELIVER', asset: 'USD', amount: '10' };
const request = (over: object = {}) => ({
  source_profile_id: source,
  target_profile_id: target,
  legs: [LEG],
  ...over,
});
function without(value: object, name: string): object {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
}
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
const create = (body: unknown): Promise<Answer> => alice.call('POST', PATH, body);

/** Makes the call, and checks that it has written nothing. */
async function refused(call: () => Promise<Answer>): Promise<Answer> {
  const before = await service.countRows();
  const answer = await call();
  expect(await service.countRows()).toEqual(before);
  return answer;
}

const eventsOf = (id: string): Promise<WrittenEvent[]> => writtenEvents(service.database, id);

describe('an accepted transaction', () => {
  it('is PENDING, has every field of the interface, and sends both parties an event', async () => {
    const start = '2026-01-02T03:04:05.123456789+02:00';
    const end = inMs(DAY_MS);
    const body = request({
      ref_id: 'all fields',
      settlement_window_start: start,
      settlement_window_end: end,
      legs: [
        { direction: 'DELIVER', asset: 'USD', amount: '012.50' },
        { direction: 'RECEIVE', asset: 'BTC', amount: '.00000001' },
        { direction: 'DELIVER', asset: 'ETH', amount: '99999999999999999999.999999999999999999' },
      ],
    });
    const before = await service.countRows();
    const answer = await create(body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(answer.body).toEqual({
      id,
      ref_id: 'all fields',
      settlement_window_start: '2026-01-02T01:04:05.123456789Z',
      settlement_window_end: end.replace(/\.?0*Z$/, 'Z'),
      source_profile_id: source,
      target_profile_id: target,
      legs: [
        { id, direction: 'DELIVER', asset: 'USD', amount: '12.5' },
        { id, direction: 'RECEIVE', asset: 'BTC', amount: '0.00000001' },
        { id, direction: 'DELIVER', asset: 'ETH', amount: '99999999999999999999.999999999999999999' },
      ],
      status: 'PENDING',
      secondary_status: {
        name: 'AWAITING_AFFIRMATION',
        detail: `The owner of the target profile ${target} has not affirmed the transaction. It expires at ${end.replace(/\.?0*Z$/, 'Z')}.`,
      },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,8}[1-9])?Z$/),
      updated_at: answer.body.created_at,
    });
    expect(new Set(answer.body.legs.map((leg: { id: string }) => leg.id)).size).toBe(3);
    expect(await service.countRows()).toEqual({
      ...before,
      settlements: before.settlements! + 1n,
      idempotency_keys: before.idempotency_keys! + 1n,
      events: before.events! + 2n,
    });
    const told = await eventsOf(answer.body.id);
    expect(new Set(told.map((one) => one.customer_id))).toEqual(new Set([alice.id, bob.id]));
    for (const one of told) {
      expect(one).toMatchObject({ type: 'settlement.transaction.pending', resource: answer.body });
    }
  });

  it('starts now and lasts 24 hours when no window is given, and gets a ref_id', async () => {
    const { body, status } = await create(request());
    expect(status).toBe(200);
    expect(body.settlement_window_start).toBe(body.created_at);
    const seconds = (Date.parse(body.settlement_window_end) - Date.parse(body.created_at)) / 1000;
    expect(seconds).toBe(86_400);
    expect(body.ref_id).toMatch(/^[0-9a-f-]{36}$/);
    const second = await create(request());
    expect(second.body.ref_id).not.toBe(body.ref_id);
    expect(second.body.id).not.toBe(body.id);
  });

  it('lasts 24 hours from a start that is given, to the nanosecond', async () => {
    const start = inMs(3 * DAY_MS).replace(/\.\d+Z$/, '.000000001Z');
    const { body } = await create(request({ settlement_window_start: start }));
    expect(body.settlement_window_start).toBe(start);
    expect(body.settlement_window_end).toMatch(/\.000000001Z$/);
    expect(Date.parse(body.settlement_window_end) - Date.parse(start)).toBe(DAY_MS);
  });

  it('may be between two profiles of one customer, who gets one event', async () => {
    const other = await service.createProfile(alice);
    const { status, body } = await create(request({ target_profile_id: other }));
    expect(status).toBe(200);
    expect(await eventsOf(body.id)).toHaveLength(1);
  });

  it('keeps its legs in the order of the request, also a hundred of them and equal ones', async () => {
    const legs = Array.from({ length: 100 }, (_, index) => ({
      direction: index % 3 === 0 ? 'RECEIVE' : 'DELIVER',
      asset: index % 2 === 0 ? 'USD' : 'USDC',
      amount: String(1 + (index % 50)),
    }));
    const { status, body } = await create(request({ legs }));
    expect(status).toBe(200);
    expect(body.legs.map(({ id: _id, ...leg }: Record<string, string>) => leg)).toEqual(legs);
  });

  it.each([
    ['nine fractional digits', '.123456789Z', '.123456789Z'],
    ['trailing zeros', '.120000000Z', '.12Z'],
    ['a fraction of zeros', '.000Z', 'Z'],
    ['lower case letters', '.5z', '.5Z'],
    ['an offset of zero', '+00:00', 'Z'],
  ])('keeps a time with %s', async (_title, ending, shown) => {
    const end = inMs(DAY_MS).slice(0, 19);
    const { body } = await create(request({ settlement_window_end: end + ending }));
    expect(body.settlement_window_end).toBe(end + shown);
  });

  it('shows a time with an offset in UTC', async () => {
    const local = `${inMs(DAY_MS + 5.5 * 3_600_000).slice(0, 19)}.000000007+05:30`;
    const { body } = await create(request({ settlement_window_end: local }));
    const utc = `${new Date(local.replace('.000000007', '')).toISOString().slice(0, 19)}.000000007Z`;
    expect(body.settlement_window_end).toBe(utc);
  });
});

describe('the shape of the request', () => {
  it.each(['source_profile_id', 'target_profile_id', 'legs'])('needs %s', async (name) => {
    expectInvalid(await refused(() => create(without(request(), name))), `/${name}`);
  });

  it.each(['direction', 'asset', 'amount'])('needs %s in each leg', async (name) => {
    const legs = [LEG, without(LEG, name)];
    expectInvalid(await refused(() => create(request({ legs }))), `/legs/1/${name}`);
  });

  const WRONG_TYPES: Record<string, readonly unknown[]> = {
    ref_id: [null, 1, true, {}, []],
    settlement_window_start: [null, 1_800_000_000, true, {}, []],
    settlement_window_end: [null, 1_800_000_000, true, {}, []],
    source_profile_id: [null, 1, true, {}, []],
    target_profile_id: [null, 1, true, {}, []],
    legs: [null, 'DELIVER', 1, {}, LEG],
  };
  const WRONG_VALUES: Record<string, readonly unknown[]> = {
    source_profile_id: ['not-a-uuid', ''],
    target_profile_id: ['', 'ABCDEF00-0000-7000-8000-000000000000'],
    ref_id: ['', 'a\nb', 'x'.repeat(129)],
    legs: [[], Array.from({ length: 101 }, () => LEG)],
    settlement_window_start: ['2026-01-01', '2026-02-30T00:00:00Z', '2026-01-01T00:00:00', ''],
    settlement_window_end: [
      '2030-01-01T00:00:00.1234567891Z',
      '2016-12-31T23:59:60Z',
      '9999-12-31T23:59:59Z',
    ],
  };
  const fieldCases = [WRONG_TYPES, WRONG_VALUES].flatMap((table) =>
    Object.entries(table).flatMap(([name, values]) => values.map((value) => [name, value] as const)),
  );
  it.each(fieldCases)('refuses %s as %j', async (name, value) => {
    expectInvalid(await refused(() => create(request({ [name]: value }))), `/${name}`);
  });

  it.each([null, 'x', 1, []])('refuses a leg that is %j', async (leg) => {
    expectInvalid(await refused(() => create(request({ legs: [leg] }))), '/legs/0');
  });

  const WRONG_IN_LEGS: Record<string, readonly unknown[]> = {
    direction: [null, 1, [], {}, 'deliver', 'SEND', ''],
    asset: [null, 1, [], {}, 'usd', 'DOGE', 'X'.repeat(13), ''],
    amount: [null, 1, [], {}, ...'1e3|-1|+1|0|0.00|NaN|Infinity|１| 1|1 ||1.|.|1,000'.split('|')],
  };
  const legCases = Object.entries(WRONG_IN_LEGS).flatMap(([name, values]) =>
    values.map((value) => [name, value] as const),
  );
  it.each(legCases)('refuses %s of a leg as %j', async (name, value) => {
    const answer = await refused(() => create(request({ legs: [{ ...LEG, [name]: value }] })));
    expectInvalid(answer, `/legs/0/${name}`);
  });

  it('refuses an amount that is a JSON number, and does not round it', async () => {
    const text = JSON.stringify(request()).replace('"10"', '12345678901234567890');
    const answer = await refused(() => create(text));
    expectInvalid(answer, '/legs/0/amount');
    expect(answer.body.detail).toBe('/legs/0/amount must be a string.');
  });

  it('accepts 20 digits before the point, and refuses 21', async () => {
    const digits = (count: number) => request({ legs: [{ ...LEG, amount: '9'.repeat(count) }] });
    expect((await create(digits(20))).body.legs[0].amount).toBe('9'.repeat(20));
    expectInvalid(await refused(() => create(digits(21))), '/legs/0/amount');
  });

  it('refuses more decimals than the asset has, and names the allowed number', async () => {
    const answer = await refused(() => create(request({ legs: [{ ...LEG, amount: '1.001' }] })));
    const meta = expectProblem(answer, 400, 'exceeds-precision');
    expect(meta).toMatchObject({ asset: 'USD', max_decimals: 2, errors: [{ pointer: '/legs/0/amount' }] });
    const several = [
      { ...LEG, amount: '1.001' },
      { ...LEG, asset: 'BTC', amount: '0.000000001' },
    ];
    const all = expectProblem(
      await refused(() => create(request({ legs: several }))),
      400,
      'exceeds-precision',
    );
    expect(all).toMatchObject({
      asset: 'USD',
      max_decimals: 2,
      errors: [{ pointer: '/legs/0/amount' }, { pointer: '/legs/1/amount' }],
    });
  });

  it('accepts a ref_id of 128 characters, counted as code points', async () => {
    for (const letter of ['x', '🚢']) {
      const { status, body } = await create(request({ ref_id: letter.repeat(128) }));
      expect([status, body.ref_id]).toEqual([200, letter.repeat(128)]);
    }
  });

  it('refuses unknown fields at both levels', async () => {
    const legs = [LEG, { ...LEG, id: newId() }];
    expectInvalid(await refused(() => create(request({ memo: 'x', legs }))), '/memo', '/legs/1/id');
    expectInvalid(await refused(() => alice.call('POST', `${PATH}?dry_run=1`, request())), '/query/dry_run');
  });

  it('reports all invalid fields at once', async () => {
    const body = request({
      target_profile_id: source,
      settlement_window_start: '2026-05-01T00:00:00Z',
      settlement_window_end: '2026-04-30T23:00:00-01:00',
      legs: [{ ...LEG, asset: 'DOGE' }, LEG, { ...LEG, amount: '1.001' }, { ...LEG, amount: '0' }],
    });
    const broken = ['/target_profile_id', '/settlement_window_end', '/legs/0/asset', '/legs/2/amount'];
    expectInvalid(await refused(() => create(body)), ...broken, '/legs/3/amount');
  });

  it.each(['', '{', '[]', 'null', '"x"', '{"a":1}{'])('refuses the body %j', async (body) => {
    expectProblem(await refused(() => alice.call('POST', PATH, body)), 400, 'invalid-request');
  });
});

describe('the window', () => {
  it('ends at most 90 days from now, on the second', async () => {
    // The service reads its clock after the test, so 90 days from the time of the test are never too many.
    const at = inMs(90 * DAY_MS);
    expect((await create(request({ settlement_window_end: at }))).status).toBe(200);
    const beyond = inMs(90 * DAY_MS + 30 * SECOND_MS);
    const answer = await refused(() => create(request({ settlement_window_end: beyond })));
    expectInvalid(answer, '/settlement_window_end');
    expect(answer.body.detail).toContain('at most 90 days from now');
  });

  it('reports the start as invalid when the default end would be too late', async () => {
    const late = inMs(89 * DAY_MS + 30 * SECOND_MS);
    expectInvalid(
      await refused(() => create(request({ settlement_window_start: late }))),
      '/settlement_window_start',
    );
    const early = inMs(-DAY_MS - SECOND_MS);
    expectInvalid(
      await refused(() => create(request({ settlement_window_start: early }))),
      '/settlement_window_start',
    );
  });

  it('ends after its start, and in the future', async () => {
    const at = inMs(DAY_MS);
    const same = { settlement_window_start: at, settlement_window_end: at.replace('Z', '+00:00') };
    expectInvalid(await refused(() => create(request(same))), '/settlement_window_end');
    const past = { settlement_window_end: inMs(-SECOND_MS) };
    expectInvalid(await refused(() => create(request(past))), '/settlement_window_end');
    const nanosecond = { settlement_window_start: at, settlement_window_end: at.replace('Z', '000001Z') };
    expect((await create(request(nanosecond))).status).toBe(200);
  });
});

describe('who may propose what to whom', () => {
  it('refuses the same profile on both sides', async () => {
    expectInvalid(await refused(() => create(request({ target_profile_id: source }))), '/target_profile_id');
  });

  it.each(['source_profile_id', 'target_profile_id'])('answers an unknown %s with 404', async (name) => {
    const id = newId();
    const answer = await refused(() => create(request({ [name]: id })));
    expect(expectProblem(answer, 404, 'not-found')).toEqual({ resource: 'profile', id });
  });

  it('answers 404 for a source profile of another customer', async () => {
    const other = await service.createProfile(bob);
    const answer = await refused(() => create(request({ source_profile_id: other })));
    expect(expectProblem(answer, 404, 'not-found')).toEqual({ resource: 'profile', id: other });
    expect(answer.body.detail).toBe(`There is no profile with the id ${other}.`);
  });

  it('refuses a disabled profile: with 403 if it is your own, as an unknown one if it is not', async () => {
    const [own, theirs] = [await service.createProfile(alice), await service.createProfile(bob)];
    for (const id of [own, theirs])
      await service.database.query(`update profiles set status = 'DISABLED' where id = $1`, [id]);
    for (const side of ['source_profile_id', 'target_profile_id']) {
      const answer = await refused(() => create(request({ [side]: own })));
      expect(expectProblem(answer, 403, 'forbidden')).toEqual({ profile_id: own });
    }
    const answer = await refused(() => create(request({ target_profile_id: theirs })));
    expect(expectProblem(answer, 404, 'not-found')).toEqual({ resource: 'profile', id: theirs });
  });

  it('needs a token', async () => {
    const answer = await refused(() => alice.call('POST', PATH, request(), { authorization: 'Bearer no' }));
    expectProblem(answer, 401, 'unauthenticated');
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  it('needs the scope settlement:write_transaction', async () => {
    const reader = await service.createCustomer({ scopes: ['settlement:read_transaction'] });
    const body = request({ source_profile_id: await service.createProfile(reader) });
    const answer = await refused(() => reader.call('POST', PATH, body));
    const meta = expectProblem(answer, 403, 'insufficient-scope');
    expect(meta).toEqual({
      required: 'settlement:write_transaction',
      found: ['settlement:read_transaction'],
    });
  });

  it('answers 405 to methods other than GET and POST', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const answer = await refused(() => alice.call(method, PATH, request()));
      expectProblem(answer, 405, 'method-not-allowed');
      expect(answer.headers.get('allow')).toMatch(/GET.*POST/);
    }
  });

  it('accepts at most 256 KiB', async () => {
    const answer = await refused(() => create(request({ ref_id: 'x'.repeat(256 * 1024) })));
    expectProblem(answer, 413, 'payload-too-large');
  });

  it('accepts JSON only', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const answer = await refused(() => alice.call('POST', PATH, request(), { 'content-type': type }));
      expectProblem(answer, 415, 'unsupported-media-type');
    }
  });
});

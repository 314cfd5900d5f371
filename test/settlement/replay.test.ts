import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { eventsOf } from '../support/events.ts';
import {
  type Answer,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

const PATH = '/v2/settlement/transactions';
const DAY_MS = 86_400_000;
const LEG = { direction: 'DELIVER', asset: 'USD', amount: '10' };

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

const request = (over: object) => ({
  source_profile_id: source,
  target_profile_id: target,
  legs: [LEG],
  ...over,
});
const create = (body: unknown): Promise<Answer> => alice.call('POST', PATH, body);
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** Makes the call, and checks that it has written nothing. */
async function refused(call: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await service.countRows();
    const answer = await call();
    const after = await service.countRows();
    // The window of another test may end meanwhile, once, which writes an event.
    if (attempt < 5 && after.events !== before.events) continue;
    expect(after).toEqual(before);
    return answer;
  }
}

describe('a ref_id', () => {
  it('replays the same transaction for the same request, in any notation', async () => {
    const end = inMs(DAY_MS).slice(0, 19);
    const first = await create(
      request({ ref_id: 'twice', settlement_window_end: `${end}Z`, legs: [{ ...LEG, amount: '1' }] }),
    );
    expect(first.status).toBe(200);
    const before = await service.countRows();
    const plusOne = new Date(Date.parse(`${end}Z`) + 3_600_000).toISOString().slice(0, 19);
    const again = await create({
      legs: [{ amount: '01.00', asset: 'USD', direction: 'DELIVER' }],
      settlement_window_end: `${plusOne}.000+01:00`,
      ref_id: 'twice',
      target_profile_id: target,
      source_profile_id: source,
    });
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    expect(await service.countRows()).toEqual(before);
  });

  it('replays the current state of the transaction', async () => {
    const first = await create(request({ ref_id: 'now cancelled' }));
    await alice.call('DELETE', `${PATH}/${first.body.id}`);
    const again = await create(request({ ref_id: 'now cancelled' }));
    expect(again.body).toMatchObject({ id: first.body.id, status: 'CANCELLED' });
  });

  it('answers a retry even after the window has ended', async () => {
    const body = request({ ref_id: 'late retry', settlement_window_end: inMs(DAY_MS) });
    const first = await create(body);
    expect(first.status).toBe(200);
    await service.database.query(
      'update settlement_transactions set window_start_ns = 0, window_end_ns = created_at_ns where id = $1',
      [first.body.id],
    );
    const again = await create(body);
    expect([again.status, again.body.id]).toEqual([200, first.body.id]);
  });

  it('refuses a different request, and shows what differs and the first transaction', async () => {
    const end = inMs(DAY_MS);
    const body = request({ ref_id: 'once', settlement_window_end: end });
    const first = await create(body);
    const other = await service.createProfile(bob);
    const cases: [object, string[]][] = [
      [{ target_profile_id: other }, ['target_profile_id']],
      [{ settlement_window_end: end.replace('Z', '000001Z') }, ['settlement_window_end']],
      [{ settlement_window_end: undefined }, ['settlement_window_end']],
      [{ settlement_window_start: first.body.settlement_window_start }, ['settlement_window_start']],
      [{ legs: [{ ...LEG, amount: '10.01' }] }, ['legs']],
      [{ legs: [{ ...LEG, direction: 'RECEIVE' }] }, ['legs']],
      [{ legs: [LEG, LEG], target_profile_id: other }, ['legs', 'target_profile_id']],
    ];
    for (const [over, differs] of cases) {
      const answer = await refused(() => create({ ...body, ...over }));
      expect(expectProblem(answer, 409, 'already-exists')).toEqual({ existing: first.body, differs });
    }
  });

  it('is not used up by a refused request', async () => {
    const body = request({ ref_id: 'second try' });
    expectProblem(await refused(() => create({ ...body, target_profile_id: newId() })), 404, 'not-found');
    const answer = await create(body);
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, null]);
  });

  it('belongs to its customer: another customer may use the same', async () => {
    const mine = await create(request({ ref_id: 'shared' }));
    const swapped = { source_profile_id: target, target_profile_id: source };
    const his = await bob.call('POST', PATH, request({ ...swapped, ref_id: 'shared' }));
    expect([mine.status, his.status]).toEqual([200, 200]);
    expect(his.body.id).not.toBe(mine.body.id);
  });

  it('that the service assigned works as well', async () => {
    const first = await create(request({}));
    const same = await create(request({ ref_id: first.body.ref_id }));
    expect([same.headers.get('idempotent-replayed'), same.body.id]).toEqual(['true', first.body.id]);
    const different = await create(request({ ref_id: first.body.ref_id, legs: [LEG, LEG] }));
    expect(expectProblem(different, 409, 'already-exists').differs).toEqual(['legs']);
  });

  it('makes one transaction of fifty equal requests at once, with fifty equal answers', async () => {
    const body = request({ ref_id: 'fifty' });
    const before = await service.countRows();
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(body)));
    expect(new Set(answers.map((one) => one.status))).toEqual(new Set([200]));
    for (const answer of answers) expect(answer.body).toEqual(answers[0]!.body);
    const fresh = answers.filter((one) => one.headers.get('idempotent-replayed') === null);
    expect(fresh).toHaveLength(1);
    expect(await service.countRows()).toEqual({
      ...before,
      settlements: before.settlements! + 1n,
      idempotency_keys: before.idempotency_keys! + 1n,
      // The window of another test may end meanwhile.
      events: expect.any(BigInt),
    });
    expect(await eventsOf(service.database, answers[0]!.body.id)).toHaveLength(2);
  });
});

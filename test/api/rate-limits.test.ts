import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitCustomer } from '../../src/auth/administration.ts';
import { LIMITS } from '../../src/limits.ts';
import { type Answer, startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

/** A customer with a rate of its own. It is set before the first request, so that it applies at once. */
async function customerWith(pointsPerSecond: number): Promise<TestCustomer> {
  const customer = await service.createCustomer();
  await limitCustomer(service.database, customer.id, pointsPerSecond);
  return customer;
}

const remaining = ({ headers }: Answer, policy: string): number =>
  Number(new RegExp(`"${policy}";r=(\\d+)`).exec(headers.get('ratelimit')!)![1]);

/** Sends requests until one is refused; no more than the budgets allow on a machine that is never so slow as to refill them. */
async function untilRefused(customer: TestCustomer, path: string): Promise<Answer> {
  let refused: Answer | undefined;
  await until('a request is refused', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => customer.call('GET', path)));
    refused = answers.find(({ status }) => status === 429);
    return refused !== undefined;
  });
  return refused!;
}

describe('the rate limit of a customer', () => {
  it('is in the headers of every answer', async () => {
    const customer = await customerWith(1_000);
    const answer = await customer.call('GET', '/v2/profiles?limit=1');
    expect(answer.headers.get('ratelimit-policy')).toBe('"client";q=1000;w=2, "customer";q=2000;w=2');
    expect(answer.headers.get('ratelimit')).toMatch(/^"client";r=\d+;t=\d+, "customer";r=\d+;t=\d+$/);
    expect(remaining(answer, 'client')).toBeLessThan(1_000);
    expect(remaining(answer, 'customer')).toBeGreaterThan(remaining(answer, 'client'));
  });

  it('refuses requests above it with 429, and executes nothing', async () => {
    const customer = await customerWith(4);
    const [from, to] = [
      await service.createProfile(customer, { USD: '100' }),
      await service.createProfile(customer),
    ];
    const refused = await untilRefused(customer, '/v2/profiles');
    expect(refused.body).toMatchObject({
      title: 'Too many requests',
      meta: { points_per_second: 2, retry_after_ms: expect.any(Number) },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    const body = { from_profile_id: from, to_profile_id: to, asset: 'USD', amount: '1' };
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => customer.call('POST', '/v2/transfer/internal', body)),
    );
    const executed = answers.filter(({ status }) => status === 200).length;
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30 - executed);
    expect(executed).toBeLessThan(30);
    const entries = await service.database.query('select from entries where owner_id = $1', [to]);
    expect(entries).toHaveLength(executed);
  });

  it('does not concern other customers, nor a customer that waits', async () => {
    const [busy, other] = [await customerWith(20), await customerWith(20)];
    const refused = await untilRefused(busy, '/v2/profiles');
    expect((await other.call('GET', '/v2/profiles')).status).toBe(200);
    // Only the budget of this customer matters: a slow machine makes the wait longer than it has to be.
    await new Promise((resume) => setTimeout(resume, Number(refused.headers.get('retry-after')) * 1_000));
    await until(
      'it is served again',
      async () => (await busy.call('GET', '/v2/profiles?limit=1')).status === 200,
    );
  });

  it('can be changed while the service runs', async () => {
    const customer = await customerWith(10);
    const policy = async (): Promise<string | null> =>
      (await customer.call('GET', '/v2/profiles?limit=1')).headers.get('ratelimit-policy');
    expect(await policy()).toContain('"customer";q=20;');
    await limitCustomer(service.database, customer.id, 5_000);
    await until(
      'the new rate applies',
      async () => (await policy())?.includes('"customer";q=10000;') === true,
    );
    await limitCustomer(service.database, customer.id, null);
    const byDefault = `"customer";q=${LIMITS.customerPointsPerSecond * LIMITS.rateSeconds};`;
    await until('the default applies', async () => (await policy())?.includes(byDefault) === true);
  });

  it.each([0, -1, 1.5, Number.NaN, LIMITS.pointsPerSecondMax + 1])('cannot be %s', async (rate) => {
    const customer = await service.createCustomer();
    await expect(limitCustomer(service.database, customer.id, rate)).rejects.toThrow(
      `The rate must be a whole number from 1 to ${LIMITS.pointsPerSecondMax}.`,
    );
  });
});

describe('the cost of a request', () => {
  it('of a list is that of the rows that it shows, not of those that it could show', async () => {
    // So slow that a budget is not refilled noticeably during the test.
    const customer = await customerWith(100);
    const before = remaining(await customer.call('GET', '/v2/profiles?limit=1'), 'client');
    const large = await customer.call('GET', '/v2/profiles?limit=1000');
    // The header is written before the rows are read: it shows what the page may cost.
    expect(remaining(large, 'client')).toBeLessThanOrEqual(before - 81 + 20);
    await until('the points are given back', async () => {
      const after = await customer.call('GET', '/v2/profiles?limit=1');
      return remaining(after, 'client') > before - 20;
    });
  });
});

describe('refusals', () => {
  it('of one caller are sent at a bounded rate, so that they cost little', async () => {
    const customer = await customerWith(1);
    await untilRefused(customer, '/v2/profiles?limit=1');
    const startedMs = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => customer.call('GET', '/v2/profiles?limit=1000')),
    );
    const refused = answers.filter(({ status }) => status === 429).length;
    // On a slow machine, points arrive meanwhile.
    expect(refused).toBeGreaterThan(3 * LIMITS.refusalsAtOnceMax);
    const { refusalIntervalMs, refusalsAtOnceMax } = LIMITS;
    expect(performance.now() - startedMs).toBeGreaterThan(
      (refused - 2 * refusalsAtOnceMax) * refusalIntervalMs,
    );
  });

  it('for lack of a valid token are delayed as well', async () => {
    const startedMs = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => service.anonymous.call('GET', '/v2/profiles')),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
    const { refusalIntervalMs, refusalsAtOnceMax } = LIMITS;
    expect(performance.now() - startedMs).toBeGreaterThan((200 - 2 * refusalsAtOnceMax) * refusalIntervalMs);
  });
});

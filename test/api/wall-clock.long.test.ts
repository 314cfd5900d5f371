import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OK, type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { rightNow, shiftWallClock } from '../support/wall-clock.ts';

/** A change of a node's wall clock has no effect on its work. */
let service: TestService;
let customer: TestCustomer;
let receiver: Receiver;
let source: string;
let target: string;
beforeAll(async () => {
  receiver = await startReceiver();
  service = await startTestService({ FERRY_WORKERS: 'on', FERRY_SANDBOX_SPEED: '36000' });
  customer = await service.createCustomer();
  source = await service.createProfile(customer, { USD: '1000', BTC: '10' });
  target = await service.createProfile(customer);
  const endpoint = { url: receiver.url, event_types: ['settlement.transaction.*'] };
  expect((await customer.call('POST', '/v2/events/webhooks', endpoint)).status).toBe(200);
});
afterEach(() => {
  shiftWallClock(0);
  receiver.behave(OK);
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
});

const inMs = (ms: number): string => new Date(rightNow() + ms).toISOString();

async function propose(window: object) {
  const answer = await customer.call('POST', '/v2/settlement/transactions', {
    source_profile_id: source,
    target_profile_id: target,
    legs: [{ direction: 'DELIVER', asset: 'USD', amount: '1' }],
    ...window,
  });
  return { status: answer.status, id: answer.body.id as string };
}

/** With a window that ends as soon as possible, but not before the request arrives. */
async function proposeEndingSoon(): Promise<string> {
  for (let inTheEndMs = 700; inTheEndMs < 100_000; inTheEndMs *= 2) {
    const { status, id } = await propose({ settlement_window_end: inMs(inTheEndMs) });
    if (status === 200) return id;
  }
  throw new Error('no window is long enough');
}

async function affirm(id: string): Promise<void> {
  expect((await customer.call('PUT', `/v2/settlement/transactions/${id}/affirm`)).status).toBe(200);
}

const settlement = async (id: string): Promise<string> =>
  (await customer.call('GET', `/v2/settlement/transactions/${id}`)).body.status;
const transfer = async (id: string): Promise<string> =>
  (await customer.call('GET', `/v2/transfer/transfers/${id}`)).body.status;
const cameOf = (id: string): string[] =>
  receiver.hits.filter(({ body }) => body.resource_id === id).map(({ body }) => body.data.status);

/** Starts work of every kind, and returns a function that waits for its end. */
async function begin() {
  const { id: opens } = await propose({
    settlement_window_start: inMs(700),
    settlement_window_end: inMs(600_000),
  });
  await affirm(opens);
  const ends = await proposeEndingSoon();
  const withdrawal = await customer.call('POST', '/v2/transfer/crypto-withdrawals', {
    profile_id: source,
    asset: 'BTC',
    crypto_network: 'BITCOIN',
    amount: '0.01',
    destination_address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  });
  expect(withdrawal.status).toBe(200);
  return async (): Promise<void> => {
    await expect.poll(() => settlement(opens)).toBe('SETTLED');
    await expect.poll(() => settlement(ends)).toBe('EXPIRED');
    await expect.poll(() => transfer(withdrawal.body.id)).toBe('COMPLETED');
    await expect.poll(() => cameOf(opens)).toEqual(['PENDING', 'AFFIRMED', 'SETTLED']);
    await expect.poll(() => cameOf(ends)).toEqual(['PENDING', 'EXPIRED']);
  };
}

/** More than rounding and reading the clock of the database add, and far less than the error of a wrong clock. */
const TOLERANCE_MS = 10_000;

describe.each([
  ['back by a minute', -60_000],
  ['back by an hour', -3_600_000],
  ['ahead by an hour', 3_600_000],
])('a wall clock that is set %s', (_title, shiftMs) => {
  it('delays nothing, neither while it is wrong nor after it is corrected', async () => {
    const before = await begin();
    shiftWallClock(shiftMs);
    await before();
    await (await begin())();
    const wrong = await begin();
    shiftWallClock(0);
    await wrong();
    await (await begin())();
  });

  it('neither delays the retry of a webhook nor changes the time in its signature', async () => {
    const startedMs = rightNow();
    receiver.behave((_hit, response) => void response.writeHead(500).end());
    const { id } = await propose({});
    await expect.poll(() => cameOf(id).length).toBeGreaterThan(0);
    shiftWallClock(shiftMs);
    receiver.behave(OK);
    const failed = cameOf(id).length;
    await expect.poll(() => cameOf(id).length).toBeGreaterThan(failed);
    for (const { headers } of receiver.hits.filter(({ body }) => body.resource_id === id)) {
      const signedAtMs = Number(headers['webhook-timestamp']) * 1_000;
      expect(signedAtMs).toBeGreaterThan(startedMs - TOLERANCE_MS);
      expect(signedAtMs).toBeLessThan(rightNow() + TOLERANCE_MS);
    }
  });

  it('invalidates no token, neither earlier ones nor those issued meanwhile', async () => {
    shiftWallClock(shiftMs);
    const meanwhile = await service.createCustomer();
    const read = async (by: TestCustomer) => (await by.call('GET', '/v2/profiles')).status;
    expect([await read(customer), await read(meanwhile)]).toEqual([200, 200]);
    shiftWallClock(0);
    expect([await read(customer), await read(meanwhile)]).toEqual([200, 200]);
  });
});

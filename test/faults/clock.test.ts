import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OK, type Receiver, startReceiver } from '../events/receiver.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { rightNow, shiftWallClock } from '../support/wall-clock.ts';

/** A node whose wall clock is set while it works: everything goes on as if nothing had happened. */
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
afterEach(() => shiftWallClock(0));
afterAll(async () => {
  await service.stop();
  await receiver.close();
});

const inMs = (ms: number): string => new Date(rightNow() + ms).toISOString();
const PATIENCE = { timeout: 30_000, interval: 20 };

async function post(path: string, body: object, by = customer): Promise<string> {
  const answer = await by.call('POST', path, body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.id;
}

async function propose(window: object): Promise<string> {
  return post('/v2/settlement/transactions', {
    source_profile_id: source,
    target_profile_id: target,
    legs: [{ direction: 'DELIVER', asset: 'USD', amount: '1' }],
    ...window,
  });
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

/** Work of every kind that is still to be done when this returns. */
async function begin() {
  const opens = await propose({ settlement_window_start: inMs(700), settlement_window_end: inMs(60_000) });
  await affirm(opens);
  const ends = await propose({ settlement_window_end: inMs(700) });
  const paid = await post('/v2/transfer/crypto-withdrawals', {
    profile_id: source,
    asset: 'BTC',
    crypto_network: 'BITCOIN',
    amount: '0.01',
    destination_address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  });
  return async (): Promise<void> => {
    await expect.poll(() => settlement(opens), PATIENCE).toBe('SETTLED');
    await expect.poll(() => settlement(ends), PATIENCE).toBe('EXPIRED');
    await expect.poll(() => transfer(paid), PATIENCE).toBe('COMPLETED');
    await expect.poll(() => cameOf(opens), PATIENCE).toEqual(['PENDING', 'AFFIRMED', 'SETTLED']);
    await expect.poll(() => cameOf(ends), PATIENCE).toEqual(['PENDING', 'EXPIRED']);
  };
}

describe.each([
  ['back by a minute', -60_000],
  ['back by an hour', -3_600_000],
  ['ahead by an hour', 3_600_000],
])('a wall clock that is set %s', (_title, shiftMs) => {
  it('delays nothing, neither while it is wrong nor after it is right again', async () => {
    const before = await begin();
    shiftWallClock(shiftMs);
    await before();
    await (await begin())();
    const wrong = await begin();
    shiftWallClock(0);
    await wrong();
    await (await begin())();
  }, 120_000);

  it('neither delays a retry of a webhook nor keeps one from being signed for now', async () => {
    receiver.behave((_hit, response) => void response.writeHead(500).end());
    const id = await propose({});
    await expect.poll(() => cameOf(id), PATIENCE).toEqual(['PENDING']);
    shiftWallClock(shiftMs);
    receiver.behave(OK);
    await expect.poll(() => cameOf(id), PATIENCE).toEqual(['PENDING', 'PENDING']);
    for (const { headers } of receiver.hits.slice(-2)) {
      const signedAtMs = Number(headers['webhook-timestamp']) * 1_000;
      expect(Math.abs(signedAtMs - rightNow())).toBeLessThan(60_000);
    }
  }, 60_000);

  it('takes no token away: neither one from before, nor one that was issued meanwhile', async () => {
    shiftWallClock(shiftMs);
    const meanwhile = await service.createCustomer();
    const read = async (by: TestCustomer) => (await by.call('GET', '/v2/profiles')).status;
    expect([await read(customer), await read(meanwhile)]).toEqual([200, 200]);
    shiftWallClock(0);
    expect([await read(customer), await read(meanwhile)]).toEqual([200, 200]);
  });
});

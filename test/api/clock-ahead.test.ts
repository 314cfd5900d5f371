import { afterAll, beforeAll, expect, it } from 'vitest';
import { NS_PER_SECOND } from '../../src/kernel/instant.ts';
import { unguarded } from '../support/database.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';

const HOUR = 3_600n * NS_PER_SECOND;

let service: TestService;
let alice: TestCustomer;
let bob: TestCustomer;
beforeAll(async () => {
  service = await startTestService({ FERRY_WORKERS: 'on', FERRY_SANDBOX_SPEED: '36000' });
  alice = await service.createCustomer();
  bob = await service.createCustomer();
});
afterAll(() => service.stop());

/** A profile whose last entry has the time of a clock that was an hour ahead. */
async function profileAhead(customer: TestCustomer, balances: Record<string, string>): Promise<string> {
  const id = await service.createProfile(customer, balances);
  await unguarded(service.database).query(
    `update entries set at_ns = at_ns + $2::bigint
     where cause_id in (select cause_id from entries where owner_id = $1)`,
    [id, HOUR],
  );
  await service.database.query(
    'update balances set moved_at_ns = moved_at_ns + $2::bigint where profile_id = $1',
    [id, HOUR],
  );
  return id;
}

const isNow = (time: string): boolean => Math.abs(Date.parse(time) - Date.now()) < 10 * 60_000;

async function untilStatus(customer: TestCustomer, path: string, status: string): Promise<any> {
  let body: any;
  await expect
    .poll(async () => {
      body = (await customer.call('GET', path)).body;
      return body.status;
    })
    .toBe(status);
  return body;
}

it('a withdrawal from a balance that is stamped an hour ahead is due at once, and completes', async () => {
  const profile = await profileAhead(alice, { BTC: '2' });
  const created = await alice.call('POST', '/v2/transfer/crypto-withdrawals', {
    profile_id: profile,
    destination_address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    asset: 'BTC',
    crypto_network: 'BITCOIN',
    amount: '1',
  });
  expect(created.status).toBe(200);
  const completed = await untilStatus(alice, `/v2/transfer/transfers/${created.body.id}`, 'COMPLETED');
  expect([isNow(completed.created_at), isNow(completed.updated_at)]).toEqual([true, true]);
});

it('an affirmed and funded settlement between balances that are stamped an hour ahead settles inside its window', async () => {
  const source = await profileAhead(alice, { BTC: '1' });
  const target = await profileAhead(bob, { USD: '1000' });
  const end = new Date(Date.now() + 20 * 60_000).toISOString();
  const offer = await alice.call('POST', '/v2/settlement/transactions', {
    source_profile_id: source,
    target_profile_id: target,
    settlement_window_end: end,
    legs: [
      { direction: 'DELIVER', asset: 'BTC', amount: '1' },
      { direction: 'RECEIVE', asset: 'USD', amount: '1000' },
    ],
  });
  const path = `/v2/settlement/transactions/${offer.body.id}`;
  expect((await bob.call('PUT', `${path}/affirm`)).status).toBe(200);
  const settled = await untilStatus(alice, path, 'SETTLED');
  expect(isNow(settled.updated_at)).toBe(true);
});

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { createFiatAccount } from '../support/transfers.ts';

const BITCOIN = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';

let service: TestService;
let alice: TestCustomer;
let receiver: Receiver;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
  receiver = await startReceiver((_hit, response) => void response.writeHead(500).end());
});
afterAll(async () => {
  await receiver.close();
  await service.stop();
});

async function metric(series: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
}

/** Backlogs are read at most once a second. */
async function expectMetric(series: string, isSo: (value: number) => boolean): Promise<void> {
  await expect.poll(() => metric(series)).toSatisfy(isSo);
}

const equals = (wanted: number) => (value: number) => value === wanted;
const positive = (value: number): boolean => value > 0;
/** The age of something that the test has created. A mistake of units or clocks would be far larger. */
const recent = (value: number): boolean => value > 0 && value < 600;

it('every metric of Ferry is documented for operators, and every documented metric exists', async () => {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const told = [...text.matchAll(/^# TYPE (ferry_(?!nodejs_|process_)\w+)/gm)].map((match) => match[1]);
  const guide = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const explained = [...guide.matchAll(/`(ferry_\w+)[`{]/g)].map((match) => match[1]);
  expect(told.length).toBeGreaterThan(20);
  expect(new Set(explained)).toEqual(new Set(told));
});

describe('the metrics for operators', () => {
  it('are zero while nothing waits, for each rail', async () => {
    await expectMetric('ferry_withdrawals_waiting{rail="wire"}', equals(0));
    await expectMetric('ferry_withdrawals_overdue_seconds{rail="BITCOIN"}', equals(0));
    await expectMetric('ferry_rail_notices_waiting{rail="wire"}', equals(0));
    for (const series of [
      'ferry_withdrawals_oldest_seconds',
      'ferry_withdrawals_unknown',
      'ferry_withdrawals_unknown_seconds',
      'ferry_rail_contradictions',
      'ferry_suspense_deposits',
      'ferry_suspense_oldest_seconds',
      'ferry_fiat_account_reviews_waiting',
      'ferry_fiat_account_reviews_oldest_seconds',
      'ferry_settlement_overdue_seconds',
      'ferry_webhook_endpoints{state="failing"}',
      'ferry_webhook_attempts_total{result="failed"}',
      'ferry_ledger_troubles_total{what="in-doubt"}',
      'ferry_webhook_failing_seconds',
      'ferry_webhook_overdue_seconds',
    ]) {
      expect({ series, value: await metric(series) }).toEqual({ series, value: 0 });
    }
    await expectMetric('ferry_events_unreadable_seconds', equals(0));
  });

  it('show a withdrawal that no worker has claimed, and one that may have been sent', async () => {
    const profile = await service.createProfile(alice, { BTC: '2' });
    const { body } = await alice.call('POST', '/v2/transfer/crypto-withdrawals', {
      profile_id: profile,
      destination_address: BITCOIN,
      asset: 'BTC',
      crypto_network: 'BITCOIN',
      amount: '1',
    });
    await expectMetric('ferry_withdrawals_waiting{rail="BITCOIN"}', equals(1));
    await expectMetric('ferry_withdrawals_overdue_seconds{rail="BITCOIN"}', recent);
    await expectMetric('ferry_withdrawals_oldest_seconds', recent);
    await service.database.query(
      `update withdrawal_work set state = 'UNKNOWN', intent_at_ns = (extract(epoch from now()) - 30) * 1e9
       where transfer_id = $1`,
      [body.id],
    );
    await expectMetric('ferry_withdrawals_unknown', equals(1));
    await expectMetric('ferry_withdrawals_unknown_seconds', (value) => value >= 30 && value < 600);
  });

  it('show withdrawals of a rail that is no longer configured', async () => {
    await service.database.query(`update withdrawal_work set rail = 'PIGEON'`);
    await expectMetric('ferry_withdrawals_waiting{rail="PIGEON"}', equals(1));
    await expectMetric('ferry_withdrawals_waiting{rail="BITCOIN"}', equals(0));
    await service.database.query(`update withdrawal_work set rail = 'BITCOIN'`);
  });

  it('show a deposit without an owner', async () => {
    const answer = await alice.call('POST', '/v2/sandbox/crypto-deposits', {
      crypto_network: 'BITCOIN',
      address: 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
      asset: 'BTC',
      amount: '0.5',
    });
    expect(answer.body.suspense_deposit).toBeDefined();
    await expectMetric('ferry_suspense_deposits', equals(1));
    await expectMetric('ferry_suspense_oldest_seconds', recent);
  });

  it('show a fiat account that waits for its review', async () => {
    const account = await createFiatAccount(service, alice, 'wire', 'PENDING');
    await service.database.query(
      'update fiat_accounts set updated_at_ns = extract(epoch from now()) * 1e9 where id = $1',
      [account],
    );
    await expectMetric('ferry_fiat_account_reviews_waiting', equals(1));
    await expectMetric('ferry_fiat_account_reviews_oldest_seconds', recent);
  });

  it('show an endpoint that fails, and then recovers', async () => {
    const endpoint = await alice.call('POST', '/v2/events/webhooks', { url: receiver.url });
    expect(endpoint.status).toBe(200);
    const from_profile_id = await service.createProfile(alice, { USD: '10' });
    const to_profile_id = await service.createProfile(alice);
    const pay = () =>
      alice.call('POST', '/v2/transfer/platform', {
        from_profile_id,
        to_profile_id,
        asset: 'USD',
        amount: '1',
      });
    await pay();
    await expectMetric('ferry_webhook_attempts_total{result="failed"}', positive);
    await expectMetric('ferry_webhook_endpoints{state="failing"}', equals(1));
    await expectMetric('ferry_webhook_failing_seconds', recent);
    receiver.behave((_hit, response) => void response.end());
    await pay();
    await expectMetric('ferry_webhook_attempts_total{result="delivered"}', positive);
    await expectMetric('ferry_webhook_endpoints{state="delivering"}', equals(1));
    await expectMetric('ferry_webhook_failing_seconds', equals(0));
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Rail } from '../../src/rails/rail.ts';
import { CHECKPOINTS, type Checkpoint } from '../../src/withdrawals/steps.ts';
import { hold, patient, untilBlockedBy } from '../support/barriers.ts';
import { createWorld, type World } from '../support/payouts.ts';

/** A process that was paused for longer than its lease continues while another one has taken over. */
let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.drop());

function createSleeper(where: Checkpoint) {
  let wake: () => void = () => undefined;
  let fallAsleep: () => void = () => undefined;
  const awake = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const asleep = new Promise<void>((resolve) => {
    fallAsleep = resolve;
  });
  let slept = false;
  const node = world.createNode({
    checkpoint: async (name) => {
      if (name !== where || slept) return;
      slept = true;
      fallAsleep();
      await awake;
    },
  });
  return { node, asleep, wake };
}

async function expectPaidOnce(id: string, profile: string): Promise<void> {
  expect((await world.transferOf(id)).status).toBe('COMPLETED');
  expect(await world.paymentsOf(id)).toHaveLength(1);
  expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '0.9999', held: '0' });
  expect(await world.eventsOf(id)).toHaveLength(2);
  expect(await world.database.query('select 1 from rail_contradictions')).toEqual([]);
  expect(await world.database.query('select 1 from withdrawal_work')).toEqual([]);
  await world.expectSound();
}

describe.each(CHECKPOINTS)('a worker that was paused: %s', (where) => {
  it('changes nothing when another worker has ended the withdrawal', async () => {
    const profile = await world.createProfile({ BTC: '2' });
    const { id } = await world.withdrawCrypto(profile, { asset: 'BTC', crypto_network: 'BITCOIN' });
    const { node, asleep, wake } = createSleeper(where);
    const sleeping = world.settle(node);
    await asleep;
    world.advance(61_000);
    await world.settle(world.createNode());
    wake();
    await sleeping;
    await expectPaidOnce(id, profile);
  });

  it('does not disturb another worker that is processing the withdrawal', async () => {
    const profile = await world.createProfile({ BTC: '2' });
    const { id } = await world.withdrawCrypto(profile, { asset: 'BTC', crypto_network: 'BITCOIN' });
    const { node, asleep, wake } = createSleeper(where);
    const sleeping = world.settle(node);
    await asleep;
    world.advance(61_000);
    const other = world.createNode();
    await other.worker.runDue();
    wake();
    await sleeping;
    await world.settle(other);
    await expectPaidOnce(id, profile);
  });
});

it('a worker that was paused for half of its lease does not call the rail, and leaves the payment to others', async () => {
  const profile = await world.createProfile({ BTC: '2' });
  const { id } = await world.withdrawCrypto(profile, { asset: 'BTC', crypto_network: 'BITCOIN' });
  const leaseMs = 20;
  const sent: string[] = [];
  const slow = world.createNode({
    leaseMs,
    checkpoint: async (name) => {
      if (name === 'after the intent is committed, before the rail is called') await sleep(2 * leaseMs);
    },
    wrapRail: (rail): Rail => ({
      ...rail,
      submit(payment, signal) {
        sent.push(payment.key);
        return rail.submit(payment, signal);
      },
    }),
  });
  expect(await slow.worker.runDue()).toBe(1);
  expect(sent).toEqual([]);
  expect((await world.transferOf(id)).secondaryStatus!.name).toBe('SUBMITTING');
  world.advance(61_000);
  await world.settle(world.createNode());
  expect(await world.paymentsOf(id)).toMatchObject([{ requests: 1 }]);
  await expectPaidOnce(id, profile);
});

it('a worker that found the fiat account rejected returns nothing when another worker has sent the payment since', async () => {
  const profile = await world.createProfile({ USD: '120' });
  const account = await world.createAccount('wire');
  const { id } = await world.withdrawFiat(profile, account);
  const review = (status: string) =>
    world.database.query('update fiat_accounts set status = $2 where id = $1', [account, status]);
  await review('REJECTED');
  const database = world.connect();
  const stale = world.createNode({ database: patient(database) });
  const other = world.createNode();
  // The decision reads no balance; the command that follows it needs this one.
  const holder = await hold(
    world.database,
    'select from balances where profile_id = $1 and asset = $2 for update',
    [profile, 'USD'],
  );
  const ending = stale.worker.runDue();
  await untilBlockedBy(world.database, holder.pid);
  await review('APPROVED');
  world.advance(31_000);
  expect(await other.worker.runDue()).toBe(1);
  await holder.release();
  await ending;
  expect(await world.transferOf(id)).toMatchObject({
    status: 'PENDING',
    secondaryStatus: { name: 'SUBMITTED' },
  });
  expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '0', held: '120' });
  await world.settle(other);
  expect((await world.transferOf(id)).status).toBe('COMPLETED');
  expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '0', held: '0' });
  expect(await world.paymentsOf(id)).toMatchObject([{ requests: 1 }]);
  expect(await world.database.query('select 1 from rail_contradictions')).toEqual([]);
  await database.close();
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKPOINTS, type Checkpoint } from '../../src/transfers/payout.ts';
import { createWorld, type World } from '../support/payouts.ts';

/** A process that stood still for longer than its lease wakes up and goes on, while another has taken over. */
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

describe.each(CHECKPOINTS)('a worker that slept: %s', (where) => {
  it('changes nothing any more when another one has ended the withdrawal', async () => {
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

  it('does not disturb another one that is in the middle of it', async () => {
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

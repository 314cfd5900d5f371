import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { INSTANT_MAX } from '../../src/kernel/instant.ts';
import type { PaymentState, Rail } from '../../src/rails/rail.ts';
import { createWorld, type Node, type NodeOptions, never, type World } from '../support/payouts.ts';

/**
 * The database's clock goes back by an hour: it failed over to a server whose clock is right, from one that was ahead.
 * Times that were stored before are then in the future, and nothing may wait for them.
 */
const HOUR = 3_600_000;
let world: World;
beforeAll(async () => {
  world = await createWorld();
});
let backMs = 0;
afterEach(() => {
  world.advance(backMs);
  backMs = 0;
});
afterAll(() => world.drop());

function setBack(): void {
  backMs = HOUR;
  world.advance(-HOUR);
}

/** The clock of the rail does not go back with that of the database: the test decides what the rail answers. */
function nodeWith(state: PaymentState, options: NodeOptions = {}): Node {
  return world.createNode({
    ...options,
    wrapRail: (rail): Rail => ({ ...rail, ask: async () => state }),
  });
}

async function withdraw(memo?: string): Promise<string> {
  const profile = await world.createProfile({ BTC: '1' });
  const fields = { asset: 'BTC', crypto_network: 'BITCOIN', amount: '0.1' } as const;
  return (await world.withdrawCrypto(profile, { ...fields, ...(memo !== undefined && { memo }) })).id;
}

async function workOf(id: string) {
  const [row] = await world.database.query<{ state: string; due_at_ns: bigint }>(
    'select state, due_at_ns from withdrawal_work where transfer_id = $1',
    [id],
  );
  return row!;
}

const COMPLETED: PaymentState = { kind: 'completed', detail: 'paid' };

describe('a database whose clock went back by an hour', () => {
  it('does not delay the question about a payment that the rail has accepted', async () => {
    const id = await withdraw();
    await nodeWith(COMPLETED).worker.runDue();
    expect((await workOf(id)).state).toBe('SUBMITTED');
    setBack();
    await nodeWith(COMPLETED).worker.runDue();
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
  });

  it('does not delay a payment that was not sent yet', async () => {
    const fresh = await withdraw();
    const postponed = await withdraw('sandbox:down');
    await world.database.query(
      'update withdrawal_work set due_at_ns = due_at_ns + 60000000000 where transfer_id = $1',
      [fresh],
    );
    await nodeWith(COMPLETED).worker.runDue();
    expect((await world.transferOf(postponed)).secondaryStatus!.name).toBe('RAIL_UNAVAILABLE');
    setBack();
    await nodeWith(COMPLETED).worker.runDue();
    expect((await workOf(fresh)).state).toBe('SUBMITTED');
    const { secondaryStatus } = await world.transferOf(postponed);
    // Sent again, and refused again.
    expect(secondaryStatus!.name).toBe('RAIL_UNAVAILABLE');
    const [row] = await world.database.query('select attempts from withdrawal_work where transfer_id = $1', [
      postponed,
    ]);
    expect(row).toEqual({ attempts: 2 });
  });

  it('does not keep other nodes from taking over the work of a node that died', async () => {
    const id = await withdraw();
    const dying = nodeWith(COMPLETED, {
      checkpoint: (name, transferId) =>
        name === 'after the rail answered, before its answer is committed' && transferId === id
          ? never
          : Promise.resolve(),
    });
    void dying.worker.runDue();
    await expect.poll(async () => (await workOf(id)).state).toBe('SUBMITTING');
    await expect.poll(() => world.paymentsOf(id)).toHaveLength(1);
    setBack();
    await nodeWith(COMPLETED).worker.runDue();
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
    expect(await world.paymentsOf(id)).toMatchObject([{ requests: 1 }]);
  });

  it('does not touch what waits for a review, and a rail that asks for a much later question is asked within the hour', async () => {
    const profile = await world.createProfile({ USD: '500' });
    const waits = await world.withdrawFiat(profile, await world.createAccount('wire', 'PENDING'));
    const slow = await withdraw();
    const node = nodeWith({ kind: 'pending', nextAskMs: 24 * HOUR });
    await node.worker.runDue();
    world.advance(10 * 60_000);
    await node.worker.runDue();
    const before = await workOf(slow);
    await nodeWith(COMPLETED).worker.runDue();
    expect((await workOf(waits.id)).due_at_ns).toBe(INSTANT_MAX);
    const after = await workOf(slow);
    expect(before.due_at_ns - world.now()).toBeGreaterThan(BigInt(23 * HOUR) * 1_000_000n);
    expect(after.due_at_ns - world.now()).toBeLessThanOrEqual(BigInt(HOUR) * 1_000_000n);
    expect(after.due_at_ns - world.now()).toBeGreaterThan(BigInt(HOUR / 2) * 1_000_000n);
  });
});

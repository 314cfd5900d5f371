import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { startSolana, type TestChain } from '../support/solana-node.ts';
import { createSolanaWorld, type SolanaNode, type SolanaWorld } from '../support/solana-world.ts';
import { until } from '../support/until.ts';

let chain: TestChain;
let world: SolanaWorld;
const LEASE_MS = 200;

beforeAll(async () => {
  chain = await startSolana();
  world = await createSolanaWorld(chain);
}, 120_000);
afterAll(async () => {
  await world?.drop();
  await chain?.stop();
});

const COUNT = process.env.FERRY_TEST_LONG === undefined ? 30 : 100;
const KILLS_MAX = 25;
const KILL_SHARE = 0.08;
const ASSETS = ['SOL', 'USDC', 'PUSD'] as const;

describe('a lane on Solana', () => {
  it(`makes ${COUNT} payments once each while three keepers are killed at random`, async () => {
    const profileId = await world.createProfile({ SOL: '100', USDC: '100', PUSD: '100' });
    const created: { id: string; asset: string; to: string }[] = [];
    for (let index = 0; index < COUNT; index += 1) {
      const asset = ASSETS[index % ASSETS.length]!;
      const { address: to } = await chain.wallet();
      created.push({ asset, to, id: (await world.withdraw(profileId, asset, '0.1', to)).id });
    }
    let kills = 0;
    const over = new AbortController();
    const start = async (): Promise<SolanaNode & { isDead(): boolean }> => {
      let isDead = false;
      const node = await world.createNode(
        {
          leaseMs: LEASE_MS,
          async checkpoint() {
            if (!isDead && kills < KILLS_MAX && Math.random() < KILL_SHARE) {
              kills += 1;
              isDead = true;
            }
            if (isDead) throw new Error('killed');
          },
        },
        world.connect(3),
      );
      return { ...node, isDead: () => isDead };
    };
    const keep = async (): Promise<void> => {
      let node = await start();
      while (!over.signal.aborted) {
        await world.turn(node).catch(() => undefined);
        if (node.isDead()) node = await start();
      }
      await Promise.all([...node.keepers, node.scanner].map(async (one) => one.stop()));
    };
    const keeping = Promise.all([keep(), keep(), keep()]);
    await until('all have ended', async () => {
      const found = await Promise.all(created.map(({ id }) => world.transferOf(id)));
      return found.every(({ status }) => status !== 'PENDING');
    }).finally(() => {
      over.abort();
    });
    await keeping;
    expect(kills).toBeGreaterThan(0);
    for (const { id, asset, to } of created) {
      expect(await world.transferOf(id)).toMatchObject({ status: 'COMPLETED', cryptoTxIndex: to });
      expect(await world.received(asset, to)).toBe(asset === 'SOL' ? 100_000_000n : 100_000n);
      expect(await world.timesPaid(id, to)).toBe(1);
    }
    await world.expectBooked();
  }, 240_000);

  it('is kept by one node, and what the other one has planned meanwhile is not committed', async () => {
    const awake = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const late = await world.createNode({
      leaseMs: LEASE_MS,
      async checkpoint(name) {
        if (name !== 'before the assignment is committed') return;
        reached.resolve();
        await awake.promise;
      },
    });
    const { address: to } = await chain.wallet();
    const { id } = await world.withdraw(await world.createProfile({ SOL: '10' }), 'SOL', '1', to);
    await late.worker.runDue();
    const turn = late.keepers[0]!.run();
    turn.catch(() => undefined);
    await reached.promise;
    // As if the process had been suspended for longer than its lease.
    await world.database.query('update chain_leases set holder = $1, leased_until_ns = 0 where task = $2', [
      newId(),
      world.lane,
    ]);
    const other = await world.createNode({ leaseMs: LEASE_MS });
    await world.settle(other, [id]);
    awake.resolve();
    await expect(turn).rejects.toThrow(/another node works on|aborted/);
    expect(await world.timesPaid(id, to)).toBe(1);
    await Promise.all([...other.keepers, other.scanner].map(async (one) => one.stop()));
    await world.expectBooked();
  });
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { deriveAddress } from '../support/networks.ts';
import { createWorld, type Node, type World } from '../support/payouts.ts';

let world: World;
let node: Node;
beforeAll(async () => {
  world = await createWorld();
  node = world.createNode();
});
afterAll(() => world.drop());

const usdc = { asset: 'USDC', crypto_network: 'SOLANA', amount: '1' } as const;

async function send(profile: string, destination: string, count: number) {
  const made = await Promise.all(
    Array.from({ length: count }, () =>
      world.withdrawCrypto(profile, { ...usdc, destination_address: destination }),
    ),
  );
  await world.settle(node);
  const ended = await Promise.all(made.map(({ id }) => world.transferOf(id)));
  return ended.sort((a, b) => (a.status < b.status ? -1 : 1));
}

it('the rent for one destination and day has a limit, also when two nodes pay at once', async () => {
  const profile = await world.createProfile({ USDC: '1000' });
  const closes = deriveAddress('SOLANA', 'rent');
  const second = world.createNode();
  const made = await Promise.all(
    Array.from({ length: 14 }, () => world.withdrawCrypto(profile, { ...usdc, destination_address: closes })),
  );
  for (let round = 0; round < 5; round += 1)
    await Promise.all([node.worker.runDue(), second.worker.runDue()]);
  await world.settle(node);
  const ended = await Promise.all(made.map(({ id }) => world.transferOf(id)));
  const failed = ended.filter(({ status }) => status === 'FAILED');
  expect(ended.filter(({ status }) => status === 'COMPLETED')).toHaveLength(10);
  expect(failed).toHaveLength(4);
  for (const one of failed) {
    expect(one.statusDetails).toEqual({
      max_rent_exceeded: {
        message: 'transfer cancelled due to suspected system abuse',
        destination_address: closes,
      },
    });
    expect(await world.paymentsOf(one.id)).toEqual([]);
  }
  expect(await world.balanceOf(profile, 'USDC')).toEqual({ available: '985', held: '0' });

  // The next day there is room again, and other destinations were never limited.
  world.advance(86_400_000);
  expect((await send(profile, closes, 1))[0]!.status).toBe('COMPLETED');
});

it('a destination that keeps its token account costs rent once', async () => {
  const profile = await world.createProfile({ USDC: '1000', SOL: '100' });
  const keeps = deriveAddress('SOLANA', 'keeps its account');
  for (let round = 0; round < 12; round += 1) {
    expect((await send(profile, keeps, 1))[0]!.status).toBe('COMPLETED');
  }
  const rows = await world.database.query('select lamports from rent_paid where destination = $1', [keeps]);
  expect(rows).toEqual([{ lamports: 2_039_280n }]);
});

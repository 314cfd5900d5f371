import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import type { Anvil } from '../support/anvil.ts';
import { createEvmWorld, type EvmWorld, startAnvil } from '../support/evm-world.ts';

let anvil: Anvil;
let world: EvmWorld;

beforeAll(async () => {
  anvil = await startAnvil();
  world = await createEvmWorld(anvil);
});
afterAll(async () => {
  await world?.drop();
  await anvil?.stop();
});

/** An address that has received nothing before. */
const payee = (): string => `0x${newId().replaceAll('-', '')}00000001`;

describe('a withdrawal over an EVM network', () => {
  it('pays a coin, once, and its fee is booked', async () => {
    const profileId = await world.createProfile({ ETH: '10' });
    const to = payee();
    const { id } = await world.withdraw(profileId, 'ETH', '1.5', to);
    const [ended] = await world.settle(world.node, [id]);
    expect(ended).toMatchObject({ status: 'COMPLETED' });
    expect(await anvil.balance(to)).toBe(1_500_000_000_000_000_000n);
    const { ETH } = await world.ledger('network-fees:ethereum');
    expect(ETH).toBeLessThan(0n);
    await world.expectBooked();
  });
});

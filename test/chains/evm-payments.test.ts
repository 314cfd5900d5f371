import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { type Anvil, LANE } from '../support/anvil.ts';
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
const ETHER = 10n ** 18n;

describe('a withdrawal over an EVM network', () => {
  it('pays a coin, once, and its fee is booked', async () => {
    const profileId = await world.createProfile({ ETH: '10' });
    const to = payee();
    const { id } = await world.withdraw(profileId, 'ETH', '1.5', to);
    const [ended] = await world.settle(world.node, [id]);
    expect(ended).toMatchObject({
      status: 'COMPLETED',
      cryptoTxHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    expect(await anvil.balance(to)).toBe((3n * ETHER) / 2n);
    const { ETH } = await world.ledger('network-fees:ethereum');
    expect(ETH).toBeLessThan(0n);
    await world.expectBooked();
  });

  it('pays a token, once, and its fee is booked in the coin of the network', async () => {
    const profileId = await world.createProfile({ USDC: '10' });
    const to = payee();
    const { id } = await world.withdraw(profileId, 'USDC', '2.5', to);
    const [ended] = await world.settle(world.node, [id]);
    expect(ended).toMatchObject({ status: 'COMPLETED' });
    expect(await anvil.tokens(world.contracts.USDC, to)).toBe(2_500_000n);
    await world.expectBooked();
  });

  it('pays contracts that need more gas than an address without code', async () => {
    const profileId = await world.createProfile({ ETH: '10' });
    const { id } = await world.withdraw(profileId, 'ETH', '1', world.contracts.till);
    const [ended] = await world.settle(world.node, [id]);
    expect(ended).toMatchObject({ status: 'COMPLETED' });
    expect(await anvil.balance(world.contracts.till)).toBe(ETHER);
    await world.expectBooked();
  });

  it('returns everything if the recipient rejects the coins, and books what the network was paid for the attempt', async () => {
    const profileId = await world.createProfile({ ETH: '10' });
    const before = (await world.ledger('network-fees:ethereum')).ETH!;
    const { id } = await world.withdraw(profileId, 'ETH', '1', world.contracts.refuser);
    const [ended] = await world.settle(world.node, [id]);
    expect(ended).toMatchObject({ status: 'FAILED' });
    expect(await world.available(profileId, 'ETH')).toBe('10');
    expect((await world.ledger('network-fees:ethereum')).ETH).toBeLessThan(before);
    await world.expectBooked();
  });

  it('returns everything if a token answers false instead of reverting', async () => {
    const profileId = await world.createProfile({ NOPE: '10' });
    const { id } = await world.withdraw(profileId, 'NOPE', '1', payee());
    const [ended] = await world.settle(world.node, [id]);
    expect(ended).toMatchObject({ status: 'FAILED' });
    expect(await world.available(profileId, 'NOPE')).toBe('10');
    await world.expectBooked();
  });

  it('has paid in full if a token keeps a part of the transfer for itself', async () => {
    const profileId = await world.createProfile({ TAXED: '10' });
    const to = payee();
    const { id } = await world.withdraw(profileId, 'TAXED', '1', to);
    const [ended] = await world.settle(world.node, [id]);
    expect(ended).toMatchObject({ status: 'COMPLETED' });
    expect(await anvil.tokens(world.contracts.TAXED, to)).toBe(990_000n);
    await world.expectBooked();
  });

  it('shares a lane with many others, with nonces that have no gap', async () => {
    const profileId = await world.createProfile({ ETH: '10', USDC: '1000' });
    const payees = Array.from({ length: 20 }, payee);
    const first = Number(await anvil.call<string>('eth_getTransactionCount', [LANE, 'latest']));
    const created = [];
    for (const [index, to] of payees.entries())
      created.push(await world.withdraw(profileId, index % 2 === 0 ? 'ETH' : 'USDC', '0.1', to));
    const ended = await world.settle(
      world.node,
      created.map(({ id }) => id),
    );
    expect(ended.every(({ status }) => status === 'COMPLETED')).toBe(true);
    for (const [index, to] of payees.entries())
      if (index % 2 === 0) expect(await anvil.balance(to)).toBe(ETHER / 10n);
      else expect(await anvil.tokens(world.contracts.USDC, to)).toBe(100_000n);
    expect(Number(await anvil.call<string>('eth_getTransactionCount', [LANE, 'latest']))).toBe(
      first + payees.length,
    );
    await world.expectBooked();
  });
});

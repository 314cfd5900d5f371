import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TreasurySettings } from '../../src/chains/treasury-settings.ts';
import { newId } from '../../src/kernel/id.ts';
import { type Anvil, LANE, OUTSIDER, transferCall } from '../support/anvil.ts';
import { createEvmWorld, type EvmNode, type EvmWorld, startAnvil } from '../support/evm-world.ts';

/** Sweeps, the cold wallet and refills on a real node of an EVM network. */

let anvil: Anvil;
let world: EvmWorld;
let node: EvmNode;
const ETHER = 10n ** 18n;
const USDC = 10n ** 6n;
/** The third address of the node's own mnemonic: the node signs for it. */
const COLD = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

const settings = (own: Partial<TreasurySettings> = {}): TreasurySettings => ({
  coldAddress: COLD,
  low: new Map(),
  high: new Map(),
  sweepMin: new Map([
    ['ETH', ETHER / 100n],
    ['USDC', 5n * USDC],
  ]),
  ...own,
});

async function rounds(on: EvmNode, count = 14): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    await world.turn(on);
    await on.wallets.run();
    await anvil.mine(3);
  }
}

const wallet = async (on: EvmNode, asset: string) =>
  (await on.treasury!.wallets()).find((one) => one.asset === asset)!;

/** The wallet gained what the ledger says; before this file, it held what it was given outside the ledger. */
let given: Readonly<Record<string, bigint>> = {};
async function expectNoDifference(on: EvmNode): Promise<void> {
  for (const asset of ['ETH', 'USDC'])
    expect({ asset, difference: (await wallet(on, asset)).differenceUnits }).toEqual({
      asset,
      difference: given[asset] ?? 0n,
    });
}

beforeAll(async () => {
  anvil = await startAnvil();
  world = await createEvmWorld(anvil);
  node = await world.createNode({ treasury: settings() });
  await rounds(node, 2);
  given = Object.fromEntries(
    (await node.treasury!.wallets()).map(({ asset, differenceUnits }) => [asset, differenceUnits]),
  );
});
afterAll(async () => {
  await world?.drop();
  await anvil?.stop();
});

describe('sweeps of deposit addresses', () => {
  it('move coins to the hot wallet, and the address pays the fee', async () => {
    const address = await world.depositAddress(node, await world.createProfile());
    await anvil.send({ to: address, value: ETHER });
    await rounds(node);
    expect(await anvil.balance(address)).toBeLessThan(ETHER / 100n);
    const [sweep] = await world.database.query<{ state: string; lane: string; fee: bigint }>(
      `select state, lane, fee_units as fee from chain_assignments where purpose = 'SWEEP'`,
    );
    expect(sweep).toMatchObject({ state: 'SUCCEEDED', lane: address });
    expect(sweep!.fee).toBeGreaterThan(0n);
    await world.expectBooked();
    await expectNoDifference(node);
  });

  it('fund the gas of an address that holds only tokens', async () => {
    const profileId = await world.createProfile();
    const address = await world.depositAddress(node, profileId);
    await anvil.send({ to: world.contracts.USDC, data: transferCall(address, 20n * USDC) });
    await rounds(node, 24);
    expect(await anvil.tokens(world.contracts.USDC, address)).toBe(0n);
    expect(await world.available(profileId, 'USDC')).toBe('20');
    await world.expectBooked();
    await expectNoDifference(node);
  });

  it('leave what is below the bound where it is', async () => {
    const profileId = await world.createProfile();
    const address = await world.depositAddress(node, profileId);
    await anvil.send({ to: world.contracts.USDC, data: transferCall(address, USDC) });
    await anvil.send({ to: address, value: 1_000n });
    await rounds(node, 8);
    expect(await anvil.tokens(world.contracts.USDC, address)).toBe(USDC);
    expect(await anvil.balance(address)).toBe(1_000n);
    expect((await wallet(node, 'USDC')).unsweptUnits).toBe(USDC);
    await expectNoDifference(node);
  });
});

describe('the cold wallet', () => {
  it('gets what is above the high mark, down to the middle of both marks, and the ledger shows it', async () => {
    const before = await wallet(node, 'USDC');
    const coldBefore = await anvil.tokens(world.contracts.USDC, COLD);
    const high = before.hotUnits - 100n * USDC;
    const marks = { low: new Map([['USDC', high - 200n * USDC]]), high: new Map([['USDC', high]]) };
    const marked = await world.createNode({ treasury: settings(marks) });
    for (const worker of [...node.keepers, node.scanner, node.wallets]) await worker.stop();
    node = marked;
    await rounds(marked, 10);
    const moved = (await anvil.tokens(world.contracts.USDC, COLD)) - coldBefore;
    expect(moved).toBe(200n * USDC);
    expect((await world.ledger('cold:ethereum')).USDC).toBe(-moved);
    const after = await wallet(marked, 'USDC');
    expect(after).toMatchObject({ coldUnits: coldBefore + moved, coldLedgerUnits: -moved });
    await world.expectBooked();
    await expectNoDifference(marked);
  });

  it('refills the hot wallet with a file that people sign, and it is booked once as a refill', async () => {
    const { viem, key } = await coldKey();
    for (const [asset, units] of [
      ['USDC', 50n * USDC],
      ['ETH', ETHER / 2n],
    ] as const) {
      const ledgerBefore = (await world.ledger('cold:ethereum'))[asset] ?? 0n;
      const fees = (await world.ledger('network-fees:ethereum')).ETH!;
      const file = await node.treasury!.refill(asset, units, AbortSignal.timeout(30_000));
      expect(file.format).toBe('EVM_TRANSACTION');
      const unsigned = viem.parseTransaction(file.content as `0x${string}`);
      const signed = await key.signTransaction(unsigned as never);
      const coins = await anvil.balance(COLD);
      await anvil.call('eth_sendRawTransaction', [signed]);
      await anvil.mine();
      const fee = coins - (await anvil.balance(COLD)) - (asset === 'ETH' ? units : 0n);
      await rounds(node, 4);
      const booked = (await world.ledger('cold:ethereum'))[asset]! - ledgerBefore;
      expect(booked).toBe(asset === 'ETH' ? units + fee : units);
      expect((await world.ledger('network-fees:ethereum')).ETH).toBe(fees - fee);
      await world.expectBooked();
      await expectNoDifference(node);
    }
  });

  it('is no source of deposits: nobody is credited for a refill', async () => {
    const [row] = await world.database.query<{ count: bigint }>(
      `select count(*) as count from suspense_deposits`,
    );
    expect(row!.count).toBe(0n);
  });
});

async function coldKey() {
  const viem = await import('viem');
  const { mnemonicToAccount } = await import('viem/accounts');
  const key = mnemonicToAccount('test test test test test test test test test test test junk', {
    addressIndex: 2,
  });
  return { viem, key };
}

describe('differences', () => {
  it('appear if somebody pays the hot wallet directly, and withdrawals in flight cause none', async () => {
    const profileId = await world.createProfile({ ETH: '5' });
    const { id } = await world.withdraw(profileId, 'ETH', '1', `0x${newId().replaceAll('-', '')}00000001`);
    await world.settle(node, [id]);
    await rounds(node, 3);
    const before = (await wallet(node, 'ETH')).differenceUnits;
    await anvil.send({ from: OUTSIDER, to: LANE, value: 7n });
    await rounds(node, 3);
    const { differenceUnits, differsSinceNs } = await wallet(node, 'ETH');
    expect(differenceUnits - before).toBe(7n);
    expect(differsSinceNs).not.toBeNull();
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TreasurySettings } from '../../src/chains/treasury-settings.ts';
import { lamportsOf, mintTo, send, tokenUnits } from '../support/solana-money.ts';
import { startSolana, type TestChain } from '../support/solana-node.ts';
import { createSolanaWorld, type SolanaNode, type SolanaWorld } from '../support/solana-world.ts';
import { PATIENCE_MS, until } from '../support/until.ts';

/** Sweeps, the cold wallet and refills on a local Solana chain. */

let chain: TestChain;
let world: SolanaWorld;
let node: SolanaNode;
let cold: Awaited<ReturnType<TestChain['wallet']>>;
let given: Readonly<Record<string, bigint>> = {};

const settingsOf = (marks: Partial<TreasurySettings> = {}): TreasurySettings => ({
  coldAddress: cold.address,
  low: new Map(),
  high: new Map(),
  sweepMin: new Map([
    ['SOL', 1_000_000n],
    ['USDC', 500n],
    ['PUSD', 500n],
  ]),
  ...marks,
});

const wallet = async (asset: string) => (await node.treasury!.wallets()).find((one) => one.asset === asset)!;

/** Gives turns until it holds. */
async function turnsUntil(what: string, holds: () => Promise<boolean>): Promise<void> {
  await until(
    what,
    async () => {
      await world.turn(node);
      await node.wallets.run();
      return holds();
    },
    20,
  );
}

const isEven = async (): Promise<boolean> => {
  const wallets = await node.treasury!.wallets();
  return wallets.every(({ asset, differenceUnits }) => differenceUnits === (given[asset] ?? 0n));
};

const states = async (purpose: string): Promise<string[]> => {
  const rows = await world.database.query<{ state: string }>(
    'select state from chain_assignments where purpose = $1',
    [purpose],
  );
  return rows.map(({ state }) => state);
};

beforeAll(async () => {
  chain = await startSolana(100);
  cold = await chain.wallet(50_000_000_000n);
  world = await createSolanaWorld(chain, cold.address);
  node = await world.createNode({ treasury: settingsOf() });
  await world.node.scanner.stop();
  await turnsUntil('the wallets were looked at', async () => (await wallet('SOL')) !== undefined);
  given = Object.fromEntries(
    (await node.treasury!.wallets()).map(({ asset, differenceUnits }) => [asset, differenceUnits]),
  );
}, 120_000);
afterAll(async () => {
  await world?.drop();
  await chain?.stop();
});

describe('the treasury of Solana', () => {
  it('sweeps coins and tokens of deposit addresses into the lane, which pays the fee', async () => {
    const profileId = await world.createProfile();
    const [one, two] = [
      await world.depositAddress(node, profileId),
      await world.depositAddress(node, profileId),
    ];
    const stranger = await chain.wallet(5_000_000_000n);
    const { kit, system } = chain.library;
    const payment = { source: stranger, destination: kit.address(one), amount: 3_000_000n };
    await send(chain, stranger, [system.getTransferSolInstruction(payment)]);
    await mintTo(chain, world.mints.USDC, one, 5_000n);
    await mintTo(chain, world.mints.PUSD, two, 6_000n);
    await turnsUntil('everything is swept', async () => {
      const swept = await states('SWEEP');
      const left = (await wallet('SOL')).unsweptUnits + (await wallet('USDC')).unsweptUnits;
      return swept.length > 0 && swept.every((state) => state === 'SUCCEEDED') && left === 0n;
    });
    await turnsUntil('the wallets are what the ledger says', isEven);
    expect(await lamportsOf(chain, one)).toBe(0n);
    expect(await tokenUnits(chain, world.mints.USDC, one)).toBe(0n);
    expect(await tokenUnits(chain, world.mints.PUSD, two)).toBe(0n);
    expect(await world.available(profileId, 'SOL')).toBe('0.003');
    await world.expectBooked();
  });

  it('moves what is above the high mark to the cold wallet, and books it', async () => {
    const before = await wallet('USDC');
    const high = before.hotUnits - 1_000n;
    for (const worker of [...node.keepers, node.scanner, node.wallets]) await worker.stop();
    node = await world.createNode({
      treasury: settingsOf({ low: new Map([['USDC', high - 2_000n]]), high: new Map([['USDC', high]]) }),
    });
    await turnsUntil('it is in the cold wallet', async () => (await states('TO_COLD'))[0] === 'SUCCEEDED');
    await turnsUntil('the wallets are what the ledger says', isEven);
    expect(await tokenUnits(chain, world.mints.USDC, cold.address)).toBe(2_000n);
    expect((await world.ledger('cold:solana')).USDC).toBe(-2_000n);
    expect(await wallet('USDC')).toMatchObject({ coldUnits: 2_000n, coldLedgerUnits: -2_000n });
    await world.expectBooked();
  });

  it.each([
    ['SOL', 700_000_000n],
    ['USDC', 500n],
  ])('refills the hot wallet with %s from a message that people sign', async (asset, units) => {
    const { kit } = chain.library;
    const [coins, ledger] = [await lamportsOf(chain, cold.address), await world.ledger('cold:solana')];
    const fees = (await world.ledger('network-fees:solana')).SOL!;
    const file = await node.treasury!.refill(asset, units, AbortSignal.timeout(PATIENCE_MS));
    expect(file).toMatchObject({ format: 'SOLANA_MESSAGE', summary: { from: cold.address, to: world.lane } });
    const message = Buffer.from(file.content, 'base64');
    const signature = await kit.signBytes(cold.keyPair.privateKey, message);
    const wire = Buffer.concat([Buffer.of(1), signature, message]).toString('base64');
    await chain.call('sendTransaction', wire, { encoding: 'base64', skipPreflight: true });
    await turnsUntil('it is booked', async () => {
      const rows = await world.database.query('select from chain_refills where booked and asset = $1', [
        asset,
      ]);
      return rows.length > 0;
    });
    await turnsUntil('the wallets are what the ledger says', isEven);
    const fee = coins - (await lamportsOf(chain, cold.address)) - (asset === 'SOL' ? units : 0n);
    const booked = (await world.ledger('cold:solana'))[asset]! - (ledger[asset] ?? 0n);
    expect(booked).toBe(asset === 'SOL' ? units + fee : units);
    expect(fees - (await world.ledger('network-fees:solana')).SOL!).toBe(fee);
    await world.expectBooked();
  });
});

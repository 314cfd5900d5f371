import { mnemonicToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TreasurySettings } from '../../src/chains/treasury-settings.ts';
import { newId } from '../../src/kernel/id.ts';
import { RefillRefused } from '../../src/rails/treasury.ts';
import { type Anvil, LANE, MNEMONIC, startAnvil, transferCall } from '../support/anvil.ts';
import { createEvmWorld, type EvmNode, type EvmWorld } from '../support/evm-world.ts';
import { until } from '../support/until.ts';

/** Random deposits, sweeps, moves to the cold wallet, refills and withdrawals, with keepers that die anywhere. */

let anvil: Anvil;
let world: EvmWorld;
const LEASE_MS = 200;
const ETHER = 10n ** 18n;
const USDC = 10n ** 6n;
const cold = mnemonicToAccount(MNEMONIC, { addressIndex: 2 });
const STEPS = process.env.FERRY_TEST_LONG === undefined ? 60 : 400;
const SEED = Number(process.env.FERRY_TEST_SEED ?? 20_260_115);

/** The same numbers for the same seed. */
function createRandom(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
const random = createRandom(SEED);

beforeAll(async () => {
  anvil = await startAnvil();
  world = await createEvmWorld(anvil);
});
afterAll(async () => {
  await world?.drop();
  await anvil?.stop();
});

const holdings = async (address: string) => ({
  ETH: await anvil.balance(address),
  USDC: await anvil.tokens(world.contracts.USDC, address),
});

function settingsFor(hot: bigint): TreasurySettings {
  return {
    coldAddress: cold.address,
    low: new Map([['USDC', hot - 50n * USDC]]),
    high: new Map([['USDC', hot + 30n * USDC]]),
    sweepMin: new Map([
      ['ETH', ETHER / 20n],
      ['USDC', 5n * USDC],
    ]),
  };
}

async function stopAll(node: EvmNode): Promise<void> {
  for (const worker of [...node.keepers, node.scanner, node.wallets]) await worker.stop();
}

it(`leave every wallet at what the ledger says, to the unit (seed ${SEED})`, {
  timeout: 600_000,
}, async () => {
  const first = await holdings(LANE);
  const treasury = settingsFor(first.USDC);
  const coldBefore = await holdings(cold.address);
  let deaths = 0;

  async function mortal(): Promise<{ node: EvmNode; isDead: () => boolean }> {
    let dead = false;
    const node = await world.createNode({
      treasury,
      leaseMs: LEASE_MS,
      async checkpoint() {
        if (!dead && random(25) === 0) {
          dead = true;
          deaths += 1;
        }
        // Nothing of a process that was killed goes on.
        if (dead) throw new Error('killed');
      },
    });
    return { node, isDead: () => dead };
  }

  let living = await mortal();
  await stopAll(world.node);
  await until('the scanner has started', async () => {
    await living.node.scanner.run();
    await anvil.mine();
    return (await world.database.query('select from chain_blocks')).length > 0;
  });
  // Until what the lane was used for before is final.
  for (let round = 0; round < 4; round += 1) {
    await anvil.mine(3);
    await living.node.scanner.run();
    await living.node.wallets.run();
  }
  const differences = async (node: EvmNode) =>
    (await node.treasury!.wallets()).map(({ asset, differenceUnits }) => ({ asset, differenceUnits }));
  // What the wallet was given outside the ledger.
  const given = await differences(living.node);
  const profileId = await world.createProfile({ ETH: '100', USDC: '1000' });
  const addresses = await Promise.all([1, 2, 3].map(() => world.depositAddress(living.node, profileId)));
  const withdrawals: { id: string; to: string; asset: 'ETH' | 'USDC'; units: bigint }[] = [];

  async function turn(node: EvmNode): Promise<void> {
    await world.turn(node).catch(() => undefined);
    await node.wallets.run().catch(() => undefined);
  }

  async function refill(): Promise<void> {
    const asset = random(2) === 0 ? 'ETH' : 'USDC';
    const units = asset === 'ETH' ? ETHER / 10n : 2n * USDC;
    if (asset === 'USDC' && (await holdings(cold.address)).USDC < units) return;
    const file = await living.node.treasury!.refill(asset, units, AbortSignal.timeout(30_000));
    const { parseTransaction } = await import('viem');
    const signed = await cold.signTransaction(parseTransaction(file.content as `0x${string}`) as never);
    await anvil.call('eth_sendRawTransaction', [signed]);
  }

  const actions: (() => Promise<unknown>)[] = [
    () => anvil.send({ to: addresses[random(3)]!, value: (BigInt(1 + random(20)) * ETHER) / 100n }),
    () =>
      anvil.send({
        to: world.contracts.USDC,
        data: transferCall(addresses[random(3)]!, BigInt(1 + random(40)) * USDC),
      }),
    async () => {
      const [asset, units] =
        random(2) === 0 ? (['ETH', ETHER / 4n] as const) : (['USDC', 3n * USDC] as const);
      const to = `0x${newId().replaceAll('-', '')}00000001`;
      const { id } = await world.withdraw(profileId, asset, asset === 'ETH' ? '0.25' : '3', to);
      withdrawals.push({ id, to, asset, units });
    },
    refill,
    () => anvil.mine(1 + random(4)),
  ];

  for (let step = 0; step < STEPS; step += 1) {
    await actions[random(actions.length)]!().catch((error: unknown) => {
      if (!(error instanceof RefillRefused)) throw error;
    });
    await turn(living.node);
    await anvil.mine(random(3));
    if (!living.isDead()) continue;
    living = await mortal();
    await until(
      'the leases of the dead node have expired',
      async () => (await living.node.wallets.run()) !== undefined,
    );
  }

  const last = await world.createNode({ treasury, leaseMs: LEASE_MS });
  await stopAll(living.node);
  await world.settle(
    last,
    withdrawals.map(({ id }) => id),
  );
  // Until nothing moves any more: an emptied address may have received coins for gas, and the hot wallet may be above its mark.
  let calm = 0;
  await until('all wallets are at rest', async () => {
    await turn(last);
    await anvil.mine(3);
    const [row] = await world.database.query<{ open: number }>(
      `select count(*)::integer as open from chain_assignments where state = 'ASSIGNED'`,
    );
    calm = row!.open === 0 ? calm + 1 : 0;
    return calm > 4;
  });

  await world.expectBooked();
  expect(await differences(last)).toEqual(given);
  for (const wallet of (await last.treasury!.wallets()).filter(
    ({ asset }) => asset !== 'NOPE' && asset !== 'TAXED',
  )) {
    const { asset } = wallet as { asset: 'ETH' | 'USDC' };
    const onChain = (await holdings(cold.address))[asset] - coldBefore[asset];
    expect({ asset, cold: onChain }).toEqual({ asset, cold: -wallet.coldLedgerUnits });
  }
  for (const { to, asset, units } of withdrawals) expect((await holdings(to))[asset]).toBe(units);
  const made = await world.database.query<{ purpose: string; count: number }>(
    `select purpose, count(*)::integer as count from chain_assignments where state = 'SUCCEEDED' group by purpose order by 1`,
  );
  const counts = Object.fromEntries(made.map(({ purpose, count }) => [purpose, count]));
  expect(counts.SWEEP).toBeGreaterThan(0);
  expect(counts.TO_COLD).toBeGreaterThan(0);
  expect(deaths).toBeGreaterThan(0);
});

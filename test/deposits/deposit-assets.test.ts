import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { arrivalRecords } from '../../src/deposits/arrival-store.ts';
import { createArrivals } from '../../src/deposits/arrivals.ts';
import { findSuspense, suspenseDeposits } from '../../src/deposits/store.ts';
import { createFeeSchedule, type FeeTable } from '../../src/fees/schedule.ts';
import { type Asset, createAssets } from '../../src/kernel/asset.ts';
import { newId } from '../../src/kernel/id.ts';
import { DEFAULT_ASSETS } from '../../src/networks/default-assets.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import type { Notice } from '../../src/rails/rail.ts';
import { byBank, createWays, creditSuspenseCommand, onChain } from '../support/deposits.ts';
import { auditLines, createTestWritePath, problemOf } from '../support/ledger.ts';
import { createWorld, type Node, type World } from '../support/payouts.ts';

/** Only configured assets are credited: an asset on a rail, with its own fee. */
let world: World;
let node: Node;
let ways: ReturnType<typeof createWays>;
beforeAll(async () => {
  world = await createWorld();
  node = world.createNode();
  ways = createWays(world, () => node);
});
afterAll(() => world.drop());

describe('a deposit of an asset that its rail does not carry', () => {
  it('over a bank is kept in suspense, and pays no fee of another currency', async () => {
    const profile = await world.createProfile();
    const memoId = await ways.memoOf(profile, 'WIRE');
    const charging = world.createNode({ fees: { deposits: { fiat: { wire: '10' } } } });
    const deposit = byBank(memoId, { asset: 'USDC', amountUnits: 5_000_000n });
    const { body } = await charging.arrivals.arrive(deposit);
    expect(body.suspense_deposit).toMatchObject({
      asset: 'USDC',
      amount: '5',
      amount_units: '5000000',
      reason: 'USDC is not configured for the wire rail.',
    });
    expect(await world.balanceOf(profile, 'USDC')).toEqual({ available: '0', held: '0' });
    expect(await world.systemOf(body.suspense_deposit!.id)).toEqual({
      'clearing:wire USDC': '-5',
      'suspense USDC': '5',
    });
  });

  it('on a network is kept in suspense', async () => {
    const profile = await world.createProfile();
    const address = await ways.addressOf(profile, 'ARBITRUM_ONE');
    const deposit = onChain(address, { rail: 'ARBITRUM_ONE', asset: 'PUSD', amountUnits: 5_000_000n });
    const { body } = await node.arrivals.arrive(deposit);
    expect(body.suspense_deposit).toMatchObject({
      reason: 'PUSD is not configured for the ARBITRUM_ONE rail.',
    });
    expect(await world.balanceOf(profile, 'PUSD')).toEqual({ available: '0', held: '0' });
  });

  it('is credited by an operator like any other', async () => {
    const profile = await world.createProfile();
    const deposit = byBank(await ways.memoOf(profile, 'WIRE'), { asset: 'USDC', amountUnits: 5_000_000n });
    const { body } = await node.arrivals.arrive(deposit);
    const seen = (await findSuspense(world.database, body.suspense_deposit!.id))!;
    const tables = { ...world.creation, suspenseDeposits, arrivalRecords };
    await node.writePath.submit(creditSuspenseCommand(seen, profile, tables));
    expect(await world.balanceOf(profile, 'USDC')).toEqual({ available: '5', held: '0' });
  });
});

describe('a second currency', () => {
  const EUR: Asset = { code: 'EUR', decimals: 2, kind: 'FIAT', networks: {} };
  const assets = createAssets([...DEFAULT_ASSETS, EUR]);

  async function arrive(deposits: FeeTable['deposits'], network: 'WIRE' | 'CUBIX') {
    const profile = await world.createProfile();
    const memoId = await ways.memoOf(profile, network);
    const writePath = createTestWritePath(world.database, assets);
    const schedule = createFeeSchedule(NETWORKS, assets, { deposits: deposits! });
    const tables = { ...world.creation, assets, schedule, suspenseDeposits, arrivalRecords };
    const { database } = world;
    const service = createArrivals({
      database,
      writePath,
      transferById: (_, id) => world.transfers.byId(id),
      tables,
    });
    const rail = network === 'WIRE' ? 'wire' : 'cubix';
    const { body } = await service.arrive(byBank(memoId, { rail, asset: 'EUR', amountUnits: 5_000n }));
    await writePath.stop();
    return body;
  }

  it('pays its own fee if one is configured', async () => {
    const { transfer } = await arrive({ fiat: { wire: { USD: '10', EUR: '9.5' } } }, 'WIRE');
    expect(transfer).toMatchObject({
      type: 'WIRE_DEPOSIT',
      asset: 'EUR',
      amount: '50',
      fee: '9.5',
      total: '40.5',
    });
  });

  it('may be free of charge', async () => {
    const { transfer } = await arrive({ fiat: { cubix: { EUR: '0' } } }, 'CUBIX');
    expect(transfer).toMatchObject({ asset: 'EUR', fee: '0', total: '50' });
  });

  it.each([
    ['no fee at all', {}],
    ['a fee in USD', { fiat: { wire: '10' } }],
    ['a fee for another rail', { fiat: { cubix: { EUR: '0' } } }],
  ] as const)('is kept in suspense where the rail has %s', async (_title, deposits) => {
    const { suspense_deposit: kept } = await arrive(deposits, 'WIRE');
    expect(kept).toMatchObject({ amount: '50', reason: 'EUR is not configured for the wire rail.' });
  });
});

describe('a deposit of an asset that the service does not know', () => {
  const UNKNOWN = '0xdAC17F958D2ee523a2206206994597C13D831ec7';

  async function arrived(changes: object = {}) {
    const profile = await world.createProfile();
    const address = await ways.addressOf(profile, 'ETHEREUM');
    const deposit = onChain(address, { asset: UNKNOWN, amountUnits: 1_234_567n, ...changes });
    const answer = await node.arrivals.arrive(deposit);
    return { profile, deposit, answer, suspense: answer.body.suspense_deposit! };
  }

  it('is recorded with its units and without an amount, and not posted', async () => {
    const { deposit, answer, suspense } = await arrived();
    expect(suspense).toEqual({
      id: suspense.id,
      rail: 'ETHEREUM',
      reference: `${deposit.txHash}:0`,
      asset: UNKNOWN,
      amount_units: '1234567',
      sent_to: deposit.address,
      reason: `The asset "${UNKNOWN}" is not configured. Nothing was posted.`,
      created_at: expect.any(String),
    });
    expect(await node.arrivals.arrive(deposit)).toEqual({ ...answer, replayed: true });
    const entries = await world.database.query('select 1 from entries where cause_id = $1', [suspense.id]);
    expect(entries).toEqual([]);
  });

  it('reported by a notice is recorded once, and the notice is not delivered again', async () => {
    const deposit = onChain(await ways.addressOf(await world.createProfile(), 'ETHEREUM'), { asset: 'DOGE' });
    const notice: Notice = { id: newId(), about: 'deposit', deposit };
    await world.journal.plan([{ dueAtNs: world.now(), notice }]);
    world.advance(1);
    expect(await node.notices.runDue()).toBe(1);
    expect(node.errors).toEqual([]);
    expect(await world.database.query('select 1 from sandbox_notices')).toEqual([]);
  });

  it('is not credited while the asset is unknown, and from the clearing account once it is known', async () => {
    const { profile, suspense } = await arrived({ asset: 'DOGE' });
    const seen = (await findSuspense(world.database, suspense.id))!;
    const tables = { ...world.creation, suspenseDeposits, arrivalRecords };
    const problem = await problemOf(node.writePath.submit(creditSuspenseCommand(seen, profile, tables)));
    expect(problem).toMatchObject({ slug: 'invalid-state', meta: { status: 'ASSET_NOT_CONFIGURED' } });
    const networks = { ETHEREUM: 'native' };
    const assets = createAssets([...DEFAULT_ASSETS, { code: 'DOGE', decimals: 6, kind: 'CRYPTO', networks }]);
    const writePath = createTestWritePath(world.database, assets);
    await writePath.submit(creditSuspenseCommand(seen, profile, { ...tables, assets }));
    const rows = await world.database.query(
      `select e.account, e.delta from entries e join suspense_deposits s on s.transfer_id = e.cause_id
       where s.id = $1 order by e.account`,
      [suspense.id],
    );
    expect(rows).toEqual([
      { account: 'available', delta: 1_234_567n },
      { account: 'clearing:ethereum', delta: -1_234_567n },
    ]);
    expect(await auditLines(world.database)).toEqual([]);
    await writePath.stop();
  });

  it('may have more units than the ledger can hold', async () => {
    const amountUnits = 2n ** 256n - 1n;
    const { suspense } = await arrived({ amountUnits });
    expect(suspense.amount_units).toBe(amountUnits.toString());
  });
});

it('more of a known asset than the ledger can hold is recorded, and not posted', async () => {
  const address = await ways.addressOf(await world.createProfile(), 'ETHEREUM');
  const { body } = await node.arrivals.arrive(onChain(address, { amountUnits: 10n ** 40n }));
  expect(body.suspense_deposit).toMatchObject({
    amount: `1${'0'.repeat(22)}`,
    reason: 'The amount is larger than the ledger can hold. Nothing was posted.',
  });
});

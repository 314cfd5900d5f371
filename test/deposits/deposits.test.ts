import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { arrivalRecords } from '../../src/deposits/arrival-store.ts';
import { findSuspense, suspenseDeposits } from '../../src/deposits/store.ts';
import { newId } from '../../src/kernel/id.ts';
import { LIMITS } from '../../src/limits.ts';
import type { ArrivedDeposit, Notice } from '../../src/rails/rail.ts';
import { dieAtCommit, patient, stopAtCommit, untilBlockedBy } from '../support/barriers.ts';
import {
  byBank,
  createWays,
  creditSuspenseCommand,
  METADATA as metadata,
  newTxHash,
  onChain,
} from '../support/deposits.ts';
import { problemOf } from '../support/ledger.ts';
import { deriveAddress } from '../support/networks.ts';
import { createWorld, type Node, type World } from '../support/payouts.ts';

let world: World;
let node: Node;
let ways: ReturnType<typeof createWays>;
beforeAll(async () => {
  world = await createWorld();
  node = world.createNode();
  ways = createWays(world, () => node);
});
afterAll(() => world.drop());

describe('a deposit that arrives', () => {
  it('at an address is credited to its profile, with the metadata of the address', async () => {
    const profile = await world.createProfile();
    const address = await ways.addressOf(profile, 'ETHEREUM');
    // Block explorers write EVM addresses in lower case.
    const arrived = onChain(address.toLowerCase());
    const { body } = await node.arrivals.arrive(arrived);
    expect(body.transfer).toMatchObject({
      type: 'CRYPTO_DEPOSIT',
      direction: 'CREDIT',
      status: 'COMPLETED',
      amount: '1',
      fee: '0',
      total: '1',
      metadata,
      crypto_network: 'ETHEREUM',
      crypto_tx_hash: arrived.txHash,
      crypto_tx_index: '0',
      notional_value: '3200',
      profile_id: profile,
    });
    expect(await world.balanceOf(profile, 'ETH')).toEqual({ available: '1', held: '0' });
    expect(await world.eventsOf(body.transfer!.id as string)).toEqual(['transfer.crypto_deposit.completed']);
  });

  it.each([
    ['WIRE', 'wire', 'WIRE_DEPOSIT'],
    ['CUBIX', 'cubix', 'CUBIX_DEPOSIT'],
    ['BANK_NETWORK_3', 'bank_network_3', 'BANK_DEPOSIT'],
    ['CBIT', 'cbit', 'CBIT_DEPOSIT'],
  ] as const)('over %s is credited by its memo as %s %s', async (network, rail, type) => {
    const profile = await world.createProfile();
    const memoId = await ways.memoOf(profile, network);
    // Senders vary the notation of the memo.
    const written = `${memoId.slice(0, 4).toLowerCase()}-${memoId.slice(4, 8)} ${memoId.slice(8)}`;
    const arrived = byBank(written, { rail, amountUnits: 12_345n });
    const { body } = await node.arrivals.arrive(arrived);
    expect(body.transfer).toMatchObject({ type, amount: '123.45', total: '123.45', metadata, memo: written });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '123.45', held: '0' });
    expect(await world.systemOf(body.transfer!.id as string)).toEqual({
      [`clearing:${rail} USD`]: '-123.45',
    });
  });

  it('pays a fee if one is configured: the total is the amount less the fee', async () => {
    const profile = await world.createProfile();
    const memoId = await ways.memoOf(profile, 'WIRE');
    const charging = world.createNode({ fees: { deposits: { fiat: { wire: '5' } } } });
    const arrived = byBank(memoId);
    const { body } = await charging.arrivals.arrive(arrived);
    expect(body.transfer).toMatchObject({ amount: '100', fee: '5', total: '95' });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '95', held: '0' });
    expect(await world.systemOf(body.transfer!.id as string)).toEqual({
      'clearing:wire USD': '-100',
      'fees USD': '5',
    });
    const small = await charging.arrivals.arrive({ ...arrived, reference: newId(), amountUnits: 500n });
    expect(small.body.suspense_deposit).toMatchObject({
      amount: '5',
      reason: expect.stringContaining('fee'),
    });
  });
});

describe('the same output or reference', () => {
  it('never credits twice, reported fifty times on two nodes at once', async () => {
    const profile = await world.createProfile();
    const address = await ways.addressOf(profile, 'BITCOIN');
    const other = world.createNode({ database: world.database });
    const arrived = onChain(address, {
      rail: 'BITCOIN',
      asset: 'BTC',
      amountUnits: 5n,
      txHash: 'AB'.repeat(32),
    });
    const again = { ...arrived, txHash: 'ab'.repeat(32) };
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? node : other).arrivals.arrive(index % 3 === 0 ? again : arrived),
      ),
    );
    expect(new Set(answers.map(({ body }) => body.transfer!.id)).size).toBe(1);
    expect(answers.filter(({ replayed }) => replayed !== true)).toHaveLength(1);
    expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '0.00000005', held: '0' });
  });

  it('in another output of the same transaction is another deposit', async () => {
    const profile = await world.createProfile();
    const address = await ways.addressOf(profile, 'ETHEREUM');
    const arrived = onChain(address);
    await node.arrivals.arrive(arrived);
    await node.arrivals.arrive({ ...arrived, output: 1 });
    expect(await world.balanceOf(profile, 'ETH')).toEqual({ available: '2', held: '0' });
  });

  it.each([
    ['the hash in capitals', (hash: string) => ({ txHash: hash.toUpperCase().replace('0X', '0x') })],
    ['the hash without 0x', (hash: string) => ({ txHash: hash.slice(2) })],
    ['the address in lower case', (_hash: string, to: string) => ({ address: to.toLowerCase() })],
  ])('written otherwise is the same deposit: %s', async (_title, otherwise) => {
    const profile = await world.createProfile();
    const address = await ways.addressOf(profile, 'ETHEREUM');
    const arrived = onChain(address, { output: null });
    const first = await node.arrivals.arrive(arrived);
    const again = { ...arrived, ...otherwise(arrived.txHash, address) };
    expect(await node.arrivals.arrive(again)).toEqual({ ...first, replayed: true });
    expect(await world.balanceOf(profile, 'ETH')).toEqual({ available: '1', held: '0' });
  });

  it('of another asset to the same address in the same transaction is another deposit', async () => {
    const profile = await world.createProfile();
    const address = await ways.addressOf(profile, 'ETHEREUM');
    const arrived = onChain(address, { output: null });
    await node.arrivals.arrive(arrived);
    await node.arrivals.arrive({ ...arrived, asset: 'USDC', amountUnits: 5_000_000n });
    expect(await world.balanceOf(profile, 'ETH')).toEqual({ available: '1', held: '0' });
    expect(await world.balanceOf(profile, 'USDC')).toEqual({ available: '5', held: '0' });
  });

  it('reported with another amount is a conflict that names it, and credits nothing', async () => {
    const profile = await world.createProfile();
    const arrived = onChain(await ways.addressOf(profile, 'ETHEREUM'));
    await node.arrivals.arrive(arrived);
    const problem = await problemOf(node.arrivals.arrive({ ...arrived, amountUnits: 7n }));
    expect(problem.slug).toBe('already-exists');
    expect(problem.meta.differs).toEqual(['amount_units']);
    expect(await world.balanceOf(profile, 'ETH')).toEqual({ available: '1', held: '0' });
  });

  it('reported by the rail itself is credited once, also when the notice is delivered again after a crash', async () => {
    const profile = await world.createProfile();
    const deposit = onChain(await ways.addressOf(profile, 'ETHEREUM'));
    const notice = (): Notice => ({ id: newId(), about: 'deposit', deposit });
    for (let times = 0; times < 3; times += 1) {
      await world.journal.plan([{ dueAtNs: world.now(), notice: notice() }]);
      world.advance(1);
      await node.notices.runDue();
    }
    expect(await world.balanceOf(profile, 'ETH')).toEqual({ available: '1', held: '0' });
    expect(await node.notices.runDue()).toBe(0);
  });

  it.each(['before', 'after'] as const)(
    'reported to a node that dies %s its commit is reported to another node again, and credited once',
    async (side) => {
      const profile = await world.createProfile();
      const deposit = onChain(await ways.addressOf(profile, 'ETHEREUM'));
      await world.journal.plan([
        { dueAtNs: world.now(), notice: { id: newId(), about: 'deposit', deposit } },
      ]);
      world.advance(1);
      const database = world.connect();
      const dying = dieAtCommit(database, side);
      void world.createNode({ database: dying.database }).notices.runDue();
      await dying.died;
      expect(await node.notices.runDue()).toBe(1);
      expect(await world.balanceOf(profile, 'ETH')).toEqual({ available: '1', held: '0' });
      expect(await node.notices.runDue()).toBe(0);
      await database.close();
    },
  );
});

describe('notices of rails', () => {
  it('that cannot be processed are deferred, however many there are, and do not delay the others', async () => {
    const profile = await world.createProfile();
    const arrived = onChain(await ways.addressOf(profile, 'ETHEREUM'));
    const plan = (deposit: ArrivedDeposit) =>
      world.journal.plan([{ dueAtNs: world.now(), notice: { id: newId(), about: 'deposit', deposit } }]);
    await node.arrivals.arrive(arrived);
    const count = LIMITS.railNoticesMax + 1;
    for (let index = 0; index < count; index += 1) await plan({ ...arrived, amountUnits: BigInt(index + 2) });
    world.advance(1);
    await plan({ ...arrived, txHash: newTxHash() });
    world.advance(1);
    expect(await node.notices.runDue()).toBe(LIMITS.railNoticesMax);
    // Those that failed are deferred, by longer each time: on a slow machine some of them may be due again at once. Without the
    // delay all of them would be, each time, and the last one would never be reached.
    const credited = async () => {
      await node.notices.runDue();
      return world.balanceOf(profile, 'ETH');
    };
    await expect.poll(credited).toEqual({ available: '2', held: '0' });
    expect(node.errors.length).toBeGreaterThanOrEqual(count);
    world.advance(LIMITS.railBackoffMaxMs);
    expect(await node.notices.runDue()).toBe(LIMITS.railNoticesMax);
    await world.database.query('delete from sandbox_notices');
  });
});

describe('a deposit without an owner', () => {
  it.each([
    ['an address', () => onChain(deriveAddress('ETHEREUM', newId()))],
    ['a memo', () => byBank('NOBODY')],
  ] as const)('(%s) is kept in suspense, once', async (_title, make) => {
    const arrived = make();
    const first = await node.arrivals.arrive(arrived);
    const second = await node.arrivals.arrive(arrived);
    expect(second).toEqual({ ...first, replayed: true });
    const { id, amount, asset } = first.body.suspense_deposit!;
    const system = await world.systemOf(id);
    expect(system[`suspense ${asset}`]).toBe(amount);
    expect(system[`clearing:${arrived.rail.toLowerCase()} ${asset}`]).toBe(`-${amount}`);
  });

  it('or whose profile is disabled is kept in suspense', async () => {
    const profile = await world.createProfile();
    const address = await ways.addressOf(profile, 'ETHEREUM');
    await world.database.query(`update profiles set status = 'DISABLED' where id = $1`, [profile]);
    const { body } = await node.arrivals.arrive(onChain(address));
    expect(body.suspense_deposit).toMatchObject({ reason: 'The profile is disabled.', sent_to: address });
    expect(await world.balanceOf(profile, 'ETH')).toEqual({ available: '0', held: '0' });
  });

  it('is credited by one of two operators who act on two nodes at once, and the other one gets a conflict', async () => {
    const { body } = await node.arrivals.arrive(onChain(deriveAddress('ETHEREUM', newId())));
    const seen = (await findSuspense(world.database, body.suspense_deposit!.id))!;
    const one = await world.createProfile({ ETH: '5' });
    const another = await world.createProfile({ ETH: '5' });
    const databases = [world.connect(), world.connect()] as const;
    const crediting = stopAtCommit(patient(databases[0]));
    const first = world.createNode({ database: crediting.database });
    const second = world.createNode({ database: patient(databases[1]) });
    const tables = { ...world.creation, suspenseDeposits, arrivalRecords };
    const credited = first.writePath.submit(creditSuspenseCommand(seen, one, tables));
    const pid = await crediting.stopped;
    const refused = problemOf(second.writePath.submit(creditSuspenseCommand(seen, another, tables)));
    await untilBlockedBy(world.database, pid);
    crediting.go();
    await credited;
    expect(await refused).toMatchObject({ slug: 'invalid-state', meta: { status: 'CREDITED' } });
    expect(await world.balanceOf(one, 'ETH')).toEqual({ available: '6', held: '0' });
    expect(await world.balanceOf(another, 'ETH')).toEqual({ available: '5', held: '0' });
    await Promise.all(databases.map((database) => database.close()));
  });
});

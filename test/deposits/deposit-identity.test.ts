import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import type { ArrivedDeposit, Notice } from '../../src/rails/rail.ts';
import { dieAtCommit, patient, stopAtCommit, untilBlockedBy } from '../support/barriers.ts';
import { unguarded } from '../support/database.ts';
import { byBank, createWays, newTxHash, onChain } from '../support/deposits.ts';
import { problemOf } from '../support/ledger.ts';
import { createWorld, type Node, type World } from '../support/payouts.ts';

/** The identity of a deposit: one deposit is credited once, and two deposits are both credited. */
let world: World;
let node: Node;
let ways: ReturnType<typeof createWays>;
beforeAll(async () => {
  world = await createWorld();
  node = world.createNode();
  ways = createWays(world, () => node);
});
afterAll(() => world.drop());

async function onBitcoin(changes: object = {}) {
  const profile = await world.createProfile();
  const address = await ways.addressOf(profile, 'BITCOIN');
  const txHash = newTxHash().slice(2);
  const deposit = onChain(address, { rail: 'BITCOIN', asset: 'BTC', amountUnits: 5n, txHash, ...changes });
  return { profile, deposit };
}

async function onEthereum(changes: object = {}) {
  const profile = await world.createProfile();
  return { profile, deposit: onChain(await ways.addressOf(profile, 'ETHEREUM'), changes) };
}

async function overWire(changes: object = {}) {
  const profile = await world.createProfile();
  return { profile, deposit: byBank(await ways.memoOf(profile, 'WIRE'), changes) };
}

describe('an output', () => {
  const bad = [
    -1,
    0.5,
    4_294_967_296,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '1',
    '01',
    '',
    undefined,
    1n,
    {},
  ];
  it.each(bad)('with the number %o is refused, and nothing is written', async (output) => {
    const { profile, deposit } = await onBitcoin({ output });
    const problem = await problemOf(node.arrivals.arrive(deposit));
    expect(problem.slug).toBe('invalid-request');
    expect(problem.meta.errors).toMatchObject([{ pointer: '/output' }]);
    expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '0', held: '0' });
  });

  it('with such a number in a notice stays with the rail, and the next notice is processed', async () => {
    const { profile, deposit } = await onBitcoin();
    for (const output of [-1, 0]) {
      const notice: Notice = { id: newId(), about: 'deposit', deposit: { ...deposit, output } };
      await world.journal.plan([{ dueAtNs: world.now(), notice }]);
    }
    world.advance(1);
    expect(await node.notices.runDue()).toBe(2);
    expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '0.00000005', held: '0' });
    expect(await world.database.query('select 1 from sandbox_notices')).toHaveLength(1);
    await world.database.query('delete from sandbox_notices');
  });

  it('without a number is refused on a network whose outputs are numbered', async () => {
    const { deposit } = await onBitcoin({ output: null });
    const problem = await problemOf(node.arrivals.arrive(deposit));
    expect(problem.meta.errors).toMatchObject([{ pointer: '/output' }]);
  });

  it.each([0, 1, 4_294_967_295])('has the number %i in its transfer', async (output) => {
    const { deposit } = await onBitcoin({ output });
    const { body } = await node.arrivals.arrive(deposit);
    expect(body.transfer!.crypto_tx_index).toBe(String(output));
  });

  it('that is reported again with another address is a conflict, and nothing is credited', async () => {
    const { profile, deposit } = await onBitcoin();
    await node.arrivals.arrive(deposit);
    const { deposit: other, profile: another } = await onBitcoin();
    const { txHash } = deposit;
    const problem = await problemOf(node.arrivals.arrive({ ...other, txHash }));
    expect(problem).toMatchObject({ slug: 'already-exists', meta: { differs: ['sent_to'] } });
    expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '0.00000005', held: '0' });
    expect(await world.balanceOf(another, 'BTC')).toEqual({ available: '0', held: '0' });
  });

  it('with the same number and transaction id on another network is another deposit', async () => {
    const profile = await world.createProfile();
    const txHash = newTxHash();
    for (const rail of ['ETHEREUM', 'BASE'] as const) {
      await node.arrivals.arrive(onChain(await ways.addressOf(profile, rail), { rail, txHash }));
    }
    expect(await world.balanceOf(profile, 'ETH')).toEqual({ available: '2', held: '0' });
  });
});

describe('what one transaction pays to one address', () => {
  const two = (deposit: ArrivedDeposit, first: number | null, second: number | null) => [
    { ...deposit, output: first } as ArrivedDeposit,
    { ...deposit, output: second } as ArrivedDeposit,
  ];

  it.each([
    ['as a whole, and then by its number', null, 7],
    ['by its number, and then as a whole', 7, null],
  ] as const)('is not credited twice when it is reported %s', async (_title, first, second) => {
    const { profile, deposit } = await onEthereum();
    const [one, other] = two(deposit, first, second);
    await node.arrivals.arrive(one!);
    const problem = await problemOf(node.arrivals.arrive(other!));
    expect(problem).toMatchObject({ slug: 'already-exists', meta: { differs: ['output'] } });
    expect(await world.balanceOf(profile, 'ETH')).toEqual({ available: '1', held: '0' });
  });

  it.each([
    [null, 7],
    [7, null],
  ] as const)('is not credited twice in one batch either (%o, %o)', async (first, second) => {
    const { profile, deposit } = await onEthereum();
    const answers = await Promise.allSettled(
      two(deposit, first, second).map((one) => node.arrivals.arrive(one)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await world.balanceOf(profile, 'ETH')).toEqual({ available: '1', held: '0' });
  });

  it('is not credited twice when two nodes report it in two forms at once', async () => {
    const { profile, deposit } = await onEthereum();
    // Creates the balance, so that the second node waits for its lock.
    await node.arrivals.arrive({ ...deposit, txHash: newTxHash() });
    const databases = [world.connect(), world.connect()] as const;
    const crediting = stopAtCommit(patient(databases[0]));
    const first = world.createNode({ database: crediting.database });
    const second = world.createNode({ database: patient(databases[1]) });
    const credited = first.arrivals.arrive({ ...deposit, output: null });
    const pid = await crediting.stopped;
    const refused = problemOf(second.arrivals.arrive({ ...deposit, output: 3 }));
    await untilBlockedBy(world.database, pid);
    crediting.go();
    await credited;
    expect(await refused).toMatchObject({ slug: 'already-exists', meta: { differs: ['output'] } });
    expect(await world.balanceOf(profile, 'ETH')).toEqual({ available: '2', held: '0' });
    await Promise.all(databases.map((database) => database.close()));
  });

  it('in several numbered transfers of one asset is credited for each of them', async () => {
    const { profile, deposit } = await onEthereum();
    const all = [3, 4, 4, 5, 3].map((output) => ({ ...deposit, output }));
    await Promise.all(all.map((one) => node.arrivals.arrive(one)));
    expect(await world.balanceOf(profile, 'ETH')).toEqual({ available: '3', held: '0' });
  });
});

describe('a bank’s reference', () => {
  it('used by two banks for the same amount and memo is two deposits', async () => {
    const { profile, deposit } = await overWire({ account: 'bank A / 1' });
    const first = await node.arrivals.arrive(deposit);
    const second = await node.arrivals.arrive({ ...deposit, account: 'bank B / 1' });
    expect(second.replayed).toBeUndefined();
    expect(second.body.transfer!.id).not.toBe(first.body.transfer!.id);
    expect(await node.arrivals.arrive(deposit)).toEqual({ ...first, replayed: true });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '200', held: '0' });
  });

  it('used on two rails is two deposits, also when neither has an owner', async () => {
    const deposit = byBank('NOBODY');
    const first = await node.arrivals.arrive(deposit);
    const second = await node.arrivals.arrive({ ...deposit, rail: 'cubix' });
    expect(second.body.suspense_deposit!.id).not.toBe(first.body.suspense_deposit!.id);
    expect(first.body.suspense_deposit).toMatchObject({ account: 'US021000021000987654321' });
  });

  it.each([
    ['blanks around it', { reference: '  ref 1  ' }],
    ['blanks in the account', { account: 'DE89 3704 0044 0532 0130 00' }],
  ] as const)('written with %s is the same one', async (_title, changes) => {
    const { profile, deposit } = await overWire({ reference: 'ref 1', account: 'DE89370400440532013000' });
    const first = await node.arrivals.arrive(deposit);
    expect(await node.arrivals.arrive({ ...deposit, ...changes })).toEqual({ ...first, replayed: true });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '100', held: '0' });
    await world.database.query('delete from arrivals where transaction = $1', ['ref 1']);
  });

  it.each([
    [{ amountUnits: 1n }, ['amount_units']],
    [{ memoId: 'ANOTHER' }, ['sent_to']],
    [{ asset: 'USDC' }, ['asset']],
  ] as const)('reported again with %o is a conflict, and nothing is credited', async (changes, differs) => {
    const { profile, deposit } = await overWire();
    const { body } = await node.arrivals.arrive(deposit);
    const problem = await problemOf(node.arrivals.arrive({ ...deposit, ...changes }));
    expect(problem).toMatchObject({ slug: 'already-exists', meta: { differs, existing: body } });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '100', held: '0' });
  });

  it.each([
    ['account', ''],
    ['account', ' '],
    ['account', undefined],
    ['reference', ''],
    ['reference', 'x'.repeat(141)],
    ['reference', 'a\0b'],
    ['amountUnits', 0n],
    ['amountUnits', -1n],
    ['amountUnits', 5],
    ['asset', ''],
    ['rail', 'pigeon'],
  ])('with the %s %o is refused, and nothing is written', async (field, value) => {
    const deposit = { ...byBank('NOBODY'), [field]: value } as ArrivedDeposit;
    const problem = await problemOf(node.arrivals.arrive(deposit));
    const pointer = field === 'amountUnits' ? '/amount_units' : `/${field}`;
    expect(problem.meta.errors).toMatchObject([{ pointer }]);
  });

  it('from before accounts were recorded matches every account: it is never credited again', async () => {
    const { profile, deposit } = await overWire();
    const first = await node.arrivals.arrive(deposit);
    await unguarded(world.database).query('update arrivals set account = null where transaction = $1', [
      deposit.reference,
    ]);
    for (const account of [deposit.account, 'bank B / 1']) {
      expect(await node.arrivals.arrive({ ...deposit, account })).toEqual({ ...first, replayed: true });
    }
    const other = problemOf(node.arrivals.arrive({ ...deposit, account: 'bank B / 1', amountUnits: 1n }));
    expect(await other).toMatchObject({ slug: 'already-exists', meta: { differs: ['amount_units'] } });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '100', held: '0' });
  });
});

describe('one deposit on two nodes at once', () => {
  it.each([
    ['on a chain', async () => (await onEthereum()).deposit],
    ['over a bank', async () => (await overWire()).deposit],
    ['of nobody’s', async () => byBank('NOBODY')],
  ] as const)('%s: the second waits, and finds it', async (_title, make) => {
    const deposit = await make();
    const databases = [world.connect(), world.connect()] as const;
    const taking = stopAtCommit(patient(databases[0]));
    const first = world.createNode({ database: taking.database });
    const second = world.createNode({ database: patient(databases[1]) });
    const taken = first.arrivals.arrive(deposit);
    const pid = await taking.stopped;
    const again = second.arrivals.arrive(deposit);
    await untilBlockedBy(world.database, pid);
    taking.go();
    expect(await again).toEqual({ ...(await taken), replayed: true });
    await Promise.all(databases.map((database) => database.close()));
  });

  it.each(['before', 'after'] as const)('of which one dies %s its commit', async (side) => {
    const { profile, deposit } = await overWire();
    const database = world.connect();
    const dying = dieAtCommit(database, side);
    void world.createNode({ database: dying.database }).arrivals.arrive(deposit);
    await dying.died;
    await node.arrivals.arrive(deposit);
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '100', held: '0' });
    await database.close();
  });
});

/** The same deposit in the notation of another scanner or another page of the statement. */
function respelled(deposit: ArrivedDeposit, turn: number): ArrivedDeposit {
  if (!('txHash' in deposit)) {
    const { account, reference, memoId } = deposit;
    if (turn % 3 === 0) return deposit;
    return {
      ...deposit,
      account: `${account.slice(0, 2)} ${account.slice(2)}`,
      reference: ` ${reference}`,
      memoId: memoId.toLowerCase(),
    };
  }
  const { txHash, address } = deposit;
  if (turn % 3 === 1) return { ...deposit, txHash: txHash.replace(/^0x/, '').toUpperCase() };
  return turn % 3 === 2
    ? { ...deposit, address: deposit.rail === 'ETHEREUM' ? address.toLowerCase() : address }
    : deposit;
}

it('hundreds of deposits, each reported six times in three notations on three nodes at once, are credited once', async () => {
  const profile = await world.createProfile();
  const [bitcoin, ethereum] = [
    await ways.addressOf(profile, 'BITCOIN'),
    await ways.addressOf(profile, 'ETHEREUM'),
  ];
  const memoId = await ways.memoOf(profile, 'WIRE');
  const deposits = Array.from({ length: 40 }, (_, index): ArrivedDeposit[] => {
    const txHash = newTxHash();
    const reference = newId();
    return [
      // Two outputs, two assets and two banks: only the identity shows that they are two.
      ...[0, 1].map((output) =>
        onChain(bitcoin, { rail: 'BITCOIN', asset: 'BTC', txHash: txHash.slice(2), output, amountUnits: 1n }),
      ),
      onChain(ethereum, { txHash, output: null, amountUnits: 1n }),
      onChain(ethereum, { txHash, output: index, asset: 'USDC', amountUnits: 1n }),
      ...['bank-a', 'bank-b'].map((account) => byBank(memoId, { account, reference, amountUnits: 1n })),
      ...['bank-a', 'bank-b'].map((account) =>
        byBank('NOBODY', { account, reference: newId(), amountUnits: 1n }),
      ),
    ];
  }).flat();
  const databases = [world.connect(), world.connect(), world.connect()];
  const nodes = databases.map((database) => world.createNode({ database: patient(database) }));
  const reports = Array.from({ length: 6 }, (_, turn) =>
    deposits.map((deposit) => respelled(deposit, turn)),
  ).flat();
  // Shuffled by a linear congruence: each node has a part of every deposit's reports, each in another order.
  const shuffled = reports.map((_, index) => reports[(index * 1_009) % reports.length]!);
  const answers: Awaited<ReturnType<Node['arrivals']['arrive']>>[] = [];
  let next = 0;
  // Twenty at once on each node: more would wait for a connection for longer than a node allows on a slow machine.
  const reporter = async (): Promise<void> => {
    while (next < shuffled.length) {
      const index = next++;
      answers[index] = await nodes[index % 3]!.arrivals.arrive(shuffled[index]!);
    }
  };
  await Promise.all(Array.from({ length: 60 }, reporter));
  expect(answers.filter(({ replayed }) => replayed !== true)).toHaveLength(deposits.length);
  const idOf = ({ body }: (typeof answers)[number]) => body.transfer?.id ?? body.suspense_deposit!.id;
  expect(new Set(answers.map(idOf)).size).toBe(deposits.length);
  expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '0.0000008', held: '0' });
  expect(await world.balanceOf(profile, 'ETH')).toEqual({ available: '0.00000000000000004', held: '0' });
  expect(await world.balanceOf(profile, 'USDC')).toEqual({ available: '0.00004', held: '0' });
  expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '0.8', held: '0' });
  await world.expectSound();
  await Promise.all(databases.map((database) => database.close()));
});

describe('the database', () => {
  const insert = (row: Record<string, unknown>) =>
    unguarded(world.database).query(
      `insert into arrivals (rail, account, transaction, output_number, asset, amount_units, memo, transfer_id)
       values ($1, $2, $3, $4, $5, 1, $6, $7)`,
      [row.rail, row.account, row.transaction, row.output, row.asset, row.memo, newId()] as never,
    );
  const chain = { rail: 'ETHEREUM', account: '0xAb', output: 0, asset: 'ETH', memo: null };
  const bank = { rail: 'wire', account: 'A', output: null, asset: 'USD', memo: 'M' };

  it.each([
    ['a numbered output', chain, { account: '0xCd', asset: 'USDC' }],
    ['an address and asset', { ...chain, output: null }, {}],
    ['a bank’s reference', bank, { asset: 'EUR', memo: 'N' }],
    ['a bank’s reference of an unknown account', { ...bank, account: null }, { memo: 'N' }],
  ] as const)('holds one deposit for %s, whatever the code does', async (_title, row, changes) => {
    const transaction = newId();
    await insert({ ...row, transaction });
    await expect(insert({ ...row, ...changes, transaction })).rejects.toMatchObject({ code: '23505' });
    await world.database.query('delete from arrivals where transaction = $1', [transaction]);
  });

  it.each([
    ['a negative number', { ...chain, output: -1 }],
    ['a number that no chain has', { ...chain, output: 4_294_967_296 }],
    ['a chain without an address', { ...chain, account: null }],
  ] as const)('refuses %s', async (_title, row) => {
    await expect(insert({ ...row, transaction: newId() })).rejects.toMatchObject({ code: '23514' });
  });

  it('has an outcome for every deposit', async () => {
    const rows = await world.database.query(
      `select from arrivals a
       left join transfers t on t.id = a.transfer_id left join suspense_deposits s on s.id = a.suspense_deposit_id
       where a.account not in ('0xAb', 'A') and t.id is null and s.id is null`,
    );
    expect(rows).toEqual([]);
  });
});

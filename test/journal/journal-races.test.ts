import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { newId } from '../../src/kernel/id.ts';
import { Problem } from '../../src/kernel/problem.ts';
import { patient, stopAtCommit, untilBlockedBy } from '../support/barriers.ts';
import { byBank } from '../support/deposits.ts';
import { EVIDENCE } from '../support/journal.ts';
import { problemOf } from '../support/ledger.ts';
import { createWorld, type Node, type World } from '../support/payouts.ts';

/** Operators, rails and workers at once, on several nodes with connections of their own. */
let world: World;
let node: Node;
const databases: Database[] = [];
beforeAll(async () => {
  world = await createWorld();
  node = world.createNode();
});
afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()));
  await world.drop();
});

function connect(): Database {
  const database = world.connect();
  databases.push(database);
  return database;
}

const common = () => ({ ref_id: newId(), ...EVIDENCE });
const book = (by: Node, kind: string, fields: object): Promise<any> =>
  by.operate('bookJournalEntry', { body: { kind, ...common(), ...fields } });
const cancel = (by: Node, id: string): Promise<any> =>
  by.operate('cancelWithdrawal', { params: { id }, body: common() });
const resolve = (by: Node, id: string, outcome: string): Promise<any> =>
  by.operate('resolveWithdrawal', { params: { id }, body: { outcome, ...common() } });

const money = (profileId: string, reference = newId()) => ({
  profile_id: profileId,
  asset: 'USD',
  amount: '100',
  rail: 'wire',
  account: 'own',
  reference,
});

/** Runs `first` on one node up to its commit, starts `second` on another one, which waits, and lets both finish. */
async function inOrder<Second>(
  first: (by: Node) => Promise<unknown>,
  second: (by: Node) => Promise<Second>,
): Promise<PromiseSettledResult<Second>> {
  const stopping = stopAtCommit(patient(connect()));
  const [one, two] = [
    world.createNode({ database: stopping.database }),
    world.createNode({ database: patient(connect()) }),
  ];
  const ended = first(one);
  const pid = await stopping.stopped;
  const [result] = [Promise.allSettled([second(two)])];
  await untilBlockedBy(world.database, pid);
  stopping.go();
  await ended;
  return (await result)[0];
}

const reasonOf = (result: PromiseSettledResult<unknown>): any =>
  result.status === 'rejected' ? result.reason : undefined;

async function wire(memo = 'sandbox:timeout') {
  const profile = await world.createProfile({ USD: '200' });
  const { id } = await world.withdrawFiat(profile, await world.createAccount('wire'), { memo });
  return { id, profile };
}

describe('two operators at once', () => {
  it('reverse an opening balance once', async () => {
    const profile = await world.createProfile();
    const entry = await book(node, 'OPENING_BALANCE', money(profile));
    const reversal = (by: Node) =>
      book(by, 'REVERSAL', { corrects: { type: 'JOURNAL_ENTRY', id: entry.id } });
    expect(reasonOf(await inOrder(reversal, reversal))).toMatchObject({
      slug: 'invalid-state',
      meta: { status: 'REVERSED' },
    });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '0', held: '0' });
  });

  it('reverse and sweep accounts of the service once, although no balance is locked', async () => {
    const { profile_id: _, ...funding } = { ...money(''), amount: '30' };
    const entry = await book(node, 'TREASURY_FUNDING', funding);
    const reversal = (by: Node) =>
      book(by, 'REVERSAL', { corrects: { type: 'JOURNAL_ENTRY', id: entry.id } });
    expect(reasonOf(await inOrder(reversal, reversal))).toMatchObject({ meta: { status: 'REVERSED' } });
    await book(node, 'TREASURY_FUNDING', { ...funding, reference: newId() });
    const payout = (by: Node) => book(by, 'TREASURY_PAYOUT', { asset: 'USD', amount: '20', rail: 'wire' });
    expect(reasonOf(await inOrder(payout, payout))).toMatchObject({
      slug: 'insufficient-funds',
      meta: { account: 'treasury', available: '10', needed: '20' },
    });
  });

  it('book one ref_id once, and get the same entry', async () => {
    const profile = await world.createProfile();
    const body = { kind: 'OPENING_BALANCE', ...common(), ...money(profile) };
    const nodes = [connect(), connect(), connect()].map((database) => world.createNode({ database }));
    const entries = await Promise.all(
      [...nodes, ...nodes].map((one) => one.operate('bookJournalEntry', { body })),
    );
    expect(new Set(entries.map(({ id }) => id)).size).toBe(1);
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '100', held: '0' });
  });

  it('return at most what was paid', async () => {
    const { id, profile } = await wire('rent');
    await world.settle(node);
    const nodes = [connect(), connect()].map((database) => world.createNode({ database }));
    const back = (by: Node) =>
      book(by, 'WITHDRAWAL_RETURN', {
        transfer_id: id,
        asset: 'USD',
        amount: '30',
        account: 'own',
        reference: newId(),
      });
    const results = await Promise.allSettled([...nodes, ...nodes, ...nodes].map(back));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    for (const result of results.filter((one) => one.status === 'rejected'))
      expect(reasonOf(result)).toMatchObject({ slug: 'invalid-request' });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '170', held: '0' });
  });
});

describe('journal entries of one batch', () => {
  /** Submitted together on one node: the write path decides them in one transaction. */
  const together = (many: readonly Promise<unknown>[]) => Promise.allSettled(many);

  it('see each other: one of several reversals is booked, and the treasury is not overdrawn', async () => {
    const profile = await world.createProfile();
    const entry = await book(node, 'OPENING_BALANCE', money(profile));
    const { profile_id: _, ...funding } = { ...money(''), amount: '30' };
    const before = await book(node, 'TREASURY_FUNDING', funding);
    const corrects = { type: 'JOURNAL_ENTRY', id: entry.id };
    const reversals = await together([1, 2, 3].map(() => book(node, 'REVERSAL', { corrects })));
    expect(reversals.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of reversals) expect(reasonOf(one)?.slug ?? 'invalid-state').toBe('invalid-state');
    const wrong = { corrects: { type: 'JOURNAL_ENTRY', id: before.id } };
    const payout = () => book(node, 'TREASURY_PAYOUT', { asset: 'USD', amount: '25', rail: 'wire' });
    const taken = await together([payout(), payout(), book(node, 'REVERSAL', wrong)]);
    expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of taken) expect(reasonOf(one)?.slug ?? 'insufficient-funds').toBe('insufficient-funds');
  });

  it('book a reference again after its entry was reversed, or refuse it, but book it once', async () => {
    const profile = await world.createProfile();
    for (let round = 0; round < 5; round += 1) {
      const fields = money(profile);
      const { id } = await book(node, 'OPENING_BALANCE', fields);
      const [reversal, again] = await together([
        book(node, 'REVERSAL', { corrects: { type: 'JOURNAL_ENTRY', id } }),
        book(node, 'OPENING_BALANCE', fields),
      ]);
      expect(reversal!.status).toBe('fulfilled');
      if (again!.status === 'rejected') expect(reasonOf(again!)).toMatchObject({ slug: 'already-exists' });
      const refused = again!.status === 'rejected';
      const last = refused
        ? await book(node, 'OPENING_BALANCE', fields)
        : (again as { value: { id: string } }).value;
      expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '100', held: '0' });
      await book(node, 'REVERSAL', { corrects: { type: 'JOURNAL_ENTRY', id: last.id } });
    }
  });
});

describe('an operator and a rail at once', () => {
  it('book the same money once, whoever is first', async () => {
    const profile = await world.createProfile();
    const reference = newId();
    const deposit = byBank('NOBODYS', { account: 'own', reference });
    const byHand = (by: Node) => book(by, 'MANUAL_DEPOSIT', money(profile, reference));
    const late = await inOrder(byHand, (by) => by.arrivals.arrive(deposit));
    expect(late).toMatchObject({ status: 'fulfilled', value: { replayed: true } });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '100', held: '0' });

    const next = { ...deposit, reference: newId() };
    const refused = await inOrder(
      (by) => by.arrivals.arrive(next),
      (by) => book(by, 'MANUAL_DEPOSIT', money(profile, next.reference)),
    );
    expect(reasonOf(refused)).toMatchObject({ slug: 'already-exists' });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '100', held: '0' });
  });

  it('end a withdrawal once: the late notice of the rail is recorded as a contradiction', async () => {
    const { id, profile } = await wire();
    await node.worker.runDue();
    const notice = {
      id: newId(),
      about: 'payment',
      rail: 'wire',
      key: id,
      state: { kind: 'completed', detail: 'Paid.' },
    } as const;
    await world.journal.plan([{ dueAtNs: world.now(), notice }]);
    world.advance(1);
    await inOrder(
      (by) => resolve(by, id, 'NOT_PAID'),
      (by) => by.notices.runDue(),
    );
    expect((await world.transferOf(id)).status).toBe('FAILED');
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '200', held: '0' });
    const rows = await world.database.query(
      'select reported, recorded from rail_contradictions where transfer_id = $1',
      [id],
    );
    expect(rows).toEqual([{ reported: 'COMPLETED', recorded: 'FAILED' }]);
  });

  it('end a withdrawal once: a resolution after the rail’s own report is refused', async () => {
    const { id, profile } = await wire();
    await node.worker.runDue();
    // Late enough for the rail to have paid.
    world.advance(2 * 3_600_000);
    const refused = await inOrder(
      (by) => by.worker.runDue(),
      (by) => resolve(by, id, 'NOT_PAID'),
    );
    expect(reasonOf(refused)).toMatchObject({ slug: 'invalid-state' });
    await world.settle(node);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '80', held: '0' });
  });
});

describe('an operator who cancels, and a worker', () => {
  it('that has claimed the withdrawal: it is not submitted', async () => {
    const { id, profile } = await wire('rent');
    const working = world.createNode({
      database: connect(),
      async checkpoint(name) {
        if (name === 'before the intent is committed') await cancel(node, id);
      },
    });
    await working.worker.runDue();
    expect((await world.transferOf(id)).status).toBe('FAILED');
    expect(await world.paymentsOf(id)).toEqual([]);
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '200', held: '0' });
  });

  it('that has recorded its intent: neither cancelling nor resolving is possible during the call', async () => {
    const { id } = await wire('rent');
    const refusals: unknown[] = [];
    const working = world.createNode({
      database: connect(),
      async checkpoint(name) {
        if (name !== 'after the intent is committed, before the rail is called') return;
        refusals.push(await problemOf(cancel(node, id)), await problemOf(resolve(node, id, 'NOT_PAID')));
      },
    });
    await working.worker.runDue();
    expect(refusals).toMatchObject([
      { slug: 'invalid-state', meta: { status: 'SUBMITTING' } },
      { slug: 'invalid-state', meta: { status: 'SUBMITTING' } },
    ]);
    await world.settle(working);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
  });

  it('race for many withdrawals on three nodes: each is paid once or cancelled, never both', async () => {
    const profile = await world.createProfile({ USD: '10000' });
    const account = await world.createAccount('cubix');
    const ids = await Promise.all(
      Array.from(
        { length: 24 },
        async () => (await world.withdrawFiat(profile, account, { amount: '10' })).id,
      ),
    );
    const nodes = [connect(), connect(), connect()].map((database) => world.createNode({ database }));
    const cancelled = Promise.allSettled(ids.map((id, index) => cancel(nodes[index % 3]!, id)));
    await Promise.all(nodes.map((one) => one.worker.runDue()));
    const results = await cancelled;
    await world.settle(nodes[0]!);
    let left = 10_000;
    for (const [index, id] of ids.entries()) {
      const isCancelled = results[index]!.status === 'fulfilled';
      if (!isCancelled) expect(reasonOf(results[index]!)).toBeInstanceOf(Problem);
      expect((await world.transferOf(id)).status).toBe(isCancelled ? 'FAILED' : 'COMPLETED');
      expect(await world.paymentsOf(id)).toHaveLength(isCancelled ? 0 : 1);
      if (!isCancelled) left -= 10;
    }
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: String(left), held: '0' });
  });
});

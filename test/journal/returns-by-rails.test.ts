import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { appendReports, noticesOf } from '../../src/rails/notice-store.ts';
import type { ArrivedDeposit, Notice } from '../../src/rails/rail.ts';
import type { Transfer } from '../../src/transfers/transfer.ts';
import { createWorld, type Node, type World } from '../support/payouts.ts';

/** Money that comes back after COMPLETED, as rails report it. */
let world: World;
let node: Node;
beforeAll(async () => {
  world = await createWorld();
  node = createNode();
});
afterAll(() => world.drop());

const createNode = (): Node => world.createNode({ notices: [noticesOf(world.database, 'wire')] });

type ByBank = Extract<ArrivedDeposit, { reference: string }>;
const returnOf = (key: string, change: Partial<ByBank> = {}): Notice & { about: 'return' } => ({
  id: newId(),
  about: 'return',
  key,
  arrived: {
    rail: 'wire',
    account: 'DE02120300000000202051',
    reference: newId(),
    memoId: `Return of payment ${key}`,
    asset: 'USD',
    amountUnits: 10_000n,
    ...change,
  },
});

/** Reports it, as often as the names say. */
async function report(notice: Notice, ...names: string[]): Promise<void> {
  const reports = (names.length === 0 ? [notice.id] : names).map((sourceKey) => ({ sourceKey, notice }));
  await appendReports(world.database, 'wire', reports, world.now());
}

const waiting = async (): Promise<number> => (await noticesOf(world.database, 'wire').collect(100)).length;

async function withdraw(memo?: string): Promise<Transfer> {
  const profile = await world.createProfile({ USD: '120' });
  return world.withdrawFiat(profile, await world.createAccount('wire'), memo === undefined ? {} : { memo });
}

async function completed(): Promise<Transfer> {
  const transfer = await withdraw();
  await world.settle(node);
  return transfer;
}

const suspenseOf = async (reference: string): Promise<unknown[]> =>
  world.database.query(
    `select a.amount_units as units from arrivals a where a.transaction = $1 and a.suspense_deposit_id is not null`,
    [reference],
  );

describe('a return', () => {
  it('is credited once, however often it is reported, and the withdrawal stays COMPLETED', async () => {
    const { id, profileId } = await completed();
    const notice = returnOf(id);
    await report(notice, 'one', 'two', 'three');
    await Promise.all([node.notices.runDue(), createNode().notices.runDue()]);
    await report(notice, 'much later');
    await world.settle(node);
    expect(await waiting()).toBe(0);
    expect(await world.balanceOf(profileId, 'USD')).toEqual({ available: '100', held: '0' });
    expect(await world.transferOf(id)).toMatchObject({
      status: 'COMPLETED',
      secondaryStatus: { name: 'RETURNED', detail: '100 of 100 USD came back after the payment.' },
    });
    const entries = await world.database.query<{ id: string; actor: string }>(
      `select id, actor from journal_entries where kind = 'WITHDRAWAL_RETURN' and corrects_id = $1`,
      [id],
    );
    expect(entries).toEqual([{ id: expect.any(String), actor: 'rail:wire' }]);
    expect(await world.eventsOf(entries[0]!.id)).toEqual(['journal_entry.credited']);
  });

  it('in two parts is credited in two parts', async () => {
    const { id, profileId } = await completed();
    await report(returnOf(id, { amountUnits: 6_000n }));
    await world.settle(node);
    expect(await world.transferOf(id)).toMatchObject({ secondaryStatus: { name: 'PARTLY_RETURNED' } });
    await report(returnOf(id, { amountUnits: 4_000n }));
    await world.settle(node);
    expect(await world.transferOf(id)).toMatchObject({ secondaryStatus: { name: 'RETURNED' } });
    expect(await world.balanceOf(profileId, 'USD')).toEqual({ available: '100', held: '0' });
  });

  it('that is reported before the withdrawal is COMPLETED waits for that', async () => {
    const { id, profileId } = await withdraw();
    await report(returnOf(id));
    await node.notices.runDue();
    expect(await waiting()).toBe(1);
    expect(node.errors.at(-1)).toMatchObject({ message: expect.stringContaining('is not COMPLETED yet') });
    await world.settle(node);
    world.advance(600_000);
    await node.notices.runDue();
    expect(await waiting()).toBe(0);
    expect(await world.balanceOf(profileId, 'USD')).toEqual({ available: '100', held: '0' });
  });
});

describe('what cannot be a return is kept in suspense, because the money is there', () => {
  const cases: [string, () => Promise<[key: string, change: Partial<ByBank>]>][] = [
    ['more than was paid', async () => [(await completed()).id, { amountUnits: 10_001n }]],
    ['another asset', async () => [(await completed()).id, { asset: 'BTC' }]],
    ['a key that no withdrawal has', async () => [newId(), {}]],
    ['a key that is no id', async () => ['bank-1', {}]],
    [
      'a withdrawal of another rail',
      async () => {
        const profile = await world.createProfile({ USD: '120' });
        const { id } = await world.withdrawFiat(profile, await world.createAccount('cubix'));
        await world.settle(node);
        return [id, {}];
      },
    ],
    [
      'a withdrawal that failed, whose money has returned already',
      async () => {
        const { id } = await withdraw('sandbox:fail');
        await world.settle(node);
        return [id, {}];
      },
    ],
    [
      'a profile that is disabled',
      async () => {
        const { id, profileId } = await completed();
        await world.database.query(`update profiles set status = 'DISABLED' where id = $1`, [profileId]);
        return [id, {}];
      },
    ],
  ];

  it.each(cases)('%s', async (name, create) => {
    const [key, change] = await create();
    const notice = returnOf(key, change);
    const { reference } = notice.arrived as ByBank;
    const troublesBefore = node.troubles.length;
    await report(notice, 'first', 'second');
    await world.settle(node);
    await report(notice, 'again');
    await world.settle(node);
    expect(await waiting()).toBe(0);
    expect(await suspenseOf(reference)).toEqual([{ units: change.amountUnits ?? 10_000n }]);
    // A disabled profile is nothing that an operator has to investigate.
    const troubles = name.includes('disabled') ? [] : ['a return could not be booked, and is in suspense'];
    expect(node.troubles.slice(troublesBefore)).toEqual(troubles);
  });

  it('nothing, if the same reference comes with another amount: that waits for an operator', async () => {
    const { id, profileId } = await completed();
    const reference = newId();
    await report(returnOf(id, { reference, amountUnits: 5_000n }));
    await world.settle(node);
    await report(returnOf(id, { reference, amountUnits: 5_001n }));
    await node.notices.runDue();
    expect(await waiting()).toBe(1);
    expect(node.errors.at(-1)).toMatchObject({
      message: expect.stringContaining('the reports differ in amount_units'),
    });
    expect(await world.balanceOf(profileId, 'USD')).toEqual({ available: '50', held: '0' });
    await world.database.query('delete from rail_notices');
  });

  it('nothing, if an operator has booked the return by hand', async () => {
    const { id, profileId } = await completed();
    const notice = returnOf(id);
    const { account, reference } = notice.arrived as ByBank;
    await node.operate('bookJournalEntry', {
      body: {
        kind: 'WITHDRAWAL_RETURN',
        ref_id: reference,
        reason: 'By telephone.',
        reference,
        transfer_id: id,
        asset: 'USD',
        amount: '100',
        account,
      },
    });
    await report(notice);
    await world.settle(node);
    expect(await waiting()).toBe(0);
    expect(await suspenseOf(reference)).toEqual([]);
    expect(await world.balanceOf(profileId, 'USD')).toEqual({ available: '100', held: '0' });
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import type { PaymentState, Rail } from '../../src/rails/rail.ts';
import { eventsOf } from '../support/events.ts';
import { EVIDENCE } from '../support/journal.ts';
import { problemOf } from '../support/ledger.ts';
import { createWorld, type Node, type World } from '../support/payouts.ts';

let world: World;
let node: Node;
beforeAll(async () => {
  world = await createWorld();
});
beforeEach(() => {
  node = world.createNode();
});
afterAll(() => world.drop());

const common = () => ({ ref_id: newId(), ...EVIDENCE });

const resolve = (id: string, outcome: 'PAID' | 'NOT_PAID', by: Node = node): Promise<any> =>
  by.operate('resolveWithdrawal', { params: { id }, body: { outcome, ...common() } });

const cancel = (id: string, by: Node = node): Promise<any> =>
  by.operate('cancelWithdrawal', { params: { id }, body: common() });

const book = (kind: string, fields: object, by: Node = node): Promise<any> =>
  by.operate('bookJournalEntry', { body: { kind, ...common(), ...fields } });

/** A wire of 100 USD with a fee of 20, which the rail has or has not received. */
async function wire(memo = 'sandbox:timeout') {
  const profile = await world.createProfile({ USD: '200' });
  const account = await world.createAccount('wire');
  const { id } = await world.withdrawFiat(profile, account, { memo });
  return { id, profile };
}

async function unknownWire() {
  const made = await wire();
  await node.worker.runDue();
  expect((await world.transferOf(made.id)).secondaryStatus?.name).toBe('OUTCOME_UNKNOWN');
  return made;
}

async function paidWire(fields: { amount?: string } = {}) {
  const profile = await world.createProfile({ USD: '200' });
  const { id } = await world.withdrawFiat(profile, await world.createAccount('wire'), fields);
  await world.settle(node);
  expect((await world.transferOf(id)).status).toBe('COMPLETED');
  return { id, profile };
}

const contradictionsOf = (id: string) =>
  world.database.query('select reported, recorded from rail_contradictions where transfer_id = $1', [id]);

async function report(id: string, state: Extract<PaymentState, { kind: 'completed' | 'failed' }>) {
  const notice = { id: newId(), about: 'payment', rail: 'wire', key: id, state } as const;
  await world.journal.plan([{ dueAtNs: world.now(), notice }]);
  world.advance(1);
  await node.notices.runDue();
}

describe('a withdrawal whose rail cannot tell', () => {
  it('is resolved as paid: the amount leaves, the fee is earned, the customer gets the usual event', async () => {
    const { id, profile } = await unknownWire();
    const entry = await resolve(id, 'PAID');
    expect(entry).toMatchObject({
      kind: 'WITHDRAWAL_RESOLUTION',
      outcome: 'PAID',
      transfer_id: id,
      corrects: { type: 'TRANSFER', id },
      profile_ids: [profile],
      amount: '120',
      postings: [],
    });
    expect(await world.transferOf(id)).toMatchObject({
      status: 'COMPLETED',
      secondaryStatus: { name: 'PAID', detail: 'Confirmed as paid by the operator.' },
    });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '80', held: '0' });
    expect(await world.systemOf(id)).toEqual({ 'clearing:wire USD': '100', 'fees USD': '20' });
    expect(await world.eventsOf(id)).toEqual([
      'transfer.wire_withdrawal.pending',
      'transfer.wire_withdrawal.completed',
    ]);
    await report(id, { kind: 'completed', detail: 'Paid.' });
    expect(await contradictionsOf(id)).toEqual([]);
  });

  it('is resolved as not paid: the total returns; a rail that pays after all is a contradiction', async () => {
    const { id, profile } = await unknownWire();
    await resolve(id, 'NOT_PAID');
    expect(await world.transferOf(id)).toMatchObject({
      status: 'FAILED',
      secondaryStatus: { name: 'NOT_PAID' },
    });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '200', held: '0' });
    await report(id, { kind: 'completed', detail: 'Paid.' });
    await world.settle(node);
    expect(await contradictionsOf(id)).toEqual([{ reported: 'COMPLETED', recorded: 'FAILED' }]);
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '200', held: '0' });
    // The operator then takes the amount from the customer.
    const fields = { corrects: { type: 'TRANSFER', id }, asset: 'USD', amount: '100' };
    await book('CORRECTION', { ...fields, from: { profile_id: profile }, to: { account: 'clearing:wire' } });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '100', held: '0' });
  });

  it('resolved as paid by mistake is a contradiction when the rail fails it, and can be reversed', async () => {
    const { id, profile } = await unknownWire();
    await resolve(id, 'PAID');
    await report(id, { kind: 'failed', reason: 'Rejected.' });
    expect(await contradictionsOf(id)).toEqual([{ reported: 'FAILED', recorded: 'COMPLETED' }]);
    await book('REVERSAL', { corrects: { type: 'TRANSFER', id } });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '200', held: '0' });
    const problem = await problemOf(book('REVERSAL', { corrects: { type: 'TRANSFER', id } }));
    expect(problem).toMatchObject({ slug: 'invalid-state', meta: { status: 'REVERSED' } });
  });

  it('is resolved once: a second resolution names the state, an equal request gets the entry', async () => {
    const { id } = await unknownWire();
    const body = { outcome: 'PAID', ...common() };
    const first = await node.operate('resolveWithdrawal', { params: { id }, body });
    expect(await node.operate('resolveWithdrawal', { params: { id }, body })).toEqual(first);
    expect(await problemOf(resolve(id, 'NOT_PAID'))).toMatchObject({
      slug: 'invalid-state',
      meta: { status: 'COMPLETED' },
    });
    const other = { params: { id }, body: { ...body, outcome: 'NOT_PAID' } };
    expect(await problemOf(node.operate('resolveWithdrawal', other))).toMatchObject({
      slug: 'already-exists',
      meta: { differs: ['outcome'] },
    });
  });

  it('can be resolved when the rail has forgotten a payment that it accepted', async () => {
    const forgetful = (rail: Rail): Rail => ({ ...rail, ask: () => Promise.resolve({ kind: 'not-found' }) });
    const forgetting = world.createNode({ wrapRail: forgetful });
    const { id, profile } = await wire('rent');
    await forgetting.worker.runDue();
    world.advance(3_600_000);
    await forgetting.worker.runDue();
    expect((await world.transferOf(id)).secondaryStatus?.detail).toContain('no longer reports it');
    await resolve(id, 'NOT_PAID');
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '200', held: '0' });
  });
});

describe('a withdrawal that was not submitted', () => {
  it('is cancelled: its total returns, and it is never sent', async () => {
    const { id, profile } = await wire('rent');
    expect(await problemOf(resolve(id, 'PAID'))).toMatchObject({ meta: { status: 'QUEUED' } });
    const entry = await cancel(id);
    expect(entry).toMatchObject({ kind: 'WITHDRAWAL_CANCELLATION', transfer_id: id });
    await world.settle(node);
    expect(await world.transferOf(id)).toMatchObject({
      status: 'FAILED',
      secondaryStatus: { name: 'CANCELLED' },
    });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '200', held: '0' });
    expect(await world.paymentsOf(id)).toEqual([]);
  });

  it('is cancelled while it waits for the review of its fiat account', async () => {
    const profile = await world.createProfile({ USD: '200' });
    const { id } = await world.withdrawFiat(profile, await world.createAccount('wire', 'PENDING'));
    await node.worker.runDue();
    await cancel(id);
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '200', held: '0' });
  });

  it('cannot be cancelled any more once the rail may have it', async () => {
    const { id } = await unknownWire();
    expect(await problemOf(cancel(id))).toMatchObject({ slug: 'invalid-state', meta: { status: 'UNKNOWN' } });
    await resolve(id, 'PAID');
  });

  it('only withdrawals are resolved and cancelled', async () => {
    const unknown = newId();
    const { id } = await paidWire();
    for (const end of [(one: string) => resolve(one, 'PAID'), cancel]) {
      expect(await problemOf(end(unknown))).toMatchObject({
        slug: 'not-found',
        meta: { resource: 'withdrawal' },
      });
      expect(await problemOf(end(id))).toMatchObject({ meta: { status: 'COMPLETED' } });
    }
  });
});

describe('money that comes back after COMPLETED', () => {
  const back = (id: string, amount: string, reference = newId()) =>
    book('WITHDRAWAL_RETURN', { transfer_id: id, asset: 'USD', amount, account: 'own', reference });

  it('is credited to the profile, in parts, at most the amount in total; the fee is not returned', async () => {
    const { id, profile } = await paidWire();
    const reference = newId();
    const entry = await back(id, '60', reference);
    expect(entry).toMatchObject({
      rail: 'wire',
      reference,
      corrects: { type: 'TRANSFER', id },
      postings: [
        { asset: 'USD', amount: '60', from: { account: 'clearing:wire' }, to: { profile_id: profile } },
      ],
    });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '140', held: '0' });
    expect((await world.transferOf(id)).secondaryStatus).toEqual({
      name: 'PARTLY_RETURNED',
      detail: '60 of 100 USD came back after the payment.',
    });
    const [told] = await eventsOf(world.database, entry.id);
    expect(told).toMatchObject({
      type: 'journal_entry.credited',
      resource: { kind: 'WITHDRAWAL_RETURN', amount: '60', corrects: { type: 'TRANSFER', id } },
    });
    expect(await problemOf(back(id, '60', reference))).toMatchObject({
      slug: 'already-exists',
      meta: { existing: { journal_entry_id: entry.id } },
    });
    const more = await problemOf(back(id, '40.01'));
    expect(more.meta).toMatchObject({ errors: [{ pointer: '/amount' }] });
    await back(id, '40');
    expect((await world.transferOf(id)).secondaryStatus?.name).toBe('RETURNED');
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '180', held: '0' });
    expect(await problemOf(book('REVERSAL', { corrects: { type: 'TRANSFER', id } }))).toMatchObject({
      meta: { status: 'RETURNED' },
    });
  });

  it('that was booked by mistake is reversed, and can be booked again', async () => {
    const { id, profile } = await paidWire();
    const reference = newId();
    const entry = await back(id, '100', reference);
    await book('REVERSAL', { corrects: { type: 'JOURNAL_ENTRY', id: entry.id } });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '80', held: '0' });
    expect((await world.transferOf(id)).secondaryStatus?.name).toBe('PAID');
    await back(id, '100', reference);
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '180', held: '0' });
  });

  it('is kept in suspense if the profile is disabled, and credited from there', async () => {
    const { id, profile } = await paidWire();
    await world.database.query(`update profiles set status = 'DISABLED' where id = $1`, [profile]);
    const entry = await back(id, '95');
    expect(entry).toMatchObject({
      suspense_deposit_id: expect.any(String),
      postings: [{ from: { account: 'clearing:wire' }, to: { account: 'suspense' } }],
    });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '80', held: '0' });
    await world.database.query(`update profiles set status = 'ACTIVE' where id = $1`, [profile]);
    await book('SUSPENSE_CREDIT', { suspense_deposit_id: entry.suspense_deposit_id, profile_id: profile });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '175', held: '0' });
    const reversal = book('REVERSAL', { corrects: { type: 'JOURNAL_ENTRY', id: entry.id } });
    expect(await problemOf(reversal)).toMatchObject({ meta: { status: 'WITHDRAWAL_RETURN' } });
  });

  it('is converted back into the asset that was debited', async () => {
    const profile = await world.createProfile({ USD: '100' });
    const fields = { asset: 'PUSD', crypto_network: 'ETHEREUM', amount: '50', balance_asset: 'USD' } as const;
    const { id, balanceUnits } = await world.withdrawCrypto(profile, fields);
    await world.settle(node);
    const left = (await world.balanceOf(profile, 'USD')).available;
    const money = { transfer_id: id, asset: 'PUSD', account: '0xown', reference: `0x${'1'.repeat(64)}` };
    const precise = await problemOf(book('WITHDRAWAL_RETURN', { ...money, amount: '49.001' }));
    expect(precise).toMatchObject({ slug: 'exceeds-precision', meta: { asset: 'USD', max_decimals: 2 } });
    const entry = await book('WITHDRAWAL_RETURN', { ...money, amount: '49' });
    expect(entry.postings).toHaveLength(2);
    const now = (await world.balanceOf(profile, 'USD')).available;
    expect(Number(now)).toBeCloseTo(Number(left) + 49, 9);
    expect(balanceUnits).toBeGreaterThan(0n);
  });

  it('is refused for a withdrawal that was not paid, and in another asset', async () => {
    const { id } = await wire('rent');
    expect(await problemOf(back(id, '1'))).toMatchObject({
      slug: 'invalid-state',
      meta: { status: 'PENDING' },
    });
    await cancel(id);
    expect(await problemOf(back(id, '1'))).toMatchObject({
      slug: 'invalid-state',
      meta: { status: 'FAILED' },
    });
    const paid = await paidWire();
    const money = { transfer_id: paid.id, asset: 'BTC', amount: '1', account: 'own' };
    expect(await problemOf(book('WITHDRAWAL_RETURN', money))).toMatchObject({
      meta: { errors: [{ pointer: '/asset' }] },
    });
    const unknown = { ...money, asset: 'USD', transfer_id: newId() };
    expect(await problemOf(book('WITHDRAWAL_RETURN', unknown))).toMatchObject({ slug: 'not-found' });
  });
});

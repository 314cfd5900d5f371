import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { type Books, createBooks } from '../support/journal.ts';
import {
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let books: Books;
let customer: TestCustomer;
let other: TestCustomer;
let ada: string;
let bob: string;
beforeAll(async () => {
  service = await startTestService();
  books = await createBooks(service);
  customer = await service.createCustomer();
  other = await service.createCustomer();
});
afterAll(() => service.stop());
beforeEach(async () => {
  ada = await service.createProfile(customer);
  bob = await service.createProfile(other);
});

/** The accounts of the two profiles. */
async function mine(): Promise<Record<string, string>> {
  const all = await books.accounts({ ada, bob });
  return Object.fromEntries(Object.entries(all).filter(([name]) => /^(ada|bob) /.test(name)));
}

const transfer = (id: string, legId?: string) => ({
  corrects: { type: legId === undefined ? 'TRANSFER' : 'SETTLEMENT', id, ...(legId && { leg_id: legId }) },
});
const entryOf = (id: string) => ({ corrects: { type: 'JOURNAL_ENTRY', id } });

async function pay(amount: string): Promise<any> {
  const body = { from_profile_id: ada, to_profile_id: bob, asset: 'USD', amount };
  return (await customer.call('POST', '/v2/transfer/platform', body)).body;
}

describe('a reversal of a platform transfer', () => {
  it('moves the value back, once, whichever side is named, and tells both owners about their own side', async () => {
    await books.fund(ada, '100');
    const debit = await pay('60');
    const entry = await books.booked('REVERSAL', transfer(debit.id));
    expect(entry).toMatchObject({
      amount: '60',
      corrects: { type: 'TRANSFER', id: debit.id },
      postings: [{ asset: 'USD', amount: '60', from: { profile_id: bob }, to: { profile_id: ada } }],
    });
    expect(new Set(entry.profile_ids)).toEqual(new Set([ada, bob]));
    expect(await mine()).toEqual({ 'ada USD': '100' });
    const { body: credits } = await other.call('GET', `/v2/transfer/transfers?group_ids=${debit.group_id}`);
    const creditId = credits.items[0].id;
    const again = await books.book('REVERSAL', transfer(creditId));
    expect(expectProblem(again, 409, 'invalid-state').status).toBe('REVERSED');
    const told = await books.eventsOf(entry.id);
    expect(told.map(({ type, customer_id, resource }) => [type, customer_id, resource.corrects.id])).toEqual([
      ['journal_entry.credited', customer.id, debit.id],
      ['journal_entry.debited', other.id, creditId],
    ]);
  });

  it('is refused with the missing amount if the receiver has spent the money, and changes nothing', async () => {
    await books.fund(ada, '100');
    const debit = await pay('60');
    await books.booked('WRITE_OFF', { profile_id: bob, asset: 'USD', amount: '15' });
    const refused = await books.book('REVERSAL', transfer(debit.id));
    expect(expectProblem(refused, 403, 'insufficient-funds')).toEqual({
      profile_id: bob,
      asset: 'USD',
      available: '45',
      needed: '60',
    });
    expect(await mine()).toEqual({ 'ada USD': '40', 'bob USD': '45' });
  });

  it('works for a disabled profile: its owner cannot move value, the operator can', async () => {
    await books.fund(ada, '10');
    const debit = await pay('10');
    await service.database.query(`update profiles set status = 'DISABLED' where id = $1`, [bob]);
    await books.booked('REVERSAL', transfer(debit.id));
    expect(await mine()).toEqual({ 'ada USD': '10' });
  });
});

describe('a correction', () => {
  it('moves a difference between accounts of what it corrects', async () => {
    await books.fund(ada, '100');
    const debit = await pay('60');
    const body = { ...transfer(debit.id), asset: 'USD', amount: '10' };
    const entry = await books.booked('CORRECTION', {
      ...body,
      from: { profile_id: bob },
      to: { profile_id: ada },
    });
    expect(entry.corrects).toEqual({ type: 'TRANSFER', id: debit.id });
    expect(await mine()).toEqual({ 'ada USD': '50', 'bob USD': '50' });
    const refused = await books.book('CORRECTION', {
      ...body,
      amount: '50.01',
      from: { profile_id: bob },
      to: { account: 'clearing:wire' },
    });
    expect(expectProblem(refused, 403, 'insufficient-funds')).toMatchObject({
      available: '50',
      needed: '50.01',
    });
  });

  it('must touch an account and an asset of what it corrects', async () => {
    await books.fund(ada, '100');
    const debit = await pay('60');
    const body = { ...transfer(debit.id), asset: 'USD', amount: '1' };
    const stranger = await service.createProfile(customer);
    const sides = { from: { account: 'treasury' }, to: { profile_id: stranger } };
    expectInvalid(await books.book('CORRECTION', { ...body, ...sides }), '/from');
    const asset = { asset: 'BTC', from: { profile_id: ada }, to: { profile_id: bob } };
    expectInvalid(await books.book('CORRECTION', { ...body, ...asset }), '/asset');
    const both = { from: { profile_id: ada, account: 'fees' }, to: { profile_id: bob } };
    expectInvalid(await books.book('CORRECTION', { ...body, ...both }), '/from');
    const none = await books.book('CORRECTION', {
      ...body,
      from: { account: 'fees' },
      to: { profile_id: ada },
    });
    expect(expectProblem(none, 403, 'insufficient-funds').account).toBe('fees');
  });

  it('stands in the way of a reversal until it is reversed itself, and a reversal in the way of corrections', async () => {
    await books.fund(ada, '100');
    const debit = await pay('60');
    const sides = { asset: 'USD', amount: '10', from: { profile_id: bob }, to: { profile_id: ada } };
    const correction = await books.booked('CORRECTION', { ...transfer(debit.id), ...sides });
    const refused = await books.book('REVERSAL', transfer(debit.id));
    expect(expectProblem(refused, 409, 'invalid-state').status).toBe('CORRECTED');
    const undo = await books.booked('REVERSAL', entryOf(correction.id));
    await books.booked('REVERSAL', transfer(debit.id));
    expect(await mine()).toEqual({ 'ada USD': '100' });
    const late = await books.book('CORRECTION', { ...transfer(debit.id), ...sides });
    expect(expectProblem(late, 409, 'invalid-state').status).toBe('REVERSED');
    const { body } = await books.operator.call('GET', `/v2/operator/journal-entries/${correction.id}`);
    expect(body.reversed_by).toBe(undo.id);
    const twice = await books.book('REVERSAL', entryOf(undo.id));
    expect(expectProblem(twice, 409, 'invalid-state').status).toBe('REVERSAL');
  });
});

describe('a reversal of money that was booked by hand', () => {
  it('releases the reference, so that the money can be booked again, by hand or by the rail', async () => {
    const money = { asset: 'USD', amount: '30', rail: 'wire', account: 'sandbox', reference: newId() };
    const wrong = await books.booked('OPENING_BALANCE', { ...money, profile_id: ada });
    await books.booked('REVERSAL', entryOf(wrong.id));
    expect(await mine()).toEqual({});
    const right = await books.booked('MANUAL_DEPOSIT', { ...money, profile_id: bob });
    expect(await mine()).toEqual({ 'bob USD': '30' });
    const through = await books.book('REVERSAL', entryOf(right.id));
    expect(expectProblem(through, 409, 'invalid-state').status).toBe('MANUAL_DEPOSIT');
    await books.booked('REVERSAL', transfer(right.transfer_id));
    const { amount, account, reference } = money;
    const sent = { fiat_network: 'WIRE', memo_id: 'NOBODYS', amount, account, reference };
    const reported = await customer.call('POST', '/v2/sandbox/fiat-deposits', sent);
    expect(reported.body.suspense_deposit).toMatchObject({ reference: money.reference });
    expect(await mine()).toEqual({});
  });

  it('a deposit that a rail reported keeps its reference: the report is not credited again', async () => {
    const { body: memo } = await customer.call('POST', '/v2/transfer/fiat-deposit-instructions', {
      profile_id: ada,
      fiat_network: 'WIRE',
    });
    const report = { fiat_network: 'WIRE', memo_id: memo.memo_id, amount: '5', reference: newId() };
    const { body } = await customer.call('POST', '/v2/sandbox/fiat-deposits', report);
    await books.booked('REVERSAL', transfer(body.transfer.id));
    const again = await customer.call('POST', '/v2/sandbox/fiat-deposits', report);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await mine()).toEqual({});
  });
});

describe('a reversal of a credit from suspense', () => {
  it('puts the value back into suspense, where it can be credited to the right profile', async () => {
    const report = { fiat_network: 'WIRE', memo_id: 'NOBODYS', amount: '8' };
    const { body } = await customer.call('POST', '/v2/sandbox/fiat-deposits', report);
    const first = body.suspense_deposit.id;
    const wrong = await books.booked('SUSPENSE_CREDIT', { suspense_deposit_id: first, profile_id: ada });
    const before = (await books.accounts())['suspense USD'] ?? '0';
    const reversal = await books.booked('REVERSAL', transfer(wrong.transfer_id));
    expect(Number((await books.accounts())['suspense USD'])).toBe(Number(before) + 8);
    const { body: listed } = await books.operator.call('GET', '/v2/operator/suspense-deposits');
    const again = listed.items.find((one: any) => one.id === reversal.suspense_deposit_id);
    expect(again).toMatchObject({ amount: '8', journal_entry_id: reversal.id });
    const order = { suspense_deposit_id: again.id, profile_id: bob };
    await books.booked('SUSPENSE_CREDIT', order);
    expect(await mine()).toEqual({ 'bob USD': '8' });
  });

  it('of a return to the sender does the same', async () => {
    const report = { fiat_network: 'WIRE', memo_id: 'NOBODYS', amount: '6' };
    const { body } = await customer.call('POST', '/v2/sandbox/fiat-deposits', report);
    const id = body.suspense_deposit.id;
    const returned = await books.booked('SUSPENSE_RETURN', { suspense_deposit_id: id });
    const reversal = await books.booked('REVERSAL', entryOf(returned.id));
    const order = { suspense_deposit_id: reversal.suspense_deposit_id, profile_id: bob };
    await books.booked('SUSPENSE_CREDIT', order);
    expect(await mine()).toEqual({ 'bob USD': '6' });
  });
});

describe('a settlement', () => {
  async function settled(): Promise<any> {
    await books.fund(ada, '2', 'BTC', 'BITCOIN');
    await books.fund(bob, '100');
    const legs = [
      { direction: 'DELIVER', asset: 'BTC', amount: '2' },
      { direction: 'RECEIVE', asset: 'USD', amount: '100' },
    ];
    const body = { source_profile_id: ada, target_profile_id: bob, legs };
    const created = (await customer.call('POST', '/v2/settlement/transactions', body)).body;
    await other.call('PUT', `/v2/settlement/transactions/${created.id}/affirm`);
    const path = `/v2/settlement/transactions/${created.id}`;
    await until('it has settled', async () => (await customer.call('GET', path)).body.status === 'SETTLED');
    return (await customer.call('GET', path)).body;
  }

  it('is reversed as a whole, all legs at once', async () => {
    const { id, legs } = await settled();
    expect(await mine()).toEqual({ 'ada USD': '100', 'bob BTC': '2' });
    const whole = { corrects: { type: 'SETTLEMENT', id } };
    const entry = await books.booked('REVERSAL', whole);
    expect(entry.postings).toHaveLength(2);
    expect(await mine()).toEqual({ 'ada BTC': '2', 'bob USD': '100' });
    expectProblem(await books.book('REVERSAL', whole), 409, 'invalid-state');
    const leg = await books.book('REVERSAL', transfer(id, legs[0].id));
    expect(expectProblem(leg, 409, 'invalid-state').status).toBe('REVERSED');
  });

  it('is reversed leg by leg, and then not as a whole', async () => {
    const { id, legs } = await settled();
    await books.booked('REVERSAL', transfer(id, legs[1].id));
    expect(await mine()).toEqual({ 'bob BTC': '2', 'bob USD': '100' });
    expectProblem(await books.book('REVERSAL', transfer(id, legs[1].id)), 409, 'invalid-state');
    expectProblem(
      await books.book('REVERSAL', { corrects: { type: 'SETTLEMENT', id } }),
      409,
      'invalid-state',
    );
    const unknown = await books.book('REVERSAL', transfer(id, newId()));
    expect(expectProblem(unknown, 404, 'not-found').resource).toBe('leg');
  });

  it('that has not settled has moved nothing', async () => {
    const body = {
      source_profile_id: ada,
      target_profile_id: bob,
      legs: [{ direction: 'DELIVER', asset: 'BTC', amount: '2' }],
    };
    const created = (await customer.call('POST', '/v2/settlement/transactions', body)).body;
    const refused = await books.book('REVERSAL', { corrects: { type: 'SETTLEMENT', id: created.id } });
    expect(expectProblem(refused, 409, 'invalid-state').status).toBe('PENDING');
  });
});

it('what does not exist cannot be corrected', async () => {
  for (const [type, resource] of [
    ['TRANSFER', 'transfer'],
    ['SETTLEMENT', 'settlement transaction'],
    ['JOURNAL_ENTRY', 'journal entry'],
  ]) {
    const refused = await books.book('REVERSAL', { corrects: { type, id: newId() } });
    expect(expectProblem(refused, 404, 'not-found').resource).toBe(resource);
  }
});

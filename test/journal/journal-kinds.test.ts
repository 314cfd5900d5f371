import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { type Books, createBooks } from '../support/journal.ts';
import { expectProblem, startTestService, type TestCustomer, type TestService } from '../support/service.ts';

let service: TestService;
let books: Books;
let customer: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  books = await createBooks(service);
  customer = await service.createCustomer();
});
afterAll(() => service.stop());

/** How the accounts differ from those at the start of the test. */
let before: Record<string, string> = {};
let names: Record<string, string> = {};
let ada: string;
beforeEach(async () => {
  ada = await service.createProfile(customer);
  names = { ada };
  before = await books.accounts();
});

const OWN = { rail: 'wire', account: 'US 021000021 000987654321' };

async function changes(): Promise<Record<string, string>> {
  const now = await books.accounts(names);
  const all = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  const scale = 10n ** 18n;
  const units = (text = '0'): bigint => {
    const [whole = '', fraction = ''] = text.replace('-', '').split('.');
    const value = BigInt(whole) * scale + BigInt(fraction.padEnd(18, '0') || '0');
    return text.startsWith('-') ? -value : value;
  };
  const shown = (value: bigint): string => {
    const text = (value < 0n ? -value : value).toString().padStart(19, '0');
    const decimal = `${text.slice(0, -18)}.${text.slice(-18)}`.replace(/\.?0+$/, '');
    return value < 0n ? `-${decimal}` : decimal;
  };
  return Object.fromEntries(
    all
      .map((name) => [name, units(now[name]) - units(before[name])] as const)
      .filter(([, value]) => value !== 0n)
      .map(([name, value]) => [name, shown(value)]),
  );
}

describe('an opening balance', () => {
  it('credits the profile from the clearing account of the rail, and tells its owner', async () => {
    const body = {
      profile_id: ada,
      asset: 'USD',
      amount: '1000.00',
      ...OWN,
      reference: 'opening-1',
      note: 'Balance brought forward',
    };
    const entry = await books.booked('OPENING_BALANCE', body);
    expect(await changes()).toEqual({ 'ada USD': '1000', 'clearing:wire USD': '-1000' });
    expect(entry).toEqual({
      id: expect.any(String),
      kind: 'OPENING_BALANCE',
      actor: expect.stringMatching(/^ferry_/),
      ref_id: expect.any(String),
      reason: 'Agreed with the bank.',
      reference: 'opening-1',
      note: 'Balance brought forward',
      created_at: expect.stringMatching(/Z$/),
      asset: 'USD',
      amount: '1000',
      rail: 'wire',
      account: 'US021000021000987654321',
      profile_ids: [ada],
      postings: [
        { asset: 'USD', amount: '1000', from: { account: 'clearing:wire' }, to: { profile_id: ada } },
      ],
    });
    expect(await books.eventsOf(entry.id)).toEqual([
      {
        type: 'journal_entry.credited',
        customer_id: customer.id,
        resource: {
          id: entry.id,
          kind: 'OPENING_BALANCE',
          profile_id: ada,
          direction: 'CREDIT',
          asset: 'USD',
          amount: '1000',
          note: 'Balance brought forward',
          created_at: entry.created_at,
        },
      },
    ]);
  });

  it('is booked once for each reference at an account, however it is written', async () => {
    const money = { profile_id: ada, asset: 'ETH', amount: '1', rail: 'ETHEREUM' };
    const address = '0x52908400098527886E0F7030069857D2E4169EE7';
    const hash = `0x${'AB'.repeat(32)}`;
    const first = await books.booked('OPENING_BALANCE', { ...money, account: address, reference: hash });
    const again = { ...money, account: address.toLowerCase(), reference: hash.toLowerCase() };
    const meta = expectProblem(await books.book('OPENING_BALANCE', again), 409, 'already-exists');
    expect(meta.existing).toEqual({ journal_entry_id: first.id });
    const numbered = await books.book('MANUAL_DEPOSIT', { ...again, output: 3 });
    expect(expectProblem(numbered, 409, 'already-exists').existing).toEqual({ journal_entry_id: first.id });
    expect(await changes()).toEqual({ 'ada ETH': '1', 'clearing:ethereum ETH': '-1' });
  });

  it('needs an existing, active profile', async () => {
    const money = { asset: 'USD', amount: '1', ...OWN, reference: newId() };
    const unknown = newId();
    const missing = await books.book('OPENING_BALANCE', { ...money, profile_id: unknown });
    expect(expectProblem(missing, 404, 'not-found')).toEqual({ resource: 'profile', id: unknown });
    await service.database.query(`update profiles set status = 'DISABLED' where id = $1`, [ada]);
    expectProblem(await books.book('OPENING_BALANCE', { ...money, profile_id: ada }), 403, 'forbidden');
    expect(await changes()).toEqual({});
  });
});

describe('a manual deposit', () => {
  it('is a deposit transfer of the customer, and the rail that reports it later finds it', async () => {
    const reference = newId();
    const money = {
      profile_id: ada,
      asset: 'USD',
      amount: '250',
      rail: 'wire',
      account: 'sandbox',
      reference,
    };
    const entry = await books.booked('MANUAL_DEPOSIT', money);
    expect(entry).toMatchObject({ transfer_id: expect.any(String), postings: [], amount: '250' });
    const shown = await customer.call('GET', `/v2/transfer/transfers/${entry.transfer_id}`);
    expect(shown.body).toMatchObject({ type: 'WIRE_DEPOSIT', status: 'COMPLETED', amount: '250', fee: '0' });
    const events = await books.eventsOf(entry.transfer_id);
    expect(events.map(({ type }) => type)).toEqual(['transfer.wire_deposit.completed']);
    const report = {
      fiat_network: 'WIRE',
      memo_id: 'ANYTHING',
      amount: '250',
      account: 'sandbox',
      reference,
    };
    const reported = await customer.call('POST', '/v2/sandbox/fiat-deposits', report);
    expect(reported.body.transfer.id).toBe(entry.transfer_id);
    expect(reported.headers.get('idempotent-replayed')).toBe('true');
    const other = await customer.call('POST', '/v2/sandbox/fiat-deposits', { ...report, amount: '251' });
    expect(expectProblem(other, 409, 'already-exists').differs).toEqual(['amount_units']);
    expect(await changes()).toEqual({ 'ada USD': '250', 'clearing:wire USD': '-250' });
  });

  it('of money that a rail has reported is refused, and names what the report became', async () => {
    const report = {
      fiat_network: 'WIRE',
      memo_id: 'NOBODYS',
      amount: '9',
      account: 'sandbox',
      reference: newId(),
    };
    const { body } = await customer.call('POST', '/v2/sandbox/fiat-deposits', report);
    const money = {
      asset: 'USD',
      amount: '9',
      rail: 'wire',
      account: 'sandbox',
      reference: report.reference,
    };
    const refused = await books.book('MANUAL_DEPOSIT', { ...money, profile_id: ada });
    expect(expectProblem(refused, 409, 'already-exists').existing).toEqual({
      suspense_deposit_id: body.suspense_deposit.id,
    });
    expect(await changes()).toEqual({ 'clearing:wire USD': '-9', 'suspense USD': '9' });
  });
});

describe('a deposit in suspense', () => {
  async function suspended(amount: string): Promise<string> {
    const report = { fiat_network: 'WIRE', memo_id: 'NOBODYS', amount };
    return (await customer.call('POST', '/v2/sandbox/fiat-deposits', report)).body.suspense_deposit.id;
  }

  it('is credited to a profile as a deposit, once', async () => {
    const id = await suspended('70');
    const order = { suspense_deposit_id: id, profile_id: ada };
    const entry = await books.booked('SUSPENSE_CREDIT', order);
    expect(entry).toMatchObject({ amount: '70', rail: 'wire', suspense_deposit_id: id, postings: [] });
    expect(await changes()).toEqual({ 'ada USD': '70', 'clearing:wire USD': '-70' });
    expect(expectProblem(await books.book('SUSPENSE_CREDIT', order), 409, 'invalid-state').status).toBe(
      'CREDITED',
    );
    const returned = await books.book('SUSPENSE_RETURN', { suspense_deposit_id: id });
    expect(expectProblem(returned, 409, 'invalid-state').status).toBe('CREDITED');
  });

  it('is credited by the review operation too, which records a journal entry', async () => {
    const id = await suspended('3');
    const path = `/v2/operator/suspense-deposits/${id}/credit`;
    const credited = await books.operator.call('POST', path, { profile_id: ada, ref_id: 'credit-1' });
    expect(credited.body).toMatchObject({ type: 'WIRE_DEPOSIT', amount: '3', profile_id: ada });
    const again = await books.operator.call('POST', path, { profile_id: ada, ref_id: 'credit-1' });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body.id).toBe(credited.body.id);
    const { body } = await books.operator.call('GET', '/v2/operator/journal-entries?ref_ids=credit-1');
    expect(body.items).toEqual([
      expect.objectContaining({
        kind: 'SUSPENSE_CREDIT',
        transfer_id: credited.body.id,
        suspense_deposit_id: id,
      }),
    ]);
    expect(await changes()).toEqual({ 'ada USD': '3', 'clearing:wire USD': '-3' });
  });

  it('is returned to its sender: booked back to the rail, and listed as returned', async () => {
    const id = await suspended('40');
    const entry = await books.booked('SUSPENSE_RETURN', { suspense_deposit_id: id, reference: 'OUT-1' });
    expect(await changes()).toEqual({});
    const { body } = await books.operator.call('GET', '/v2/operator/suspense-deposits');
    expect(body.items.find((one: any) => one.id === id)).toMatchObject({ returned_by: entry.id });
    const credit = await books.book('SUSPENSE_CREDIT', { suspense_deposit_id: id, profile_id: ada });
    expect(expectProblem(credit, 409, 'invalid-state').status).toBe('RETURNED');
  });
});

describe('the treasury', () => {
  async function feesOf(total: string): Promise<void> {
    const account = await customer.call('POST', '/v2/transfer/fiat-accounts', {
      ...service.description.operation('createFiatAccount').body!.example,
      identity_id: undefined,
      account_id: undefined,
      ref_id: newId(),
    });
    await books.fund(ada, total);
    const asked = { profile_id: ada, fiat_account_id: account.body.id, asset: 'USD', total };
    const { body } = await customer.call('POST', '/v2/transfer/fiat-withdrawals', asked);
    const path = `/v2/sandbox/transfers/${body.id}/complete`;
    expect((await customer.call('POST', path)).status).toBe(200);
  }

  it('gets fees by a sweep of an amount or of everything, and never more than there is', async () => {
    await feesOf('120');
    const some = await books.booked('SWEEP', { source: 'fees', asset: 'USD', amount: '5.5' });
    expect(some.postings).toEqual([
      { asset: 'USD', amount: '5.5', from: { account: 'fees' }, to: { account: 'treasury' } },
    ]);
    const all = await books.booked('SWEEP', { source: 'fees', asset: 'USD' });
    expect(all.amount).toBe('14.5');
    expect(await changes()).toEqual({ 'clearing:wire USD': '-20', 'treasury USD': '20' });
    const more = await books.book('SWEEP', { source: 'fees', asset: 'USD', amount: '1' });
    expect(expectProblem(more, 403, 'insufficient-funds')).toEqual({
      account: 'fees',
      asset: 'USD',
      available: '0',
      needed: '1',
    });
    expectProblem(await books.book('SWEEP', { source: 'fees', asset: 'USD' }), 403, 'insufficient-funds');
  });

  it('is funded from outside, pays out, and carries losses; it cannot be overdrawn', async () => {
    const reference = newId();
    const funding = { asset: 'BTC', amount: '2', rail: 'BITCOIN', account: 'bc1qown', reference };
    await books.booked('TREASURY_FUNDING', funding);
    expectProblem(await books.book('TREASURY_FUNDING', funding), 409, 'already-exists');
    await books.booked('TREASURY_PAYOUT', { asset: 'BTC', amount: '0.5', rail: 'BITCOIN' });
    const loss = await books.booked('WRITE_OFF', { asset: 'BTC', amount: '0.25', rail: 'BITCOIN' });
    expect(loss.postings).toEqual([
      { asset: 'BTC', amount: '0.25', from: { account: 'treasury' }, to: { account: 'clearing:bitcoin' } },
    ]);
    expect(await changes()).toEqual({ 'clearing:bitcoin BTC': '-1.25', 'treasury BTC': '1.25' });
    for (const kind of ['TREASURY_PAYOUT', 'WRITE_OFF']) {
      const refused = await books.book(kind, { asset: 'BTC', amount: '1.26', rail: 'BITCOIN' });
      expect(expectProblem(refused, 403, 'insufficient-funds')).toEqual({
        account: 'treasury',
        asset: 'BTC',
        available: '1.25',
        needed: '1.26',
      });
    }
  });

  it('gets the remainder of a profile by a write-off, and the owner gets an event', async () => {
    await books.fund(ada, '0.07');
    const refused = await books.book('WRITE_OFF', { profile_id: ada, asset: 'USD', amount: '0.08' });
    expect(expectProblem(refused, 403, 'insufficient-funds')).toEqual({
      profile_id: ada,
      asset: 'USD',
      available: '0.07',
      needed: '0.08',
    });
    const entry = await books.booked('WRITE_OFF', { profile_id: ada, asset: 'USD', amount: '0.07' });
    expect(await changes()).toEqual({ 'clearing:wire USD': '-0.07', 'treasury USD': '0.07' });
    const [told] = await books.eventsOf(entry.id);
    expect(told).toMatchObject({
      type: 'journal_entry.debited',
      resource: { direction: 'DEBIT', amount: '0.07' },
    });
    expect(JSON.stringify(told)).not.toContain('Agreed with the bank');
  });

  it('squares what conversions left: takes the surplus of one asset, and refills the other', async () => {
    await books.fund(ada, '50');
    const asked = {
      profile_id: ada,
      asset: 'PUSD',
      balance_asset: 'USD',
      crypto_network: 'ETHEREUM',
      destination_address: '0x52908400098527886E0F7030069857D2E4169EE7',
      amount: '20',
    };
    const { body } = await customer.call('POST', '/v2/transfer/crypto-withdrawals', asked);
    await customer.call('POST', `/v2/sandbox/transfers/${body.id}/complete`);
    const total = body.total;
    const swept = await books.booked('SWEEP', { source: 'conversion', asset: 'USD' });
    expect(swept).toMatchObject({ amount: total, postings: [{ to: { account: 'treasury' } }] });
    const empty = await books.book('SWEEP', { source: 'conversion', asset: 'PUSD' });
    expect(expectProblem(empty, 403, 'insufficient-funds').account).toBe('treasury');
    const funding = { asset: 'PUSD', amount: total, rail: 'ETHEREUM', account: '0xown', reference: newId() };
    await books.booked('TREASURY_FUNDING', funding);
    const refilled = await books.booked('SWEEP', { source: 'conversion', asset: 'PUSD' });
    expect(refilled.postings).toEqual([
      { asset: 'PUSD', amount: total, from: { account: 'treasury' }, to: { account: 'conversion' } },
    ]);
    const now = await books.accounts();
    expect(Object.keys(now).filter((name) => name.startsWith('conversion'))).toEqual([]);
  });
});

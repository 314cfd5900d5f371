import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { type Books, createBooks } from '../support/journal.ts';
import {
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let books: Books;
let customer: TestCustomer;
let [ada, bob] = ['', ''];
beforeAll(async () => {
  service = await startTestService();
  books = await createBooks(service);
  customer = await service.createCustomer();
  ada = await service.createProfile(customer);
  bob = await service.createProfile(customer);
});
afterAll(() => service.stop());

async function entries(profile: string, query = '', by = customer): Promise<any> {
  const { status, body } = await by.call('GET', `/v2/profiles/${profile}/entries?asset=USD${query}`);
  expect({ status, body }).toEqual({ status: 200, body: expect.any(Object) });
  return body;
}

async function move(amount: string, from = ada, to = bob): Promise<any> {
  const body = {
    from_profile_id: from,
    to_profile_id: to,
    asset: 'USD',
    amount,
    ref_id: `=ref ${newId()}`,
  };
  const answer = await customer.call('POST', '/v2/transfer/internal', body);
  expect(answer.status).toBe(200);
  return answer.body;
}

describe('the entries of a profile', () => {
  it('have the running balance of each account and the record that caused them', async () => {
    const opening = await books.fund(ada, '100');
    const transfer = await move('30.5');
    const { items } = await entries(ada, '&order=ASC');
    expect(items).toEqual([
      {
        at: opening.created_at,
        asset: 'USD',
        account: 'available',
        direction: 'CREDIT',
        amount: '100',
        balance_after: '100',
        cause: { type: 'JOURNAL_ENTRY', id: opening.id, kind: 'OPENING_BALANCE' },
      },
      {
        at: transfer.created_at,
        asset: 'USD',
        account: 'available',
        direction: 'DEBIT',
        amount: '30.5',
        balance_after: '69.5',
        cause: {
          type: 'TRANSFER',
          id: transfer.id,
          kind: 'INTERNAL_TRANSFER_DEBIT',
          ref_id: transfer.ref_id,
        },
      },
    ]);
    const [received] = (await entries(bob)).items;
    expect(received).toMatchObject({ direction: 'CREDIT', amount: '30.5', balance_after: '30.5' });
    expect(received.cause.kind).toBe('INTERNAL_TRANSFER_CREDIT');
    expect(received.cause.id).not.toBe(transfer.id);
    const own = await customer.call('GET', `/v2/transfer/transfers/${received.cause.id}`);
    expect(own.body.profile_id).toBe(bob);
  });

  it('show value on hold in both accounts, which can be read separately', async () => {
    const profile = await service.createProfile(customer, { BTC: '2' });
    const withdrawal = await customer.call('POST', '/v2/transfer/crypto-withdrawals', {
      ...service.description.operation('createCryptoWithdrawal').body!.example,
      profile_id: profile,
      ref_id: newId(),
    });
    expect(withdrawal.status).toBe(200);
    const path = `/v2/profiles/${profile}/entries?asset=BTC&order=ASC`;
    const { items } = (await customer.call('GET', path)).body;
    const brief = items.map((one: any) => `${one.account} ${one.direction} ${one.balance_after}`);
    const { total } = withdrawal.body;
    expect(brief).toEqual([
      'available CREDIT 2',
      `held CREDIT ${total}`,
      expect.stringMatching(/^available DEBIT 1\./),
    ]);
    const held = (await customer.call('GET', `${path}&account=held`)).body.items;
    expect(held).toEqual([items[1]]);
    expect(held[0].cause).toMatchObject({
      type: 'TRANSFER',
      id: withdrawal.body.id,
      kind: 'CRYPTO_WITHDRAWAL',
    });
  });

  it('come in pages that join without a gap in both orders, also while entries are added', async () => {
    const profile = await service.createProfile(customer, { USD: '1000' });
    for (let count = 0; count < 12; count += 1) await move('1', profile, bob);
    const all = (await entries(profile, '&order=ASC')).items;
    expect(all).toHaveLength(13);
    for (const order of ['ASC', 'DESC']) {
      const seen: any[] = [];
      let cursor = '';
      do {
        const page = await entries(profile, `&order=${order}&limit=5${cursor}`);
        seen.push(...page.items);
        cursor = page.next_page_cursor === undefined ? '' : `&page_cursor=${page.next_page_cursor}`;
        if (order === 'DESC') await move('1', profile, bob);
      } while (cursor !== '');
      expect(seen).toEqual(order === 'ASC' ? all : all.toReversed());
    }
  });

  it('can be limited to a time, to the nanosecond', async () => {
    const profile = await service.createProfile(customer, { USD: '1000' });
    for (let count = 0; count < 5; count += 1) await move('1', profile, bob);
    const all = (await entries(profile, '&order=ASC')).items;
    const [, second, , fourth] = all;
    const between = `&order=ASC&created_at.gt=${second.at}&created_at.lte=${fourth.at}`;
    expect((await entries(profile, between)).items).toEqual(all.slice(2, 4));
    expect((await entries(profile, `&created_at.eq=${second.at}`)).items).toEqual([second]);
    const down = `&limit=1&created_at.gte=${second.at}&created_at.lt=${fourth.at}`;
    const page = await entries(profile, down);
    expect(page.items).toEqual([all[2]]);
    expect((await entries(profile, `${down}&page_cursor=${page.next_page_cursor}`)).items).toEqual([second]);
  });

  it('belong to the owner of the profile, and need the scope that reads balances', async () => {
    const other = await service.createCustomer();
    const path = `/v2/profiles/${ada}/entries?asset=USD`;
    expectProblem(await other.call('GET', path), 404, 'not-found');
    const poor = await service.createCustomer({ scopes: ['transfer:read_transfer'] });
    expectProblem(await poor.call('GET', path), 403, 'insufficient-scope');
  });

  it('name a wrong parameter', async () => {
    const path = `/v2/profiles/${ada}/entries`;
    expectInvalid(await customer.call('GET', path), '/query/asset');
    expectInvalid(await customer.call('GET', `${path}?asset=XYZ`), '/query/asset');
    expectInvalid(await customer.call('GET', `${path}?asset=USD&account=fees`), '/query/account');
    const transfers = await customer.call('GET', '/v2/transfer/transfers?limit=1');
    const cursor = transfers.body.next_page_cursor;
    expectInvalid(
      await customer.call('GET', `${path}?asset=USD&page_cursor=${cursor}`),
      '/query/page_cursor',
    );
    const forged = Buffer.from('entries created_at DESC 1 99999').toString('base64url');
    expectInvalid(
      await customer.call('GET', `${path}?asset=USD&page_cursor=${forged}`),
      '/query/page_cursor',
    );
  });
});

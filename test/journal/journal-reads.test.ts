import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { type Books, createBooks, EVIDENCE } from '../support/journal.ts';
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
let ada: string;
beforeAll(async () => {
  service = await startTestService();
  books = await createBooks(service);
  customer = await service.createCustomer();
  ada = await service.createProfile(customer);
});
afterAll(() => service.stop());

const PATH = '/v2/operator/journal-entries';

describe('a journal entry', () => {
  const body = {
    kind: 'OPENING_BALANCE',
    ref_id: 'opening-7',
    ...EVIDENCE,
    reference: 'opening-7',
    asset: 'USD',
    amount: '12.50',
    rail: 'wire',
    account: 'own',
  };

  it('is booked once for its ref_id: an equal request gets the entry, another one a conflict', async () => {
    const asked = { ...body, profile_id: ada };
    const first = await books.operator.call('POST', PATH, asked);
    expect(first.status).toBe(200);
    const again = await books.operator.call('POST', PATH, { ...asked, amount: '12.5' });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    const differs = await books.operator.call('POST', PATH, { ...asked, amount: '12.6', reason: 'Other.' });
    expect(expectProblem(differs, 409, 'already-exists')).toEqual({
      existing: first.body,
      differs: ['amount', 'reason'],
    });
    const balance = await customer.call('GET', `/v2/profiles/${ada}/balances/USD`);
    expect(balance.body.available).toBe('12.5');
  });

  it('that is refused does not use up its ref_id', async () => {
    const bob = await service.createProfile(customer);
    const asked = {
      kind: 'WRITE_OFF',
      ref_id: 'off-1',
      ...EVIDENCE,
      profile_id: bob,
      asset: 'USD',
      amount: '1',
    };
    expectProblem(await books.operator.call('POST', PATH, asked), 403, 'insufficient-funds');
    await books.fund(bob, '1');
    expect((await books.operator.call('POST', PATH, asked)).status).toBe(200);
  });

  it('names every field that its kind lacks or does not have', async () => {
    const before = await service.countRows();
    expectInvalid(
      await books.book('OPENING_BALANCE', {}),
      '/profile_id',
      '/asset',
      '/amount',
      '/rail',
      '/account',
    );
    expectInvalid(
      await books.book('SWEEP', { source: 'fees', asset: 'USD', rail: 'wire', transfer_id: newId() }),
      '/rail',
      '/transfer_id',
    );
    const off = { asset: 'USD', amount: '1' };
    expectInvalid(await books.book('WRITE_OFF', off), '/profile_id', '/rail');
    expectInvalid(
      await books.book('WRITE_OFF', { ...off, profile_id: ada, rail: 'wire' }),
      '/profile_id',
      '/rail',
    );
    const money = { profile_id: ada, asset: 'BTC', amount: '1', account: 'own' };
    expectInvalid(
      await books.book('MANUAL_DEPOSIT', { ...money, rail: 'wire', output: 1 }),
      '/rail',
      '/output',
    );
    expectInvalid(
      await books.book('REVERSAL', { corrects: { type: 'TRANSFER', id: newId(), leg_id: newId() } }),
      '/corrects/leg_id',
    );
    const without = await books.operator.call('POST', PATH, { kind: 'REVERSAL' });
    expectInvalid(without, '/ref_id', '/reason', '/reference', '/corrects');
    const precise = await books.book('WRITE_OFF', { profile_id: ada, asset: 'USD', amount: '0.001' });
    expect(expectProblem(precise, 400, 'exceeds-precision').max_decimals).toBe(2);
    expect(await service.countRows()).toEqual(before);
  });

  it('cannot be changed or deleted in the database', async () => {
    const { id } = await books.fund(ada, '1');
    for (const statement of [
      `update journal_entries set reason = 'x' where id = '${id}'`,
      `delete from journal_postings where journal_entry_id = '${id}'`,
      'truncate journal_postings',
    ]) {
      await expect(service.database.query(statement)).rejects.toThrow(/insert-only/);
    }
  });
});

describe('the list of journal entries', () => {
  let mine: string[];
  let bob: string;
  beforeAll(async () => {
    bob = await service.createProfile(customer);
    const entries = [];
    for (const amount of ['1', '2', '3']) entries.push(await books.fund(bob, amount));
    entries.push(await books.fund(bob, '4', 'BTC', 'BITCOIN'));
    entries.push(await books.booked('WRITE_OFF', { profile_id: bob, asset: 'USD', amount: '1' }));
    mine = entries.map(({ id }) => id);
  });

  const idsOf = async (query: string): Promise<string[]> =>
    (await books.operator.call('GET', `${PATH}?${query}`)).body.items.map((one: { id: string }) => one.id);

  it('is filtered by profile, kind, asset, id and time, alone and together', async () => {
    expect(await idsOf(`profile_ids=${bob}`)).toEqual([...mine].reverse());
    expect(await idsOf(`profile_ids=${bob}&order=ASC&kinds=OPENING_BALANCE`)).toEqual(mine.slice(0, 4));
    expect(await idsOf(`profile_ids=${bob}&assets=BTC`)).toEqual([mine[3]]);
    expect(await idsOf('kinds=WRITE_OFF&limit=1')).toEqual([mine[4]]);
    expect(await idsOf(`ids=${mine[1]}&ids=${mine[2]}`)).toEqual([mine[2], mine[1]]);
    const { body } = await books.operator.call('GET', `${PATH}/${mine[2]}`);
    expect(await idsOf(`profile_ids=${bob}&created_at.gt=${body.created_at}`)).toEqual([mine[4], mine[3]]);
    expect(await idsOf(`assets=BTC&created_at.gte=${body.created_at}`)).toEqual([mine[3]]);
    expect(await idsOf(`ref_ids=${body.ref_id}`)).toEqual([mine[2]]);
  });

  it('has pages that follow each other without a gap', async () => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const query = `profile_ids=${bob}&limit=2${cursor && `&page_cursor=${cursor}`}`;
      const { body } = await books.operator.call('GET', `${PATH}?${query}`);
      seen.push(...body.items.map((one: { id: string }) => one.id));
      cursor = body.next_page_cursor ?? '';
    } while (cursor !== '');
    expect(seen).toEqual([...mine].reverse());
  });

  it('is for operators: reading and booking need a scope each', async () => {
    const reader = await service.createCustomer({ scopes: ['operator:read'] });
    expect((await reader.call('GET', `${PATH}?limit=1`)).status).toBe(200);
    const refused = await books.book('REVERSAL', { corrects: { type: 'TRANSFER', id: newId() } }, reader);
    expect(expectProblem(refused, 403, 'insufficient-scope').required).toBe('operator:journal');
    const reviewer = await service.createCustomer({ scopes: ['operator:review'] });
    expectProblem(await reviewer.call('GET', PATH), 403, 'insufficient-scope');
  });

  it('finds no entry under an unknown id', async () => {
    const id = newId();
    const answer = await books.operator.call('GET', `${PATH}/${id}`);
    expect(expectProblem(answer, 404, 'not-found')).toEqual({ resource: 'journal entry', id });
  });
});

describe('the list of open withdrawals', () => {
  it('shows operators those of all customers that have not ended, by state and rail', async () => {
    const bob = await service.createProfile(customer, { BTC: '5' });
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const asked = {
        profile_id: bob,
        asset: 'BTC',
        crypto_network: 'BITCOIN',
        destination_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
        amount: '1',
      };
      ids.push((await customer.call('POST', '/v2/transfer/crypto-withdrawals', asked)).body.id);
    }
    await service.database.query(
      `update withdrawal_work set state = 'UNKNOWN', attempts = 1, intent_at_ns = 1700000000000000000 where transfer_id = $1`,
      [ids[1]!],
    );
    const list = async (query: string): Promise<any[]> =>
      (await books.operator.call('GET', `/v2/operator/withdrawals?${query}`)).body.items;
    const idsIn = async (query: string): Promise<string[]> =>
      (await list(query)).map((one) => one.transfer_id).filter((id) => ids.includes(id));
    expect(await idsIn('rails=BITCOIN')).toEqual([...ids].reverse());
    expect(await idsIn('states=QUEUED&order=ASC')).toEqual([ids[0], ids[2]]);
    expect(await idsIn('rails=wire')).toEqual([]);
    expect(await list('states=UNKNOWN')).toEqual([
      {
        transfer_id: ids[1],
        customer_id: customer.id,
        profile_id: bob,
        rail: 'BITCOIN',
        state: 'UNKNOWN',
        attempts: 1,
        failures: 0,
        submitted_at: '2023-11-14T22:13:20Z',
        asset: 'BTC',
        amount: '1',
        created_at: expect.any(String),
        waits_for: 'QUEUED',
        detail: expect.any(String),
      },
    ]);
    const { body } = await books.operator.call('GET', '/v2/operator/withdrawals?limit=2');
    expect(body.items).toHaveLength(2);
    const next = await list(`limit=2&page_cursor=${body.next_page_cursor}`);
    expect(next.map((one) => one.transfer_id)).toEqual([ids[0]]);
    expect((await books.end('cancel', ids[0]!)).status).toBe(200);
    expect(await idsIn('')).toEqual([ids[2], ids[1]]);
  });
});

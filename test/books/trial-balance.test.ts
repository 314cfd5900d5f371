import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { formatInstant, type Instant } from '../../src/kernel/instant.ts';
import { ENTRY_CHECKS } from '../../src/ledger/audit-checks.ts';
import { type AccountTotal, trialBalance } from '../../src/ledger/trial-balance.ts';
import type { WritePath } from '../../src/ledger/write-path.ts';
import { untilBookedIsFinal } from '../support/books.ts';
import { type Books, createBooks } from '../support/journal.ts';
import { available, createTestWritePath, held, move, OUTSIDE } from '../support/ledger.ts';
import {
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let books: Books;
let path: WritePath;
let customer: TestCustomer;
let [ada, bob] = ['', ''];
beforeAll(async () => {
  service = await startTestService();
  books = await createBooks(service);
  customer = await service.createCustomer();
  [ada, bob] = [await service.createProfile(customer), await service.createProfile(customer)];
  path = createTestWritePath(service.database);
  for (let round = 1n; round <= 6n; round += 1n) {
    await books.fund(ada, '1000');
    const usd = { asset: 'USD', units: 100n * round };
    await path.submit(
      move([
        { ...usd, from: available(ada), to: available(bob) },
        { ...usd, from: available(ada), to: { account: 'fees' }, units: round },
        { ...usd, from: available(ada), to: { account: 'fees' }, units: round },
        { asset: 'ETH', from: OUTSIDE, to: available(bob), units: 10n ** 20n * round },
      ]),
    );
    await path.submit(move([{ ...usd, from: available(bob), to: held(bob) }]));
    await path.submit(move([{ ...usd, from: held(bob), to: { account: 'clearing:wire' } }]));
    await books.booked('SWEEP', { source: 'fees', asset: 'USD' });
  }
});
afterAll(async () => {
  await path.stop();
  await service.stop(ENTRY_CHECKS);
});

const PATH = '/v2/operator/trial-balance';

/** By adding up all entries. */
async function counted(at: Instant): Promise<AccountTotal[]> {
  return service.database.query<AccountTotal>(
    `select asset, account, sum(delta) as units from entries where at_ns <= $1 group by asset, account
     having sum(delta) <> 0 order by asset, account`,
    [at],
  );
}
const nonZero = (totals: readonly AccountTotal[]): AccountTotal[] =>
  totals
    .filter(({ units }) => units !== 0n)
    .sort((a, b) => (`${a.asset}/${a.account}` < `${b.asset}/${b.account}` ? -1 : 1));

describe('the trial balance', () => {
  it.each([2, 10_000])(
    'is what the entries sum to at every instant, in slices of %i rows',
    async (rowsMax) => {
      const final = await untilBookedIsFinal(service.database);
      const instants = await service.database.query<{ at_ns: Instant }>('select distinct at_ns from entries');
      expect(instants.length).toBeGreaterThan(20);
      for (const at of [0n, final, ...instants.flatMap(({ at_ns }) => [at_ns, at_ns - 1n])]) {
        const totals = await trialBalance(service.database, at, final, rowsMax);
        expect({ at, totals: nonZero(totals) }).toEqual({ at, totals: nonZero(await counted(at)) });
        for (const accounts of Map.groupBy(totals, ({ asset }) => asset).values())
          expect(accounts.reduce((sum, { units }) => sum + units, 0n)).toBe(0n);
      }
    },
  );

  it('shows operators every account of each asset, and a total of zero', async () => {
    const final = await untilBookedIsFinal(service.database);
    const { status, body } = await books.operator.call('GET', `${PATH}?at=${formatInstant(final)}`);
    expect(status).toBe(200);
    expect(body.at).toBe(formatInstant(final));
    const [eth, usd] = body.assets;
    expect(eth).toEqual({
      asset: 'ETH',
      accounts: [
        { account: 'available', balance: '2100' },
        { account: 'held', balance: '0' },
        { account: 'clearing:test', balance: '-2100' },
      ],
      total: '0',
    });
    expect(usd).toEqual({
      asset: 'USD',
      accounts: [
        { account: 'available', balance: '5978.58' },
        { account: 'held', balance: '0' },
        { account: 'clearing:wire', balance: '-5979' },
        { account: 'fees', balance: '0' },
        { account: 'treasury', balance: '0.42' },
      ],
      total: '0',
    });
  });

  it('at an earlier time is repeatable while value moves', async () => {
    const final = await untilBookedIsFinal(service.database);
    const read = async (): Promise<any> =>
      (await books.operator.call('GET', `${PATH}?at=${formatInstant(final)}`)).body;
    const before = await read();
    for (let count = 0; count < 5; count += 1) {
      await path.submit(move([{ asset: 'USD', from: available(ada), to: { account: 'fees' }, units: 1n }]));
      expect(await read()).toEqual(before);
    }
    await books.booked('SWEEP', { source: 'fees', asset: 'USD' });
  });

  it('is for operators, and only for the past', async () => {
    expectProblem(
      await (await service.createCustomer({ scopes: ['funding:read_profile'] })).call('GET', PATH),
      403,
      'insufficient-scope',
    );
    expectInvalid(await books.operator.call('GET', `${PATH}?at=2100-01-01T00:00:00Z`), '/query/at');
    expectInvalid(await books.operator.call('GET', `${PATH}?at=now`), '/query/at');
    expect((await books.operator.call('GET', PATH)).status).toBe(200);
  });
});

describe('the entries of an account of the service', () => {
  const entries = async (account: string, query = ''): Promise<any> => {
    const answer = await books.operator.call(
      'GET',
      `/v2/operator/accounts/${account}/entries?asset=USD${query}`,
    );
    expect(answer.status).toBe(200);
    return answer.body;
  };

  it('have their causes, and come in pages in both orders', async () => {
    const all = (await entries('fees', '&order=ASC')).items;
    expect(all.length).toBeGreaterThan(17);
    expect(all[0]).toMatchObject({ account: 'fees', direction: 'CREDIT', amount: '0.01', profile_id: ada });
    const sweep = all.find((one: any) => one.cause.kind === 'SWEEP');
    expect(sweep).toMatchObject({ direction: 'DEBIT', amount: '0.02', cause: { type: 'JOURNAL_ENTRY' } });
    expect(sweep.profile_id).toBeUndefined();
    for (const order of ['ASC', 'DESC']) {
      const seen: any[] = [];
      let cursor = '';
      do {
        const page = await entries('fees', `&order=${order}&limit=3${cursor}`);
        expect(page.items.length).toBeLessThanOrEqual(3);
        seen.push(...page.items);
        cursor = page.next_page_cursor === undefined ? '' : `&page_cursor=${page.next_page_cursor}`;
      } while (cursor !== '');
      expect(seen).toEqual(order === 'ASC' ? all : all.toReversed());
    }
    const some = `&order=ASC&created_at.gte=${all[3].at}&created_at.lt=${all[9].at}`;
    expect((await entries('fees', some)).items).toEqual(
      all.filter((one: any) => one.at >= all[3].at && one.at < all[9].at),
    );
  });

  it('are not those of profiles, and need a cursor of the same account', async () => {
    for (const account of ['available', 'held', newId()])
      expectInvalid(
        await books.operator.call('GET', `/v2/operator/accounts/${account}/entries?asset=USD`),
        '/path/account',
      );
    const { next_page_cursor: cursor } = await entries('fees', '&limit=1');
    expectInvalid(
      await books.operator.call(
        'GET',
        `/v2/operator/accounts/treasury/entries?asset=USD&page_cursor=${cursor}`,
      ),
      '/query/page_cursor',
    );
    expect((await entries('clearing:solana')).items).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { formatInstant } from '../../src/kernel/instant.ts';
import { untilBookedIsFinal } from '../support/books.ts';
import { type Books, createBooks } from '../support/journal.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let books: Books;
let ada = '';
beforeAll(async () => {
  service = await startTestService();
  books = await createBooks(service);
  const customer = await service.createCustomer();
  ada = await service.createProfile(customer);
});
afterAll(() => service.stop());

const PATH = '/v2/operator/reconciliations';
const report = (fields: object): Promise<Answer> => books.operator.call('POST', `${PATH}/balances`, fields);

async function fund(rail: string, asset: string, amount: string): Promise<string> {
  const reference = newId();
  const money = { profile_id: ada, asset, amount, rail, account: 'own', reference };
  await books.booked('OPENING_BALANCE', money);
  return reference;
}

/** The time up to which the books are final. */
const now = async (): Promise<string> => formatInstant(await untilBookedIsFinal(service.database));

describe('the balance of a chain', () => {
  it('is compared with the ledger of the same time, however much was booked since', async () => {
    const fields = { account: 'clearing:bitcoin', asset: 'BTC', reference: 'block 932145' };
    await fund('BITCOIN', 'BTC', '12.5');
    const at = await now();
    await fund('BITCOIN', 'BTC', '1');
    const { status, body } = await report({ ...fields, at, balance: '12.50000000' });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { balance: '12.5', ledger_balance: '12.5', difference: '0', unexplained: '0' },
    });
    const later = await report({
      ...fields,
      at: await now(),
      balance: '13.49999999',
      reference: 'block 932146',
    });
    expect(later.body).toMatchObject({ ledger_balance: '13.5', difference: '-0.00000001' });
    const { body: list } = await books.operator.call('GET', `${PATH}/balances?account=clearing:bitcoin`);
    expect(list.items.map(({ reference }: any) => reference)).toEqual(['block 932146', 'block 932145']);
    const metrics = async (): Promise<string> => (await fetch(`${service.url}/metrics`)).text();
    // Backlogs are read at most once in a few seconds.
    await expect
      .poll(metrics, { timeout: 60_000 })
      .toContain('ferry_reconciliation_difference{account="clearing:bitcoin",asset="BTC"} -1e-8');
  });

  it('is explained by what is on one side only', async () => {
    const account = 'clearing:litecoin';
    await fund('LITECOIN', 'LTC', '3');
    await fund('LITECOIN', 'LTC', '2');
    const at = await now();
    const content = `at,asset,direction,amount,reference\n2026-01-01,LTC,CREDIT,0.25,dust\n`;
    await books.operator.call('POST', PATH, { account, format: 'CSV', statement_id: 's', content });
    // On the chain: both deposits and the dust. In the ledger: both deposits, which no line of the statement shows.
    const { body } = await report({ account, asset: 'LTC', at, balance: '5.25', reference: 'block 1' });
    expect(body).toMatchObject({ difference: '0.25', unexplained: '5' });
  });

  it('can be zero or owed, and of treasury has the sign of the ledger', async () => {
    const at = await now();
    const none = await report({ account: 'clearing:solana', asset: 'SOL', at, balance: '0', reference: 'a' });
    expect(none.body).toMatchObject({ balance: '0', ledger_balance: '0', difference: '0' });
    const owed = await report({
      account: 'clearing:wire',
      asset: 'USD',
      at,
      balance: '-1.25',
      reference: 'b',
    });
    expect(owed.body).toMatchObject({ balance: '-1.25', difference: '-1.25' });
    await books.booked('TREASURY_FUNDING', {
      asset: 'USD',
      amount: '7',
      rail: 'wire',
      account: 'own',
      reference: newId(),
    });
    const own = await report({
      account: 'treasury',
      asset: 'USD',
      at: await now(),
      balance: '7',
      reference: 'c',
    });
    expect(own.body).toMatchObject({ ledger_balance: '7', difference: '0' });
  });

  it('is recorded once for its time and reference', async () => {
    const fields = { account: 'clearing:ink', asset: 'ETH', at: await now(), balance: '1', reference: 'r' };
    const first = await report(fields);
    const again = await report({ ...fields, balance: '1.0' });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    const other = await report({ ...fields, balance: '2' });
    expect(expectProblem(other, 409, 'already-exists')).toEqual({
      existing: first.body,
      differs: ['balance'],
    });
  });

  it.each([
    ['in the future', { at: '2999-01-01T00:00:00Z' }, '/at'],
    ['of no time', { at: 'yesterday' }, '/at'],
    ['too precise', { balance: '0.000000001' }, '/balance'],
    ['that is no number', { balance: '1e5' }, '/balance'],
    ['of an unknown asset', { asset: 'XYZ' }, '/asset'],
    ['of an account inside', { account: 'fees' }, '/account'],
  ])('%s is refused', async (_what, wrong, pointer) => {
    const fields = { account: 'clearing:bitcoin', asset: 'BTC', balance: '1', reference: newId() };
    expectInvalid(await report({ ...fields, at: '2026-01-01T00:00:00Z', ...wrong }), pointer);
  });
});

describe('a camt.053', () => {
  const statement = (id: string, balance: string): string =>
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>${id}</Id><Acct><Ccy>USD</Ccy></Acct>${balance}
      <Ntry><Amt Ccy="USD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-01-15</Dt></BookgDt><AcctSvcrRef>x-${id}</AcctSvcrRef></Ntry>
      </Stmt></BkToCstmrStmt></Document>`;
  const closing = (amount: string, indicator: string, date: string): string =>
    `<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="USD">1.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-01-14</Dt></Dt></Bal>
     <Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="USD">${amount}</Amt><CdtDbtInd>${indicator}</CdtDbtInd><Dt>${date}</Dt></Bal>`;
  const importOf = async (id: string, balance: string): Promise<any> => {
    const body = { account: 'clearing:cubix', format: 'CAMT053', content: statement(id, balance) };
    return (await books.operator.call('POST', PATH, body)).body;
  };

  it('has its closing balance compared with the ledger at the end of its day', async () => {
    const past = await importOf('past', closing('6.00', 'CRDT', '<Dt>2026-01-15</Dt>'));
    expect(past.closing_difference).toBe('6');
    const owed = await importOf('owed', closing('2.50', 'DBIT', '<DtTm>2026-01-15T12:00:00Z</DtTm>'));
    expect(owed.closing_difference).toBe('-2.5');
    const { body } = await books.operator.call('GET', `${PATH}/balances?account=clearing:cubix`);
    expect(body.items.map(({ at, reference }: any) => `${at} ${reference}`)).toEqual([
      '2026-01-15T12:00:00Z owed',
      '2026-01-16T00:00:00Z past',
    ]);
  });

  it('has none compared before its day is over, or without one', async () => {
    expect(await importOf('later', closing('6.00', 'CRDT', '<Dt>2999-01-15</Dt>'))).not.toHaveProperty(
      'closing_difference',
    );
    expect(await importOf('none', '')).not.toHaveProperty('closing_difference');
  });
});

describe('a statement of a busy day', () => {
  const LINES = 10_000;

  it('has up to 10,000 lines as CSV, and is matched to zero', async () => {
    const account = 'clearing:cbit';
    const references = await Promise.all(Array.from({ length: 5 }, () => fund('cbit', 'USD', '1')));
    await untilBookedIsFinal(service.database);
    const rows = Array.from({ length: LINES }, (_, at) => {
      const direction = at % 2 === 0 ? 'CREDIT' : 'DEBIT';
      return at < 5
        ? `2026-01-01,USD,CREDIT,1,${references[at]}`
        : `2026-01-01,USD,${direction},2,"line ${at}, a day"`;
    });
    const content = `at,asset,direction,amount,reference\n${rows.join('\n')}\n`;
    const { status, body } = await books.operator.call('POST', PATH, {
      account,
      format: 'CSV',
      statement_id: 'day',
      content,
    });
    expect({ status, body }).toMatchObject({ status: 200, body: { line_count: LINES } });
    const [open] = await service.database.query<{ count: bigint }>(
      'select count(*) from reconciliation_items where account = $1 and match_id is null',
      [account],
    );
    expect(open!.count).toBe(BigInt(LINES - 5));
  });

  it('does not stop other requests while it is read', async () => {
    const entry = (at: number): string =>
      `<Ntry><Amt Ccy="USD">1.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-01-15</Dt></BookgDt><AcctSvcrRef>r${at}</AcctSvcrRef></Ntry>`;
    const content = `<Document><BkToCstmrStmt><Stmt><Id>big</Id><Acct><Ccy>USD</Ccy></Acct>${Array.from({ length: LINES }, (_, at) => entry(at)).join('')}</Stmt></BkToCstmrStmt></Document>`;
    const importing = books.operator
      .call('POST', PATH, { account: 'clearing:bank_network_2', format: 'CAMT053', content })
      .then((answer) => [answer]);
    let answers = 0;
    const live = (): Promise<unknown> => fetch(`${service.url}/health/live`).then(() => undefined);
    while ((await Promise.race([importing, live()])) === undefined) answers += 1;
    const [{ status, body }] = (await importing) as [Answer];
    expect({ status, lines: body.line_count }).toEqual({ status: 200, lines: LINES });
    expect(answers).toBeGreaterThan(5);
  });

  it('of more than 4 MiB is refused with its bound', async () => {
    const content = 'x'.repeat(4 * 1024 * 1024);
    const answer = await books.operator.call('POST', PATH, { account: 'treasury', format: 'CSV', content });
    expectProblem(answer, 413, 'payload-too-large');
    expect(answer.body.detail).toBe('The body is larger than 4096 KiB.');
  });
});

it('matches a withdrawal by its transaction hash or its id', async () => {
  const customer = await service.createCustomer();
  const profile = await service.createProfile(customer, { BTC: '1', USD: '100' });
  const send = async (): Promise<any> =>
    (
      await customer.call('POST', '/v2/transfer/crypto-withdrawals', {
        profile_id: profile,
        asset: 'BTC',
        amount: '0.01',
        crypto_network: 'BITCOIN',
        destination_address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
        ref_id: newId(),
      })
    ).body;
  const [byHash, byId] = [await send(), await send()];
  const complete = async (id: string): Promise<any> =>
    (await customer.call('POST', `/v2/sandbox/transfers/${id}/complete`, {})).body;
  const { crypto_tx_hash: hash } = await complete(byHash.id);
  await complete(byId.id);
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  await untilBookedIsFinal(service.database);
  const rows = [`2026-01-01,BTC,DEBIT,0.01,${hash}`, `2026-01-01,BTC,DEBIT,0.01,${byId.id.toUpperCase()}`];
  const content = `at,asset,direction,amount,reference\n${rows.join('\n')}\n`;
  const account = 'clearing:bitcoin';
  await books.operator.call('POST', PATH, { account, format: 'CSV', statement_id: 'chain', content });
  const matched = await service.database.query<{ cause_id: string }>(
    `select cause_id from reconciliation_items where account = $1 and side = 'LEDGER' and match_id is not null`,
    [account],
  );
  expect(new Set(matched.map((row) => row.cause_id))).toEqual(new Set([byHash.id, byId.id]));
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { untilBookedIsFinal } from '../support/books.ts';
import { type Books, createBooks } from '../support/journal.ts';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let books: Books;
let customer: TestCustomer;
let ada = '';
beforeAll(async () => {
  service = await startTestService();
  books = await createBooks(service);
  customer = await service.createCustomer();
  ada = await service.createProfile(customer);
});
afterAll(() => service.stop());

const PATH = '/v2/operator/reconciliations';
const START = '2026-01-01';
const HEADER = 'at,asset,direction,amount,reference';

const importOf = (fields: object): Promise<Answer> => books.operator.call('POST', PATH, fields);
async function imported(
  account: string,
  rows: readonly string[],
  statementId: string = newId(),
): Promise<any> {
  const content = [HEADER, ...rows].join('\n');
  const answer = await importOf({ account, format: 'CSV', statement_id: statementId, content });
  expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: expect.any(Object) });
  return answer.body;
}
async function unmatched(account: string, query = ''): Promise<any[]> {
  const answer = await books.operator.call('GET', `${PATH}/unmatched?account=${account}&order=ASC${query}`);
  expect(answer.status).toBe(200);
  return answer.body.items;
}
const brief = (items: readonly any[]): string[] =>
  items.map(({ side, direction, amount, reference }) => `${side} ${direction} ${amount} ${reference}`);

/** Money that arrived under that reference. */
async function arrive(rail: string, reference: string, amount: string): Promise<any> {
  const fields = { profile_id: ada, asset: 'USD', amount, rail, account: 'own', reference };
  return books.booked('OPENING_BALANCE', fields);
}

describe('an imported statement', () => {
  it('is matched by reference, amount and direction, and shows what is on one side only and since when', async () => {
    const account = 'clearing:cubix';
    await arrive('cubix', 'FT-26 015/a', '10');
    await arrive('cubix', 'only-in-ledger', '20');
    await arrive('cubix', 'other-amount', '30');
    await untilBookedIsFinal(service.database);
    await imported(account, [
      `${START},USD,CREDIT,10.00,ft26015A`,
      `${START},USD,CREDIT,31,other-amount`,
      `${START},USD,DEBIT,20,only-in-ledger`,
      `2026-01-02T10:00:00.5+01:00,USD,CREDIT,5,"only, ""here"""`,
    ]);
    const items = await unmatched(account);
    expect(brief(items).sort()).toEqual([
      'LEDGER CREDIT 20 only-in-ledger',
      'LEDGER CREDIT 30 other-amount',
      'STATEMENT CREDIT 31 other-amount',
      'STATEMENT CREDIT 5 only, "here"',
      'STATEMENT DEBIT 20 only-in-ledger',
    ]);
    expect(items.find(({ amount }) => amount === '5').since).toBe('2026-01-02T09:00:00.5Z');
    expect((await unmatched(account, '&side=LEDGER')).map(({ side }) => side)).toEqual(['LEDGER', 'LEDGER']);
    expect((await unmatched(account, '&limit=1')).length).toBe(1);
  });

  it('matches what the ledger books later, and a repeated line only with a second movement', async () => {
    const account = 'clearing:cbit';
    await imported(account, [`${START},USD,CREDIT,7,twice`, `${START},USD,CREDIT,7,twice`]);
    expect(await unmatched(account)).toHaveLength(2);
    await arrive('cbit', 'twice', '7');
    await untilBookedIsFinal(service.database);
    await imported(account, [`${START},USD,CREDIT,1,another`]);
    expect(brief(await unmatched(account))).toEqual([
      'STATEMENT CREDIT 7 twice',
      'STATEMENT CREDIT 1 another',
    ]);
  });

  it('is imported once for its id, whole or not at all', async () => {
    const account = 'clearing:bank_network_2';
    const rows = [`${START},USD,CREDIT,1,a`, `${START},USD,CREDIT,2,b`];
    const first = await imported(account, rows, 'day-1');
    const content = [HEADER, ...rows].join('\r\n');
    const again = await importOf({ account, format: 'CSV', statement_id: 'day-1', content });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first);
    const other = await importOf({
      account,
      format: 'CSV',
      statement_id: 'day-1',
      content: `${HEADER}\n${START},USD,CREDIT,3,c\n`,
    });
    expect(expectProblem(other, 409, 'already-exists')).toEqual({ existing: first, differs: ['content'] });
    const racers = Array.from({ length: 5 }, () =>
      importOf({
        account,
        format: 'CSV',
        statement_id: 'day-2',
        content: `${HEADER}\n${START},USD,CREDIT,3,c\n`,
      }),
    );
    expect((await Promise.all(racers)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await unmatched(account)).toHaveLength(3);
  });

  it.each([
    ['another header', 'a,b\n1,2'],
    ['no line', `${HEADER}\n`],
    ['too few cells', `${HEADER}\n${START},USD,CREDIT,1`],
    ['no time', `${HEADER}\nyesterday,USD,CREDIT,1,x`],
    ['an unknown asset', `${HEADER}\n${START},XYZ,CREDIT,1,x`],
    ['two assets', `${HEADER}\n${START},USD,CREDIT,1,x\n${START},BTC,CREDIT,1,x`],
    ['a sign', `${HEADER}\n${START},USD,CREDIT,-1,x`],
    ['too many decimals', `${HEADER}\n${START},USD,CREDIT,1.001,x`],
    ['a wrong direction', `${HEADER}\n${START},USD,IN,1,x`],
    ['an open quote', `${HEADER}\n${START},USD,CREDIT,1,"x`],
    ['one wrong line among good ones', `${HEADER}\n${START},USD,CREDIT,1,x\n${START},USD,CREDIT,0,y`],
  ])('of CSV with %s is refused, and nothing is stored', async (_what, content) => {
    const account = 'clearing:bank_network_3';
    expectInvalid(await importOf({ account, format: 'CSV', statement_id: newId(), content }), '/content');
    expect(await unmatched(account)).toEqual([]);
  });

  it('needs the scope of the journal, and an account that mirrors something outside', async () => {
    const content = `${HEADER}\n${START},USD,CREDIT,1,x\n`;
    const body = { account: 'clearing:wire', format: 'CSV', statement_id: 'x', content };
    const reader = await service.createCustomer({ scopes: ['operator:read'] });
    expectProblem(await reader.call('POST', PATH, body), 403, 'insufficient-scope');
    expectInvalid(await importOf({ ...body, account: 'fees' }), '/account');
    expectInvalid(await importOf({ ...body, statement_id: undefined }), '/statement_id');
  });
});

describe('items', () => {
  it('are matched by hand if both sides have the same sum, and opened again, each with a reason', async () => {
    const account = 'clearing:wire';
    await arrive('wire', 'whole', '100');
    await untilBookedIsFinal(service.database);
    await imported(account, [
      `${START},USD,CREDIT,60,part-1`,
      `${START},USD,CREDIT,40,part-2`,
      `${START},USD,CREDIT,9,paid`,
      `${START},USD,DEBIT,9,returned`,
    ]);
    const items = await unmatched(account);
    const idOf = (reference: string): string => items.find((one) => one.reference === reference).id;
    const match = (ids: string[], by = books.operator): Promise<Answer> =>
      by.call('POST', `${PATH}/matches`, { item_ids: ids, reason: 'The bank split it.' });
    expectInvalid(await match([idOf('whole'), idOf('part-1')]), '/item_ids');
    expectInvalid(await match([idOf('whole'), newId()]), '/item_ids');
    const split = await match(['whole', 'part-1', 'part-2'].map(idOf));
    expect(split.body).toMatchObject({ account, reason: 'The bank split it.', actor: expect.any(String) });
    expect((await match(['paid', 'returned'].map(idOf))).status).toBe(200);
    expect(await unmatched(account)).toEqual([]);
    expectProblem(await match(['whole', 'part-1', 'part-2'].map(idOf)), 409, 'invalid-state');
    const remove = (id: string): Promise<Answer> =>
      books.operator.call('POST', `${PATH}/matches/${id}/remove`, { reason: 'Not the same.' });
    expect((await remove(split.body.id)).body).toMatchObject({ removed_because: 'Not the same.' });
    expect(new Set((await unmatched(account)).map(({ reference }) => reference))).toEqual(
      new Set(['part-1', 'part-2', 'whole']),
    );
    expectProblem(await remove(newId()), 404, 'not-found');
  });

  it('that are open are a metric, by account and side, with the age of the oldest', async () => {
    await imported('treasury', [`${START},USD,CREDIT,1,x`, `${START},USD,CREDIT,2,y`]);
    await expect
      .poll(async () => (await fetch(`${service.url}/metrics`)).text(), { timeout: 60_000 })
      .toMatch(/ferry_reconciliation_unmatched\{account="treasury",side="STATEMENT"\} 2/);
    const text = await (await fetch(`${service.url}/metrics`)).text();
    expect(text).toMatch(/ferry_reconciliation_unmatched\{account="treasury",side="LEDGER"\} 0/);
    expect(text).toMatch(
      /ferry_reconciliation_unmatched_oldest_seconds\{account="treasury",side="STATEMENT"\} [1-9]/,
    );
  });
});

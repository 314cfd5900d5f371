import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Books, createBooks } from '../support/journal.ts';
import { type Answer, expectInvalid, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let books: Books;
beforeAll(async () => {
  service = await startTestService();
  books = await createBooks(service);
});
afterAll(() => service.stop());

const PATH = '/v2/operator/reconciliations';

const entry = (amount: string, indicator: string, reference: string, status = '<Cd>BOOK</Cd>'): string =>
  `<Ntry><Amt Ccy="USD">${amount}</Amt><CdtDbtInd>${indicator}</CdtDbtInd><Sts>${status}</Sts>
   <BookgDt><Dt>2026-01-15</Dt></BookgDt><BkTxCd/><NtryDtls><TxDtls><Refs><EndToEndId>${reference}</EndToEndId></Refs>
   </TxDtls></NtryDtls></Ntry>`;
const document = (entries: string, head = '<?xml version="1.0" encoding="UTF-8"?>'): string =>
  `${head}<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr/><Stmt><Id>S-1</Id>
   <Acct><Ccy>USD</Ccy></Acct>${entries}</Stmt></BkToCstmrStmt></Document>`;
const importOf = (content: string, account = 'clearing:wire'): Promise<Answer> =>
  books.operator.call('POST', PATH, { account, format: 'CAMT053', content });
const unmatched = async (account: string): Promise<any[]> =>
  (await books.operator.call('GET', `${PATH}/unmatched?account=${account}`)).body.items;

describe('a camt.053', () => {
  it('has its own id, and only its booked entries count, in the old and the new form of their status', async () => {
    const content = document(
      entry('10.50', 'CRDT', 'Zürich &amp; 漢字 🏦') +
        entry('3', 'DBIT', 'NOTPROVIDED', 'BOOK') +
        entry('99', 'CRDT', 'pending', '<Cd>PDNG</Cd>'),
    );
    const { body } = await importOf(content);
    expect(body).toMatchObject({ statement_id: 'S-1', asset: 'USD', line_count: 2, format: 'CAMT053' });
    const items = await unmatched('clearing:wire');
    expect(items.map((one) => `${one.direction} ${one.amount} ${one.reference}`).sort()).toEqual([
      'CREDIT 10.5 Zürich & 漢字 🏦',
      'DEBIT 3 NOTPROVIDED',
    ]);
  });

  const BOMB = `<!DOCTYPE Document [<!ENTITY a "${'x'.repeat(100)}"><!ENTITY b "${'&a;'.repeat(50)}">]>`;
  it.each([
    ['an entity bomb', document(entry('1', 'CRDT', '&b;'), BOMB)],
    ['a document type', document('', '<!DOCTYPE Document SYSTEM "file:///etc/passwd">')],
    ['an entity', document(entry('1', 'CRDT', '&xxe;'))],
    ['deep nesting', document('<Ntry>'.repeat(10_000))],
    ['another encoding', document(entry('1', 'CRDT', 'x'), '<?xml version="1.0" encoding="ISO-8859-1"?>')],
    ['no XML', 'Dear bank'],
    ['another message', '<Document><CstmrCdtTrfInitn/></Document>'],
    ['two statements', '<Document><BkToCstmrStmt><Stmt/><Stmt/></BkToCstmrStmt></Document>'],
    ['no booked entry', document('')],
    ['another currency', document(entry('1', 'CRDT', 'x').replace('"USD"', '"EUR"'))],
    ['a float', document(entry('1e2', 'CRDT', 'x'))],
    ['too many decimals', document(entry('1.001', 'CRDT', 'x'))],
    ['no direction', document(entry('1', '', 'x'))],
    ['no date', document(entry('1', 'CRDT', 'x').replace('2026-01-15', 'today'))],
  ])('with %s is refused, and nothing is stored', async (_what, content) => {
    expectInvalid(await importOf(content, 'clearing:cubix'), '/content');
    expect(await unmatched('clearing:cubix')).toEqual([]);
  });
});

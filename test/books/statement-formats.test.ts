import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CSV_COLUMNS } from '../../src/books/csv.ts';
import type { Instant } from '../../src/kernel/instant.ts';
import { readXml, type XmlNode } from '../../src/kernel/xml-reader.ts';
import { statementOf, untilBookedIsFinal } from '../support/books.ts';
import { type Books, createBooks } from '../support/journal.ts';
import { expectInvalid, startTestService, type TestCustomer, type TestService } from '../support/service.ts';

/** Hostile to spreadsheets, to CSV and to XML. */
const REF_IDS = [
  `=HYPERLINK("https://example.com","x")`,
  `</Ntry>&amp;"'<x>`,
  '+1,2',
  '-1',
  '@SUM(1)',
  'Zürich 🏦 漢字',
];
const NOTE = `=cmd|' /C calc'!A0 <b> & "über"`;

let service: TestService;
let books: Books;
let customer: TestCustomer;
let [ada, bob] = ['', ''];
let final: Instant;
beforeAll(async () => {
  service = await startTestService();
  books = await createBooks(service);
  customer = await service.createCustomer();
  ada = await service.createProfile(customer);
  bob = await service.createProfile(customer);
  await books.fund(ada, '1000.5');
  for (const [index, ref_id] of [...REF_IDS, 'r'.repeat(100)].entries()) {
    const body = { from_profile_id: ada, to_profile_id: bob, asset: 'USD', amount: `1.${index}`, ref_id };
    expect((await customer.call('POST', '/v2/transfer/internal', body)).status).toBe(200);
  }
  await books.booked('WRITE_OFF', { profile_id: ada, asset: 'USD', amount: '2', note: NOTE });
  final = await untilBookedIsFinal(service.database);
});
afterAll(() => service.stop());

async function statement(accept: string): Promise<any> {
  const answer = await statementOf(customer, ada, { from: 0n, to: final }, accept);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe(`${accept}; charset=utf-8`);
  return answer.body;
}

/** RFC 4180. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!);
    if (end !== ',') rows.push([]);
  }
  expect(rows.pop()).toEqual([]);
  return rows;
}

describe('a statement as CSV', () => {
  it('has the same figures as JSON, and no cell that a spreadsheet would execute', async () => {
    const json = await statement('application/json');
    const text: string = await statement('text/csv');
    const [header, ...rows] = readCsv(text);
    expect(header).toEqual([...CSV_COLUMNS]);
    const records = rows.map((row) => Object.fromEntries(row.map((cell, index) => [header![index], cell])));
    expect(records.at(0)).toMatchObject({ record: 'OPENING', at: json.from, balance: json.opening.total });
    expect(records.at(-1)).toMatchObject({ record: 'CLOSING', at: json.to, balance: json.closing.total });
    const movements = records.slice(1, -1);
    const safe = (value = ''): string => (/^[=+\-@]/.test(value) ? `'${value}` : value);
    expect(movements).toEqual(
      json.movements.map(({ cause, ...one }: any) => ({
        record: 'MOVEMENT',
        at: one.at,
        asset: 'USD',
        direction: one.direction,
        amount: one.amount,
        balance: one.balance_after,
        cause_type: cause.type,
        cause_kind: cause.kind,
        cause_id: cause.id,
        ref_id: safe(cause.ref_id),
        note: safe(cause.note),
      })),
    );
    expect(movements.map((one) => one.ref_id)).toEqual(expect.arrayContaining(REF_IDS.map(safe)));
    for (const row of rows) for (const cell of row) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
  });
});

const child = (node: XmlNode, name: string): XmlNode => {
  const found = node.children.filter((one) => one.name === name);
  expect({ of: node.name, name, count: found.length }).toEqual({ of: node.name, name, count: 1 });
  return found[0]!;
};
const at = (node: XmlNode, path: string): string => path.split('/').reduce(child, node).text;
const all = (node: XmlNode, name: string): XmlNode[] => node.children.filter((one) => one.name === name);

/** The order of elements in camt.053.001.08; `!` are required, `*` may repeat. Only what is written. */
const ORDER: Readonly<Record<string, string>> = {
  Document: 'BkToCstmrStmt!',
  BkToCstmrStmt: 'GrpHdr! Stmt!*',
  GrpHdr: 'MsgId! CreDtTm! MsgRcpt MsgPgntn OrgnlBizQry AddtlInf',
  Stmt: 'Id! StmtPgntn ElctrncSeqNb RptgSeq LglSeqNb CreDtTm FrToDt CpyDplctInd RptgSrc Acct! RltdAcct Intrst* Bal!* TxsSummry Ntry* AddtlStmtInf',
  FrToDt: 'FrDtTm! ToDtTm!',
  Acct: 'Id! Tp Ccy Nm Prxy Ownr Svcr',
  Bal: 'Tp! CdtLine* Amt! CdtDbtInd! Dt! Avlbty*',
  Ntry: 'NtryRef Amt! CdtDbtInd! RvslInd Sts! BookgDt ValDt AcctSvcrRef Avlbty* BkTxCd! ComssnWvrInd AddtlInfInd AmtDtls Chrgs TechInptChanl Intrst CardTx NtryDtls* AddtlNtryInf',
  Prtry: 'Cd! Issr',
  TxDtls:
    'Refs Amt! CdtDbtInd! AmtDtls Avlbty* BkTxCd Chrgs Intrst RltdPties RltdAgts LclInstrm Purp RltdRmtInf* RmtInf RltdDts RltdPric RltdQties* FinInstrmId Tax RtrInf CorpActn SfkpgAcct CshDpst* CardTx AddtlTxInf SplmtryData*',
  Refs: 'MsgId AcctSvcrRef PmtInfId InstrId EndToEndId UETR TxId MndtId ChqNb ClrSysRef AcctOwnrTxId AcctSvcrTxId MktInfrstrctrTxId PrcgId Prtry*',
};

/** Elements that are out of order, missing or repeated. */
function orderFaults(node: XmlNode): string[] {
  const rules = (ORDER[node.name] ?? '').split(' ').filter((one) => one !== '');
  const names = rules.map((rule) => rule.replaceAll(/[!*]/g, ''));
  const places = node.children.map(({ name }) => names.indexOf(name));
  const own = rules.flatMap((rule, index) => {
    const count = places.filter((place) => place === index).length;
    const missing = rule.includes('!') && count === 0;
    const repeated = !rule.includes('*') && count > 1;
    return missing || repeated ? [`${node.name} has ${count} ${names[index]}`] : [];
  });
  if (rules.length > 0) {
    if (places.includes(-1)) own.push(`${node.name} has an unknown element`);
    if (places.some((place, index) => index > 0 && place < places[index - 1]!))
      own.push(`${node.name} is out of order`);
  }
  return [...own, ...node.children.flatMap(orderFaults)];
}

describe('a statement as camt.053', () => {
  const cents = (text: string): bigint => {
    const [integer, fraction = ''] = text.split('.');
    return BigInt(`${integer}${fraction.padEnd(2, '0')}`);
  };
  const signed = (node: XmlNode): bigint =>
    at(node, 'CdtDbtInd') === 'CRDT' ? cents(at(node, 'Amt')) : -cents(at(node, 'Amt'));

  it('has the elements of the standard in their order, and the figures of the JSON', async () => {
    const json = await statement('application/json');
    const text: string = await statement('application/xml');
    const document = readXml(text, { depthMax: 20, elementsMax: 10_000 });
    expect(document.attributes.get('xmlns')).toBe('urn:iso:std:iso:20022:tech:xsd:camt.053.001.08');
    expect(orderFaults(document)).toEqual([]);
    const stmt = child(child(document, 'BkToCstmrStmt'), 'Stmt');
    const balances = Object.fromEntries(
      all(stmt, 'Bal').map((one) => [
        at(one, 'Tp/CdOrPrtry/Cd'),
        { units: signed(one), at: at(one, 'Dt/DtTm') },
      ]),
    );
    expect(balances).toEqual({
      OPBD: { units: 0n, at: json.from },
      CLBD: { units: cents(json.closing.total), at: json.to },
      CLAV: { units: cents(json.closing.available), at: json.to },
    });
    expect(at(stmt, 'Acct/Id/Othr/Id')).toBe(ada.replaceAll('-', ''));
    const entries = all(stmt, 'Ntry');
    expect(
      entries.map((one) => ({ units: signed(one), at: at(one, 'BookgDt/DtTm'), status: at(one, 'Sts/Cd') })),
    ).toEqual(
      json.movements.map(({ direction, amount, at: when }: any) => ({
        units: direction === 'CREDIT' ? cents(amount) : -cents(amount),
        at: when,
        status: 'BOOK',
      })),
    );
    const sum = entries.reduce((total, one) => total + signed(one), balances.OPBD!.units);
    expect(sum).toBe(balances.CLBD!.units);
    for (const entry of entries) {
      expect(at(entry, 'Amt')).toMatch(/^[0-9]{1,16}\.[0-9]{2}$/);
      expect(child(entry, 'Amt').attributes.get('Ccy')).toBe('USD');
    }
    const details = entries.map((one) => child(child(one, 'NtryDtls'), 'TxDtls'));
    expect(details.map((one) => at(one, 'Refs/EndToEndId')).slice(1, 1 + REF_IDS.length)).toEqual(
      REF_IDS.map((one) => (one.length <= 35 ? one : 'NOTPROVIDED')),
    );
    expect(details.flatMap((one) => all(one, 'AddtlTxInf').map((info) => info.text))).toEqual(
      expect.arrayContaining(['r'.repeat(100), NOTE]),
    );
    for (const name of ['NtryRef', 'AcctSvcrRef'])
      for (const entry of entries) expect(at(entry, name).length).toBeLessThanOrEqual(35);
    expect(new Set(entries.map((one) => at(one, 'NtryRef'))).size).toBe(entries.length);
  });

  it('has the same id whenever the same period is read', async () => {
    const idOf = async (): Promise<string> =>
      at(
        readXml(await statement('application/xml'), { depthMax: 20, elementsMax: 10_000 }),
        'BkToCstmrStmt/Stmt/Id',
      );
    expect(await idOf()).toBe(await idOf());
  });

  it('is refused for an asset that the standard cannot express, and for other media types', async () => {
    for (const asset of ['USDC', 'BTC'])
      expectInvalid(
        await statementOf(customer, ada, { asset, from: 0n, to: final }, 'application/xml'),
        '/header/Accept',
      );
    expectInvalid(await statementOf(customer, ada, { from: 0n, to: final }, 'image/png'), '/header/Accept');
  });
});

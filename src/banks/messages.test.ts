import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../kernel/id.ts';
import { parseInstant } from '../kernel/instant.ts';
import { isNetworkText, lostLetters, networkText } from '../networks/text.ts';
import { decimalOf, unitsOf } from './amount.ts';
import { executionDate, isBeforeCutOff, isDay } from './calendar.ts';
import { readCamt } from './camt.ts';
import { readDocument } from './document.ts';
import { idOf, plainId, uetrOf } from './ids.ts';
import { memoCandidates, memoOf } from './memo.ts';
import { readPain002 } from './pain002.ts';

const USD = { code: 'USD', decimals: 2, kind: 'FIAT', networks: {} } as const;

describe('amounts of messages', () => {
  it('are exact from 0.01 to 999,999,999,999.99', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 99_999_999_999_999n }), (units) => {
        const text = decimalOf(units, USD);
        expect(text).toMatch(/^\d{1,12}\.\d{2}$/);
        expect(unitsOf(text, USD)).toBe(units);
        expect(unitsOf(`${text}000`, USD)).toBe(units);
      }),
      { numRuns: 2_000 },
    );
    expect([1n, 10n, 123_456n].map((one) => decimalOf(one, USD))).toEqual(['0.01', '0.10', '1234.56']);
    expect(decimalOf(7n, { code: 'JPY', decimals: 0 })).toBe('7');
  });

  it.each(['', '.', '-1.00', '1,00', '1.001', '1e3', '0x10', '1.0.0', 'NaN', '1 000.00'])(
    '"%s" is none',
    (text) => {
      expect(unitsOf(text, USD)).toBeUndefined();
    },
  );
});

describe('the ids of a payment', () => {
  it('fit the messages, and lead back to the payment', () => {
    for (let round = 0; round < 100; round += 1) {
      const key = newId();
      expect(plainId(key)).toMatch(/^[0-9a-f]{32}$/);
      expect(idOf(plainId(key).toUpperCase())).toBe(key);
      expect(uetrOf(key)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(uetrOf(key)).toBe(uetrOf(key));
    }
    expect(idOf('NOTPROVIDED')).toBeUndefined();
    expect(idOf(undefined)).toBeUndefined();
  });
});

describe('text for the network', () => {
  it.each([
    ['Jürgen Groß', 'Jurgen Gross'],
    ['Æsir & Søn A/S', 'AEsir + Son A/S'],
    ['Łódź, Đà Nẵng', 'Lodz, Da Nang'],
    ['“Smith” — Co.', "'Smith' - Co."],
    ['a\u0000b\tc  d', 'a.b c d'],
    ['/-: lead', 'lead'],
    ['北京 Ltd', '.. Ltd'],
  ])('%s becomes %s', (text, expected) => {
    expect(networkText(text)).toBe(expected);
  });

  it('is in the character set of the network, whatever it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(isNetworkText(networkText(text))).toBe(true);
        expect(networkText(networkText(text))).toBe(networkText(text));
      }),
    );
  });

  it('tells which letters it loses', () => {
    expect(lostLetters('Jürgen Øre ß')).toEqual([]);
    expect(lostLetters('Иван Smith')).toEqual(['И', 'в', 'а', 'н']);
  });
});

describe('the calendar of the bank', () => {
  const calendar = { timeZone: 'America/New_York', cutOff: '17:00', holidays: new Set(['2026-11-26']) };
  it.each([
    ['2026-11-16T15:00:00Z', '2026-11-16', 'a Monday morning'],
    ['2026-11-16T21:59:00Z', '2026-11-16', 'a minute before the cut-off'],
    ['2026-11-16T22:00:00Z', '2026-11-17', 'at the cut-off'],
    ['2026-11-20T23:00:00Z', '2026-11-23', 'on a Friday evening'],
    ['2026-11-25T23:00:00Z', '2026-11-27', 'before a holiday'],
    ['2026-07-01T20:59:00Z', '2026-07-01', 'in summer time'],
    ['2026-07-01T21:00:00Z', '2026-07-02', 'in summer time, at the cut-off'],
  ])('executes a file of %s on %s: %s', (at, day) => {
    expect(executionDate(parseInstant(at)!, calendar)).toBe(day);
  });

  it('is near its cut-off only on business days', () => {
    expect(isBeforeCutOff(parseInstant('2026-11-16T21:56:00Z')!, calendar, 300_000)).toBe(true);
    expect(isBeforeCutOff(parseInstant('2026-11-16T21:50:00Z')!, calendar, 300_000)).toBe(false);
    expect(isBeforeCutOff(parseInstant('2026-11-21T21:56:00Z')!, calendar, 300_000)).toBe(false);
  });

  it('has only days that exist', () => {
    expect(['2026-02-28', '2026-02-30', '26-02-01', '2026-13-01'].map(isDay)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('the memo of a deposit', () => {
  const known = new Set(['NZ4TBTPRJKQ5', 'ABCDEFGH2345']);
  it.each([
    ['NZ4TBTPRJKQ5'],
    ['nz4t btpr jkq5'],
    ['Invoice 12, ref:NZ4T-BTPR-JKQ5 thank you'],
    ['xxNZ4TBTPRJKQ5yy'],
  ])('is found in "%s"', (text) => {
    expect(memoOf([text], known)).toBe('NZ4TBTPRJKQ5');
  });

  it('is found over the lines of a text', () => {
    expect(memoOf(['/INV/ NZ4TBT', 'PRJKQ5'], known)).toBe('NZ4TBTPRJKQ5');
  });

  it.each([[[]], [['']], [['NZ4TBTPRJKQ']], [['NZ4TBTPRJKQ5 or ABCDEFGH2345']]])(
    'is not certain in %j',
    (texts) => {
      expect(memoOf(texts, known)).toBeUndefined();
    },
  );

  it('is searched in a bounded part of a text', () => {
    expect(memoCandidates(['A1'.repeat(100_000)]).length).toBeLessThan(2_000);
  });
});

describe('a status report', () => {
  const read = async (body: string) =>
    readPain002(
      (
        await readDocument(
          Buffer.from(
            `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.12"><CstmrPmtStsRpt><GrpHdr><MsgId>S1</MsgId></GrpHdr>${body}</CstmrPmtStsRpt></Document>`,
          ),
        )
      ).message,
      USD,
    );

  it.each([
    ['ACSC', 'settled'],
    ['ACCC', 'settled'],
    ['RJCT', 'refused'],
    ['ACTC', 'open'],
    ['ACCP', 'open'],
    ['ACSP', 'open'],
    ['PDNG', 'open'],
    ['PART', 'part'],
    ['XXXX', 'unknown'],
  ])('%s means %s', async (code, meaning) => {
    const report = await read(
      `<OrgnlGrpInfAndSts><OrgnlMsgId>m</OrgnlMsgId><GrpSts>${code}</GrpSts></OrgnlGrpInfAndSts>`,
    );
    expect(report.group).toMatchObject({ code, meaning });
  });

  it('with a duplicate as the reason says nothing about the first file', async () => {
    const report = await read(
      '<OrgnlGrpInfAndSts><OrgnlMsgId>m</OrgnlMsgId><GrpSts>RJCT</GrpSts><StsRsnInf><Rsn><Cd>AM05</Cd></Rsn><AddtlInf>twice</AddtlInf></StsRsnInf></OrgnlGrpInfAndSts>',
    );
    expect(report.group).toEqual({ code: 'RJCT', meaning: 'duplicate', reason: 'AM05 twice' });
  });

  it('has the statuses of payments, and amounts where the bank states them', async () => {
    const report = await read(
      `<OrgnlGrpInfAndSts><OrgnlMsgId>m</OrgnlMsgId><GrpSts>PART</GrpSts></OrgnlGrpInfAndSts><OrgnlPmtInfAndSts>
       <TxInfAndSts><OrgnlEndToEndId>a</OrgnlEndToEndId><TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AC04</Cd></Rsn></StsRsnInf>
       <OrgnlTxRef><Amt><InstdAmt Ccy="USD">1.5</InstdAmt></Amt></OrgnlTxRef></TxInfAndSts></OrgnlPmtInfAndSts>`,
    );
    expect(report.transfers).toEqual([
      {
        code: 'RJCT',
        meaning: 'refused',
        reason: 'AC04',
        endToEndId: 'a',
        units: 150n,
        statedAmount: '1.5 USD',
      },
    ]);
  });
});

describe('a statement', () => {
  const read = async (entries: string) =>
    readCamt(
      'camt.053',
      (
        await readDocument(
          Buffer.from(
            `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>1</Id><Acct><Id><IBAN>US1</IBAN></Id></Acct>${entries}</Stmt></BkToCstmrStmt></Document>`,
          ),
        )
      ).message,
      USD,
    )[0]!.entries;
  const entry = (inner: string, amount = '5.00') =>
    `<Ntry><Amt Ccy="USD">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-16</Dt></BookgDt>${inner}</Ntry>`;

  it('has only booked entries', async () => {
    const pending = entry('<AcctSvcrRef>R</AcctSvcrRef>').replace('BOOK', 'PDNG');
    expect(await read(pending + entry('<AcctSvcrRef>R</AcctSvcrRef>'))).toMatchObject([
      { reference: 'R', units: 500n },
    ]);
  });

  const transaction = (ref: string, amount: string) =>
    `<TxDtls><Refs><AcctSvcrRef>${ref}</AcctSvcrRef></Refs><Amt Ccy="USD">${amount}</Amt></TxDtls>`;
  it('has the transactions of an entry that sums them up', async () => {
    const inner = `<NtryDtls>${transaction('A', '2.00')}${transaction('B', '3.00')}</NtryDtls>`;
    expect((await read(entry(inner))).map(({ reference, units }) => [reference, units])).toEqual([
      ['A', 200n],
      ['B', 300n],
    ]);
  });

  it('keeps an entry whole whose transactions do not add up', async () => {
    const inner = `<AcctSvcrRef>R</AcctSvcrRef><NtryDtls>${transaction('A', '2.00')}${transaction('B', '3.01')}</NtryDtls>`;
    expect((await read(entry(inner))).map(({ reference, units }) => [reference, units])).toEqual([
      ['R', 500n],
    ]);
  });
});

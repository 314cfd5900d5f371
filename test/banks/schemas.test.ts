import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditTransferOf } from '../../src/banks/credit-transfer.ts';
import { child, childrenOf, nodeAt, textAt } from '../../src/banks/document.ts';
import { plainId, uetrOf } from '../../src/banks/ids.ts';
import { pain001Of } from '../../src/banks/pain001.ts';
import { Unpayable } from '../../src/banks/party.ts';
import { notification, readOrder, statement, statusReport } from '../../src/banks/sandbox-messages.ts';
import { newId } from '../../src/kernel/id.ts';
import { readXml, type XmlNode } from '../../src/kernel/xml-reader.ts';
import { isNetworkText } from '../../src/networks/text.ts';
import { institution, person, swift, wire } from '../support/fiat-accounts.ts';
import { OWN_ACCOUNT, paymentFor, settingsFor } from './bank-world.ts';
import { faultsOf } from './schema-judge.ts';

const settings = settingsFor('/unused');
const { debtor, currency } = settings;
type Paid = Parameters<typeof paymentFor>;
function fileOf(payments: readonly Paid[]): string {
  const transfers = payments.map((one) => creditTransferOf(paymentFor(...one), 'USD'));
  return pain001Of(
    {
      messageId: plainId(newId()),
      createdAtNs: 1_794_000_000_123_456_789n,
      executionDate: '2026-11-17',
      transfers,
    },
    debtor,
    currency,
  );
}
const to = (more: object, owner: object = person) => ({
  destination: { instructions: { wire: { ...wire, ...more } }, owner },
});

describe('files of payments', () => {
  const variants: [string, Paid][] = [
    ['to an ABA number', [newId(), '1.5']],
    ['to a BIC', [newId(), '999999999999.99', to({ routing_details: swift }, institution)]],
    [
      'to an IBAN',
      [newId(), '0.01', to({ routing_details: swift, account_number: 'DE89370400440532013000' })],
    ],
    ['over an intermediary bank', [newId(), '7', to({ intermediary_routing_details: swift })]],
    ['without a memo', [newId(), '7', { memo: null }]],
    ['with letters of other languages', [newId(), '7', { memo: 'Größe <&> "Ærø" 東京' }]],
  ];

  it.each(variants)('are valid by the official schema: a payment %s', async (_, payment) => {
    expect(await faultsOf('pain.001.001.09', fileOf([payment]))).toEqual([]);
  });

  it('are valid with all of them together', async () => {
    expect(await faultsOf('pain.001.001.09', fileOf(variants.map(([, payment]) => payment)))).toEqual([]);
  });

  it('are found invalid if they are: the judge works', async () => {
    const text = fileOf([variants[0]![1]]).replace('<PmtMtd>TRF</PmtMtd>', '<PmtMtd>XXX</PmtMtd>');
    expect((await faultsOf('pain.001.001.09', text)).join()).toContain('PmtMtd');
  });

  const nodesOf = (node: XmlNode): XmlNode[] => [node, ...node.children.flatMap(nodesOf)];
  const read = (text: string): XmlNode => readXml(text, { depthMax: 50, elementsMax: 100_000 });

  it('obey the rules of the networks that the schema does not have', () => {
    const root = read(fileOf(variants.map(([, payment]) => payment)));
    for (const { text, name } of nodesOf(root).filter(({ children }) => children.length === 0))
      expect([name, isNetworkText(text)]).toEqual([name, true]);
    const information = nodeAt(root, 'CstmrCdtTrfInitn/PmtInf');
    const transfers = childrenOf(information, 'CdtTrfTxInf');
    expect(transfers).toHaveLength(variants.length);
    for (const party of [child(information, 'Dbtr'), ...transfers.map((one) => child(one, 'Cdtr'))]) {
      expect(textAt(party, 'PstlAdr/TwnNm')).toBe('New York');
      expect(textAt(party, 'PstlAdr/Ctry')).toBe('US');
    }
    for (const [index, transfer] of transfers.entries()) {
      const key = variants[index]![1][0];
      expect(textAt(transfer, 'PmtId/EndToEndId')).toBe(plainId(key));
      expect(textAt(transfer, 'PmtId/UETR')).toBe(uetrOf(key));
    }
    expect(textAt(root, 'CstmrCdtTrfInitn/GrpHdr/NbOfTxs')).toBe(String(variants.length));
    expect(textAt(root, 'CstmrCdtTrfInitn/GrpHdr/CtrlSum')).toBe('1000000000022.50');
  });

  it('are read back with the same amounts, ids and account, whatever the payments', async () => {
    const anyText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            units: fc.bigInt({ min: 1n, max: 99_999_999_999_999n }),
            memo: anyText,
            name: anyText,
            city: anyText,
          }),
          { minLength: 1, maxLength: 20 },
        ),
        async (rows) => {
          const payments = rows.flatMap(({ units, memo, name, city }) => {
            const payment = {
              ...paymentFor(newId(), '1', {
                memo,
                ...to(
                  { fiat_account_owner_address: { country: 'DEU', city } },
                  { institution_details: { name } },
                ),
              }),
              amountUnits: units,
            };
            try {
              return [creditTransferOf(payment, 'USD')];
            } catch (error) {
              // Text that the network cannot carry is refused, and never sent in another form.
              expect(error).toBeInstanceOf(Unpayable);
              return [];
            }
          });
          if (payments.length === 0) return;
          const text = pain001Of(
            {
              messageId: plainId(newId()),
              createdAtNs: 1_794_000_000_000_000_000n,
              executionDate: '2026-11-17',
              transfers: payments,
            },
            debtor,
            currency,
          );
          const order = readOrder(Buffer.from(text), 2);
          expect(order.fault).toBeUndefined();
          expect(order.account).toBe(OWN_ACCOUNT);
          expect(order.payments.map(({ units, endToEndId }) => [units, endToEndId])).toEqual(
            payments.map(({ units, key }) => [units, plainId(key)]),
          );
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('messages of the sandbox bank are valid by the official schema', () => {
  const at = '2026-11-16T10:00:00Z';
  const order = { messageId: plainId(newId()), paymentInformationId: 'x-1' };
  const entry = { reference: 'REF1', direction: 'CRDT', amount: '5.00', bookedOn: '2026-11-16' } as const;
  const account = { id: 'N1', at, account: OWN_ACCOUNT, currency: 'USD' };
  const full = { ...entry, text: 'NZ4T', sender: 'Ada', endToEndId: 'e', returned: 'AC04' };

  it.each([
    ['pain.002.001.12', statusReport({ id: 'S1', at, order, group: { code: 'RJCT', reason: 'AM05' } })],
    [
      'pain.002.001.12',
      statusReport({
        id: 'S1',
        at,
        order,
        statuses: [{ endToEndId: 'e', code: 'RJCT', reason: 'AC04', amount: '1.00' }],
      }),
    ],
    ['camt.054.001.08', notification({ ...account, entries: [entry, full] })],
    [
      'camt.053.001.08',
      statement({
        ...account,
        day: '2026-11-16',
        opening: { amount: '0.00', direction: 'CRDT' },
        closing: { amount: '5.00', direction: 'DBIT' },
        entries: [full],
        pending: [entry],
      }),
    ],
  ])('%s', async (name, text) => {
    expect(await faultsOf(name, text)).toEqual([]);
  });
});

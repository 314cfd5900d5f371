import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { childrenOf, nodeAt, readDocument, textAt } from '../../src/banks/document.ts';
import { plainId, uetrOf } from '../../src/banks/ids.ts';
import { type FedNetwork, fednowMessageId, orderText, payableOf } from '../../src/banks/orders.ts';
import { readPacs002 } from '../../src/banks/pacs002.ts';
import { fedArrival, fedReturn, fedStatus, readFedOrder } from '../../src/banks/sandbox-pacs.ts';
import { newId } from '../../src/kernel/id.ts';
import { readXml } from '../../src/kernel/xml-reader.ts';
import type { Payment } from '../../src/rails/rail.ts';
import { institution, person, swift, wire } from '../support/fiat-accounts.ts';
import { OWN_ACCOUNT, paymentFor, settingsFor } from './bank-world.ts';
import { faultsOf } from './schema-judge.ts';

const NETWORKS = ['fedwire', 'fednow'] as const;
const settings = {
  fedwire: settingsFor('/unused', { messages: 'fedwire', input_source: 'B1QDRCQR' }),
  fednow: settingsFor('/unused', { messages: 'fednow' }),
};
const idOn = (network: FedNetwork): string =>
  network === 'fedwire'
    ? '20261117B1QDRCQR000001'
    : fednowMessageId(newId(), '2026-11-17', settings.fednow.debtor);
const at = '2026-11-16T10:00:00Z';
const day = '2026-11-16';

function messageOf(network: FedNetwork, payment: Payment): string {
  const transfers = [payableOf(payment, settings[network])];
  const file = {
    messageId: idOn(network),
    createdAtNs: 1_794_000_000_123_456_789n,
    executionDate: '2026-11-17',
    transfers,
  };
  return orderText(file, settings[network]);
}
const to = (more: object, owner: object = person): Partial<Payment> => ({
  destination: { instructions: { wire: { ...wire, ...more } }, owner },
});
const transferIn = (text: string) =>
  nodeAt(readXml(text, { depthMax: 50, elementsMax: 10_000 }), 'FIToFICstmrCdtTrf/CdtTrfTxInf');
const abaOf = (text: string, name: string): string | undefined =>
  textAt(transferIn(text), `${name}/FinInstnId/ClrSysMmbId/MmbId`);

describe.each(NETWORKS)('a pacs.008 for %s', (network) => {
  const variants: [string, Partial<Payment>][] = [
    ['to a person', {}],
    ['to an institution', to({}, institution)],
    ['without a memo', { memo: null }],
    [
      'to an address without postal code',
      to({ fiat_account_owner_address: { country: 'US', city: 'Reno' } }),
    ],
    ['with letters of other languages', { memo: 'Größe <&> "Ærø" 東京' }],
  ];
  it.each(variants)('is valid by the official schema: %s', async (_, more) => {
    const text = messageOf(network, paymentFor(newId(), '1234.5', more));
    expect(await faultsOf('pacs.008.001.08', text)).toEqual([]);
  });

  it('obeys the rules of the network that the schema does not have', () => {
    const key = newId();
    const text = messageOf(network, paymentFor(key, '1234.5'));
    const root = readXml(text, { depthMax: 50, elementsMax: 10_000 });
    const header = nodeAt(root, 'FIToFICstmrCdtTrf/GrpHdr');
    const transfer = transferIn(text);
    expect(textAt(header, 'MsgId')).toMatch(
      network === 'fedwire' ? /^\d{8}[A-Z0-9]{8}\d{6}$/ : /^\d{8}[A-Za-z0-9]{9}[A-Za-z0-9]{1,18}$/,
    );
    expect({
      count: textAt(header, 'NbOfTxs'),
      transfers: childrenOf(nodeAt(root, 'FIToFICstmrCdtTrf'), 'CdtTrfTxInf').length,
      method: textAt(header, 'SttlmInf/SttlmMtd'),
      system: textAt(header, 'SttlmInf/ClrSys/Cd'),
      instrument: textAt(transfer, 'PmtTpInf/LclInstrm/Prtry'),
      purpose: textAt(transfer, 'PmtTpInf/CtgyPurp/Prtry'),
      charges: textAt(transfer, 'ChrgBr'),
      amount: textAt(transfer, 'IntrBkSttlmAmt'),
      instructed: textAt(transfer, 'InstdAmt'),
      date: textAt(transfer, 'IntrBkSttlmDt'),
      id: textAt(transfer, 'PmtId/EndToEndId'),
      uetr: textAt(transfer, 'PmtId/UETR'),
      from: abaOf(text, 'InstgAgt'),
      to: abaOf(text, 'InstdAgt'),
    }).toEqual({
      count: '1',
      transfers: 1,
      method: 'CLRG',
      system: network === 'fedwire' ? 'FDW' : 'FDN',
      instrument: network === 'fedwire' ? 'CTRC' : 'FDNA',
      purpose: network === 'fedwire' ? undefined : 'BIZZ',
      charges: 'SLEV',
      amount: '1234.50',
      instructed: network === 'fedwire' ? '1234.50' : undefined,
      date: '2026-11-17',
      id: plainId(key),
      uetr: uetrOf(key),
      from: '021000021',
      to: '021000021',
    });
  });

  it('is read back with the same amount, ids and account, whatever the amount', () => {
    const max = network === 'fedwire' ? 999_999_999_999n : 1_000_000_000n;
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max }), (units) => {
        const key = newId();
        const payment = { ...paymentFor(key, '1'), amountUnits: units };
        const order = readFedOrder(Buffer.from(messageOf(network, payment)), 2);
        expect(order).toMatchObject({ fault: undefined, account: OWN_ACCOUNT, sender: '021000021' });
        expect(order.payments).toMatchObject([{ units, endToEndId: plainId(key), uetr: uetrOf(key) }]);
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    [
      'an amount beyond the limit of the network',
      network === 'fedwire' ? '10000000000' : '10000000.01',
      {},
      'The amount is larger than',
    ],
    ['a bank that has only a BIC', '5', to({ routing_details: swift }), 'reaches banks by their ABA number'],
  ])('is refused for %s', (_, amount, more, why) => {
    expect(() => messageOf(network, paymentFor(newId(), amount, more))).toThrow(why);
  });

  it('answers of the sandbox bank are valid by their schemas', async () => {
    const head = { network, id: idOn(network), at, own: '021000021' };
    const uetr = uetrOf(newId());
    const said = { endToEndId: 'e', code: 'RJCT', reason: 'AC04' };
    const status = fedStatus(head, { messageId: head.id, name: 'pacs.008.001.08', uetr }, said);
    const returned = { endToEndId: 'e', uetr, amount: '1.00', day, account: OWN_ACCOUNT, reason: 'AC04' };
    const back = fedReturn(head, { ...returned, messageId: head.id, creditor: 'Ada' });
    const come = { amount: '1.00', day, account: OWN_ACCOUNT, text: 'x', sender: 'Ada', uetr };
    expect(await faultsOf('pacs.002.001.10', status)).toEqual([]);
    expect(await faultsOf('pacs.004.001.10', back)).toEqual([]);
    expect(await faultsOf('pacs.008.001.08', fedArrival(head, come))).toEqual([]);
  });
});

describe('intermediary banks', () => {
  const routed = to({ routing_details: swift, intermediary_routing_details: wire.routing_details });
  it('receive the message on Fedwire', async () => {
    const text = messageOf('fedwire', paymentFor(newId(), '5', routed));
    expect(abaOf(text, 'InstdAgt')).toBe('021000021');
    expect(textAt(transferIn(text), 'CdtrAgt/FinInstnId/BICFI')).toBe('CHASUS33XXX');
    expect(await faultsOf('pacs.008.001.08', text)).toEqual([]);
  });
  it('do not exist on FedNow', () => {
    expect(() => messageOf('fednow', paymentFor(newId(), '5', routed))).toThrow('no intermediary bank');
  });
});

describe('a pacs.002', () => {
  const usd = settings.fedwire.currency;
  it('about several messages is a report for each of them', async () => {
    const head = { network: 'fednow', id: 'x', at, own: '021000021' } as const;
    const one = fedStatus(head, { messageId: 'a', name: 'pacs.008.001.08' }, { code: 'ACSC' });
    const [, transaction] = /(<TxInfAndSts>.*<\/TxInfAndSts>)/.exec(one)!;
    const two = one.replace('</TxInfAndSts>', `</TxInfAndSts>${transaction!.replace('>a<', '>b<')}`);
    const { message } = await readDocument(Buffer.from(two));
    expect(readPacs002(message, usd)).toMatchObject([
      { originalMessageId: 'a', group: { meaning: 'settled' }, transfers: [] },
      { originalMessageId: 'b', group: { meaning: 'settled' }, transfers: [] },
    ]);
  });

  it.each([
    ['ACTC', 'open'],
    ['ACSP', 'open'],
    ['ACWP', 'open'],
    ['PDNG', 'open'],
    ['RCVD', 'open'],
    ['ACSC', 'settled'],
    ['ACCC', 'settled'],
    ['RJCT', 'refused'],
    ['BLCK', 'blocked'],
    ['WHAT', 'unknown'],
  ])('with %s means for the money: %s', async (code, meaning) => {
    const head = { network: 'fedwire', id: 'x', at, own: '021000021' } as const;
    const uetr = uetrOf(newId());
    const text = fedStatus(head, { messageId: 'a', name: 'pacs.008.001.08', uetr }, { code });
    const { message } = await readDocument(Buffer.from(text));
    expect(readPacs002(message, usd)[0]!.transfers).toMatchObject([{ code, meaning, uetr }]);
  });
});

import type { Asset } from '../kernel/asset.ts';
import type { XmlElement } from '../kernel/xml.ts';
import { decimalOf } from './amount.ts';
import type { CreditTransfer } from './credit-transfer.ts';
import { messageText, secondOf } from './document-text.ts';
import { plainId, uetrOf } from './ids.ts';
import type { FedRules } from './orders.ts';
import type { Debtor, PaymentFile } from './pain001.ts';
import {
  type Agent,
  accountElement,
  agentElement,
  memberElement,
  type Party,
  partyElement,
} from './party.ts';

/** ISO 20022 pacs.008.001.08, customer credit transfer between banks, as Fedwire and FedNow take it: one transfer each. */
export const PACS_008 = 'pacs.008.001.08';

/** Only the number: the network knows the bank. */
const routed = (name: string, agent: Agent): XmlElement =>
  'aba' in agent ? [name, [['FinInstnId', [memberElement(agent.aba)]]]] : agentElement(name, agent);

function fitting<Addressed extends { readonly address?: Party['address'] | undefined }>(
  party: Addressed,
  { needsWholeAddress }: FedRules,
): Addressed {
  const { address } = party;
  const isWhole = address?.postCode !== undefined && address.province !== undefined;
  return !needsWholeAddress || isWhole ? party : { ...party, address: undefined };
}

function transferElement(
  transfer: CreditTransfer,
  { executionDate }: PaymentFile,
  debtor: Debtor,
  currency: Asset,
  rules: FedRules,
): XmlElement {
  const { key, units, creditor, creditorAccount, creditorAgent, intermediary, remittance } = transfer;
  const amount = (name: string): XmlElement => [name, decimalOf(units, currency), { Ccy: currency.code }];
  const { localInstrument, categoryPurpose, hasInstructedAmount } = rules;
  const agent = (name: string, one: Agent): XmlElement =>
    agentElement(name, 'aba' in one ? fitting(one, rules) : one);
  return [
    'CdtTrfTxInf',
    [
      [
        'PmtId',
        [
          ['InstrId', plainId(key)],
          ['EndToEndId', plainId(key)],
          ['UETR', uetrOf(key)],
        ],
      ],
      [
        'PmtTpInf',
        [
          ['LclInstrm', [['Prtry', localInstrument]]],
          categoryPurpose === undefined ? undefined : ['CtgyPurp', [['Prtry', categoryPurpose]]],
        ],
      ],
      amount('IntrBkSttlmAmt'),
      ['IntrBkSttlmDt', executionDate],
      hasInstructedAmount ? amount('InstdAmt') : undefined,
      ['ChrgBr', debtor.chargeBearer],
      routed('InstgAgt', debtor.agent),
      routed('InstdAgt', intermediary ?? creditorAgent),
      partyElement('Dbtr', fitting(debtor.party, rules)),
      accountElement('DbtrAcct', debtor.account),
      agent('DbtrAgt', debtor.agent),
      agent('CdtrAgt', creditorAgent),
      partyElement('Cdtr', fitting(creditor, rules)),
      accountElement('CdtrAcct', creditorAccount),
      remittance === '' ? undefined : ['RmtInf', [['Ustrd', remittance]]],
    ],
  ];
}

export function pacs008Of(file: PaymentFile, debtor: Debtor, currency: Asset, rules: FedRules): string {
  const [transfer, ...others] = file.transfers;
  if (transfer === undefined || others.length > 0) throw new Error('a pacs.008 must have one payment');
  const header: XmlElement = [
    'GrpHdr',
    [
      ['MsgId', file.messageId],
      ['CreDtTm', secondOf(file.createdAtNs)],
      ['NbOfTxs', '1'],
      [
        'SttlmInf',
        [
          ['SttlmMtd', 'CLRG'],
          ['ClrSys', [['Cd', rules.clearingSystem]]],
        ],
      ],
    ],
  ];
  const body = transferElement(transfer, file, debtor, currency, rules);
  return messageText(PACS_008, ['FIToFICstmrCdtTrf', [header, body]]);
}

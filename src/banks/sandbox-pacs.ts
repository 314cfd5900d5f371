import type { XmlElement } from '../kernel/xml.ts';
import { readXml, type XmlNode } from '../kernel/xml-reader.ts';
import { BANK_LIMITS } from '../limits-banks.ts';
import { unitsOf } from './amount.ts';
import { childrenOf, nodeAt, textAt } from './document.ts';
import { messageText } from './document-text.ts';
import { FED_RULES, type FedNetwork } from './orders.ts';
import { accountElement, memberElement } from './party.ts';
import type { Order, SandboxStatus } from './sandbox-messages.ts';

/** Messages of the sandbox bank as the other side of Fedwire or FedNow. */

/** The ABA numbers of the network, and of the bank that pays and is paid over it. */
const NETWORK_ABA = '021151080';
const OTHER_BANK_ABA = '121182904';

const member = (name: string, aba: string): XmlElement => [name, [['FinInstnId', [memberElement(aba)]]]];
const named = (name: string, text: string): XmlElement => [name, [['Pty', [['Nm', text]]]]];

/** Ids as the network prescribes them. */
export const fedId = (network: FedNetwork, day: string, number: number): string =>
  network === 'fedwire'
    ? `${day.replaceAll('-', '')}SANDBANK${String(number).padStart(6, '0')}`
    : `${day.replaceAll('-', '')}${OTHER_BANK_ABA}${String(number).padStart(10, '0')}`;

export type FedOrder = Order & { readonly sender: string };

/** Throws if it is no pacs.008 at all. */
export function readFedOrder(bytes: Buffer, decimals: number): FedOrder {
  const root = readXml(bytes.toString('utf8'), {
    depthMax: BANK_LIMITS.receivedDepthMax,
    elementsMax: BANK_LIMITS.receivedElementsMax,
  });
  const message = nodeAt(root, 'FIToFICstmrCdtTrf');
  const nodes = childrenOf(message, 'CdtTrfTxInf');
  const [node] = nodes;
  const messageId = textAt(message, 'GrpHdr/MsgId');
  if (messageId === undefined || node === undefined) throw new Error('it is not a pacs.008');
  const amount = nodeAt(node, 'IntrBkSttlmAmt');
  const isWhole = nodes.length === 1 && textAt(message, 'GrpHdr/NbOfTxs') === '1';
  return {
    messageId,
    paymentInformationId: '',
    account: accountOf(node),
    sender: textAt(node, 'InstgAgt/FinInstnId/ClrSysMmbId/MmbId') ?? '',
    payments: [
      {
        endToEndId: textAt(node, 'PmtId/EndToEndId') ?? '',
        uetr: textAt(node, 'PmtId/UETR') ?? '',
        units: unitsOf(amount?.text ?? '', { decimals }) ?? 0n,
        amount: amount?.text ?? '',
        currency: amount?.attributes.get('Ccy') ?? '',
        creditor: textAt(node, 'Cdtr/Nm') ?? '',
        text: textAt(node, 'RmtInf/Ustrd') ?? '',
      },
    ],
    fault: isWhole ? undefined : 'AM10',
  };
}

const accountOf = (node: XmlNode): string =>
  textAt(node, 'DbtrAcct/Id/IBAN') ?? textAt(node, 'DbtrAcct/Id/Othr/Id') ?? '';

export type FedHeader = {
  readonly network: FedNetwork;
  readonly id: string;
  readonly at: string;
  /** The ABA number of the operator. */
  readonly own: string;
};

/** Fedwire has codes of its own, and explains each. */
const reasonElement = (network: FedNetwork, reason: string): XmlElement =>
  network === 'fedwire'
    ? [
        'StsRsnInf',
        [
          ['Rsn', [['Prtry', reason]]],
          ['AddtlInf', 'Refused by the sandbox bank'],
        ],
      ]
    : ['StsRsnInf', [['Rsn', [['Cd', reason]]]]];

/** pacs.002.001.10: what the network says about one message. Fedwire names the payment by its UETR alone. */
export function fedStatus(
  { network, id, at, own }: FedHeader,
  about: { readonly messageId: string; readonly name: string; readonly uetr?: string | undefined },
  {
    endToEndId,
    code,
    reason,
  }: Omit<SandboxStatus, 'endToEndId'> & { readonly endToEndId?: string | undefined },
): string {
  const isNamed = network === 'fednow' && endToEndId !== undefined;
  return messageText('pacs.002.001.10', [
    'FIToFIPmtStsRpt',
    [
      [
        'GrpHdr',
        [
          ['MsgId', id],
          ['CreDtTm', at],
        ],
      ],
      [
        'TxInfAndSts',
        [
          [
            'OrgnlGrpInf',
            [
              ['OrgnlMsgId', about.messageId],
              ['OrgnlMsgNmId', about.name],
              ['OrgnlCreDtTm', at],
            ],
          ],
          isNamed ? ['OrgnlInstrId', endToEndId] : undefined,
          isNamed ? ['OrgnlEndToEndId', endToEndId] : undefined,
          about.uetr === undefined ? undefined : ['OrgnlUETR', about.uetr],
          ['TxSts', code],
          reason === undefined ? undefined : reasonElement(network, reason),
          member('InstgAgt', NETWORK_ABA),
          member('InstdAgt', own),
        ],
      ],
    ],
  ]);
}

const settlement = (network: FedNetwork): XmlElement => [
  'SttlmInf',
  [
    ['SttlmMtd', 'CLRG'],
    ['ClrSys', [['Cd', FED_RULES[network].clearingSystem]]],
  ],
];
const header = ({ network, id, at }: FedHeader): XmlElement => [
  'GrpHdr',
  [['MsgId', id], ['CreDtTm', at], ['NbOfTxs', '1'], settlement(network)],
];

export type FedReturned = {
  readonly messageId: string;
  readonly endToEndId: string;
  readonly uetr: string;
  readonly amount: string;
  readonly day: string;
  readonly account: string;
  readonly creditor: string;
  readonly reason: string;
};

/** pacs.004.001.10: a payment comes back. */
export function fedReturn(head: FedHeader, returned: FedReturned): string {
  const { messageId, endToEndId, uetr, amount, day, account, creditor, reason } = returned;
  const { network, own, at } = head;
  const usd = (name: string): XmlElement => [name, amount, { Ccy: 'USD' }];
  const { localInstrument } = FED_RULES[network];
  return messageText('pacs.004.001.10', [
    'PmtRtr',
    [
      header(head),
      [
        'TxInf',
        [
          ['RtrId', head.id],
          [
            'OrgnlGrpInf',
            [
              ['OrgnlMsgId', messageId],
              ['OrgnlMsgNmId', 'pacs.008.001.08'],
              ['OrgnlCreDtTm', at],
            ],
          ],
          ['OrgnlEndToEndId', endToEndId],
          ['OrgnlUETR', uetr],
          usd('OrgnlIntrBkSttlmAmt'),
          ['OrgnlIntrBkSttlmDt', day],
          usd('RtrdIntrBkSttlmAmt'),
          ['IntrBkSttlmDt', day],
          network === 'fedwire' ? usd('RtrdInstdAmt') : undefined,
          ['ChrgBr', 'SLEV'],
          member('InstgAgt', OTHER_BANK_ABA),
          member('InstdAgt', own),
          [
            'RtrChain',
            [
              named('Dbtr', creditor),
              member('DbtrAgt', OTHER_BANK_ABA),
              member('CdtrAgt', own),
              named('Cdtr', 'Ferry'),
              accountElement('CdtrAcct', account),
            ],
          ],
          ['RtrRsnInf', [['Rsn', [['Cd', reason]]]]],
          ['OrgnlTxRef', [['PmtTpInf', [['LclInstrm', [['Prtry', localInstrument]]]]]]],
        ],
      ],
    ],
  ]);
}

export type FedArrival = {
  readonly amount: string;
  readonly day: string;
  readonly account: string;
  readonly text: string;
  readonly sender: string;
  readonly uetr: string;
};

/** pacs.008.001.08: another bank pays the operator. */
export function fedArrival(
  head: FedHeader,
  { amount, day, account, text, sender, uetr }: FedArrival,
): string {
  const { network, own, id } = head;
  const { localInstrument, categoryPurpose, hasInstructedAmount } = FED_RULES[network];
  const usd = (name: string): XmlElement => [name, amount, { Ccy: 'USD' }];
  const purpose: XmlElement | undefined =
    categoryPurpose === undefined ? undefined : ['CtgyPurp', [['Prtry', categoryPurpose]]];
  return messageText('pacs.008.001.08', [
    'FIToFICstmrCdtTrf',
    [
      header(head),
      [
        'CdtTrfTxInf',
        [
          [
            'PmtId',
            [
              ['InstrId', id],
              ['EndToEndId', id],
              ['UETR', uetr],
            ],
          ],
          ['PmtTpInf', [['LclInstrm', [['Prtry', localInstrument]]], purpose]],
          usd('IntrBkSttlmAmt'),
          ['IntrBkSttlmDt', day],
          hasInstructedAmount ? usd('InstdAmt') : undefined,
          ['ChrgBr', 'SLEV'],
          member('InstgAgt', OTHER_BANK_ABA),
          member('InstdAgt', own),
          ['Dbtr', [['Nm', sender]]],
          accountElement('DbtrAcct', '5647772655'),
          member('DbtrAgt', OTHER_BANK_ABA),
          member('CdtrAgt', own),
          ['Cdtr', [['Nm', 'Ferry']]],
          accountElement('CdtrAcct', account),
          text === '' ? undefined : ['RmtInf', [['Ustrd', text]]],
        ],
      ],
    ],
  ]);
}

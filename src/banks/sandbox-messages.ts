import type { XmlElement } from '../kernel/xml.ts';
import { readXml } from '../kernel/xml-reader.ts';
import { BANK_LIMITS } from '../limits-banks.ts';
import { unitsOf } from './amount.ts';
import { child, childrenOf, nodeAt, textAt } from './document.ts';
import { messageText as document } from './document-text.ts';
import { accountElement } from './party.ts';

/** Messages of the sandbox bank: the other side of those that Ferry writes and reads. Amounts are decimal strings. */

export type OrderedPayment = {
  readonly endToEndId: string;
  readonly uetr: string;
  readonly units: bigint;
  readonly amount: string;
  readonly currency: string;
  readonly creditor: string;
  readonly text: string;
};

export type Order = {
  readonly messageId: string;
  readonly paymentInformationId: string;
  readonly account: string;
  readonly payments: readonly OrderedPayment[];
  /** Why the bank refuses the file, as a code of ISO 20022; undefined if it does not. */
  readonly fault: string | undefined;
};

/** Throws if it is no pain.001 at all. */
export function readOrder(bytes: Buffer, decimals: number): Order {
  const root = readXml(bytes.toString('utf8'), {
    depthMax: BANK_LIMITS.receivedDepthMax,
    elementsMax: BANK_LIMITS.receivedElementsMax,
  });
  const message = child(root, 'CstmrCdtTrfInitn');
  const information = child(message, 'PmtInf');
  const messageId = textAt(message, 'GrpHdr/MsgId');
  if (messageId === undefined || information === undefined) throw new Error('it is not a pain.001');
  const payments = childrenOf(information, 'CdtTrfTxInf').map((node): OrderedPayment => {
    const amount = nodeAt(node, 'Amt/InstdAmt');
    return {
      endToEndId: textAt(node, 'PmtId/EndToEndId') ?? '',
      uetr: textAt(node, 'PmtId/UETR') ?? '',
      units: unitsOf(amount?.text ?? '', { decimals }) ?? 0n,
      amount: amount?.text ?? '',
      currency: amount?.attributes.get('Ccy') ?? '',
      creditor: textAt(node, 'Cdtr/Nm') ?? '',
      text: textAt(node, 'RmtInf/Ustrd') ?? '',
    };
  });
  const sum = payments.reduce((total, { units }) => total + units, 0n);
  const isWhole =
    textAt(message, 'GrpHdr/NbOfTxs') === String(payments.length) &&
    unitsOf(textAt(message, 'GrpHdr/CtrlSum') ?? '', { decimals }) === sum;
  return {
    messageId,
    paymentInformationId: textAt(information, 'PmtInfId') ?? '',
    account: textAt(information, 'DbtrAcct/Id/IBAN') ?? textAt(information, 'DbtrAcct/Id/Othr/Id') ?? '',
    payments,
    fault: isWhole ? undefined : 'AM10',
  };
}

const header = (id: string, at: string): XmlElement => [
  'GrpHdr',
  [
    ['MsgId', id],
    ['CreDtTm', at],
  ],
];

export type SandboxStatus = {
  readonly endToEndId: string;
  readonly code: string;
  readonly reason?: string | undefined;
  readonly amount?: string;
  readonly currency?: string;
};

const reasonElement = (reason: string | undefined): XmlElement | undefined =>
  reason === undefined ? undefined : ['StsRsnInf', [['Rsn', [['Cd', reason]]]]];

/** pain.002.001.12 */
export function statusReport(report: {
  readonly id: string;
  readonly at: string;
  readonly order: Pick<Order, 'messageId' | 'paymentInformationId'>;
  readonly group?: { readonly code: string; readonly reason?: string | undefined };
  readonly statuses?: readonly SandboxStatus[];
}): string {
  const { id, at, order, group, statuses = [] } = report;
  const transactions = statuses.map(
    ({ endToEndId, code, reason, amount, currency }): XmlElement => [
      'TxInfAndSts',
      [
        ['OrgnlInstrId', endToEndId],
        ['OrgnlEndToEndId', endToEndId],
        ['TxSts', code],
        reasonElement(reason),
        amount === undefined
          ? undefined
          : ['OrgnlTxRef', [['Amt', [['InstdAmt', amount, { Ccy: currency ?? 'USD' }]]]]],
      ],
    ],
  );
  return document('pain.002.001.12', [
    'CstmrPmtStsRpt',
    [
      header(id, at),
      [
        'OrgnlGrpInfAndSts',
        [
          ['OrgnlMsgId', order.messageId],
          ['OrgnlMsgNmId', 'pain.001.001.09'],
          group === undefined ? undefined : ['GrpSts', group.code],
          reasonElement(group?.reason),
        ],
      ],
      transactions.length === 0
        ? undefined
        : ['OrgnlPmtInfAndSts', [['OrgnlPmtInfId', order.paymentInformationId], ...transactions]],
    ],
  ]);
}

export type SandboxEntry = {
  readonly reference: string;
  /** Of the message between banks. */
  readonly messageId?: string | undefined;
  readonly direction: 'CRDT' | 'DBIT';
  readonly amount: string;
  readonly bookedOn: string;
  readonly endToEndId?: string | undefined;
  readonly text?: string | undefined;
  readonly sender?: string | undefined;
  /** The reason of a return. */
  readonly returned?: string | undefined;
};

function entryElement(entry: SandboxEntry, currency: string, status: string): XmlElement {
  const { reference, messageId, direction, amount, bookedOn, endToEndId, text, sender, returned } = entry;
  const amounts: XmlElement[] = [
    ['Amt', amount, { Ccy: currency }],
    ['CdtDbtInd', direction],
  ];
  return [
    'Ntry',
    [
      ...amounts,
      ['Sts', [['Cd', status]]],
      ['BookgDt', [['Dt', bookedOn]]],
      ['ValDt', [['Dt', bookedOn]]],
      ['AcctSvcrRef', reference],
      ['BkTxCd', [['Prtry', [['Cd', 'WIRE']]]]],
      [
        'NtryDtls',
        [
          [
            'TxDtls',
            [
              [
                'Refs',
                [
                  messageId === undefined ? undefined : ['MsgId', messageId],
                  ['AcctSvcrRef', reference],
                  ['EndToEndId', endToEndId ?? 'NOTPROVIDED'],
                ],
              ],
              ...amounts,
              sender === undefined ? undefined : ['RltdPties', [['Dbtr', [['Pty', [['Nm', sender]]]]]]],
              text === undefined || text === '' ? undefined : ['RmtInf', [['Ustrd', text]]],
              returned === undefined ? undefined : ['RtrInf', [['Rsn', [['Cd', returned]]]]],
            ],
          ],
        ],
      ],
    ],
  ];
}

type Reported = {
  readonly id: string;
  readonly at: string;
  readonly account: string;
  readonly currency: string;
  readonly entries: readonly SandboxEntry[];
};

/** camt.054.001.08 */
export function notification({ id, at, account, currency, entries }: Reported): string {
  return document('camt.054.001.08', [
    'BkToCstmrDbtCdtNtfctn',
    [
      header(id, at),
      [
        'Ntfctn',
        [
          ['Id', id],
          ['CreDtTm', at],
          accountElement('Acct', account, currency),
          ...entries.map((entry) => entryElement(entry, currency, 'BOOK')),
        ],
      ],
    ],
  ]);
}

export type SandboxBalance = { readonly amount: string; readonly direction: 'CRDT' | 'DBIT' };

const balanceElement = (
  code: string,
  { amount, direction }: SandboxBalance,
  currency: string,
  day: string,
): XmlElement => [
  'Bal',
  [
    ['Tp', [['CdOrPrtry', [['Cd', code]]]]],
    ['Amt', amount, { Ccy: currency }],
    ['CdtDbtInd', direction],
    ['Dt', [['Dt', day]]],
  ],
];

/** camt.053.001.08. Pending entries are those that the bank has not booked yet. */
export function statement(
  report: Reported & {
    readonly day: string;
    readonly opening: SandboxBalance;
    readonly closing: SandboxBalance;
    readonly pending?: readonly SandboxEntry[];
  },
): string {
  const { id, at, account, currency, entries, day, opening, closing, pending = [] } = report;
  return document('camt.053.001.08', [
    'BkToCstmrStmt',
    [
      header(id, at),
      [
        'Stmt',
        [
          ['Id', id],
          ['CreDtTm', at],
          accountElement('Acct', account, currency),
          balanceElement('OPBD', opening, currency, day),
          balanceElement('CLBD', closing, currency, day),
          ...entries.map((entry) => entryElement(entry, currency, 'BOOK')),
          ...pending.map((entry) => entryElement(entry, currency, 'PDNG')),
        ],
      ],
    ],
  ]);
}

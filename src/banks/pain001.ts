import type { Asset } from '../kernel/asset.ts';
import type { Instant } from '../kernel/instant.ts';
import type { XmlElement } from '../kernel/xml.ts';
import { decimalOf } from './amount.ts';
import type { CreditTransfer } from './credit-transfer.ts';
import { messageText, secondOf } from './document-text.ts';
import { plainId, uetrOf } from './ids.ts';
import { type Agent, accountElement, agentElement, type Party, partyElement } from './party.ts';

/** ISO 20022 pain.001.001.09, customer credit transfer initiation. */
export const PAIN_001 = 'pain.001.001.09';

/** The operator, who orders the payments, and the account that pays them. */
export type Debtor = {
  readonly party: Party;
  readonly account: string;
  readonly agent: Agent;
  /** A code of the bank for the operator, if it requires one. */
  readonly initiatorId: string | undefined;
  readonly serviceLevel: string | undefined;
  readonly chargeBearer: 'DEBT' | 'SHAR' | 'CRED' | 'SLEV';
};

export type PaymentFile = {
  readonly messageId: string;
  readonly createdAtNs: Instant;
  /** YYYY-MM-DD. */
  readonly executionDate: string;
  readonly transfers: readonly CreditTransfer[];
};

function transferElement(transfer: CreditTransfer, currency: Asset): XmlElement {
  const { key, units, creditor, creditorAccount, creditorAgent, intermediary, remittance } = transfer;
  const { ultimateDebtor } = transfer;
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
      ['Amt', [['InstdAmt', decimalOf(units, currency), { Ccy: currency.code }]]],
      ultimateDebtor === undefined ? undefined : ['UltmtDbtr', [['Nm', ultimateDebtor]]],
      intermediary === undefined ? undefined : agentElement('IntrmyAgt1', intermediary),
      agentElement('CdtrAgt', creditorAgent),
      partyElement('Cdtr', creditor),
      accountElement('CdtrAcct', creditorAccount),
      remittance === '' ? undefined : ['RmtInf', [['Ustrd', remittance]]],
    ],
  ];
}

/** The same payments, id and time always make the same text. Throws if there is none: an empty file is invalid. */
export function pain001Of(file: PaymentFile, debtor: Debtor, currency: Asset): string {
  const { messageId, transfers, executionDate } = file;
  if (transfers.length === 0) throw new Error('a file must have a payment');
  const sum = transfers.reduce((total, { units }) => total + units, 0n);
  const totals: readonly XmlElement[] = [
    ['NbOfTxs', String(transfers.length)],
    ['CtrlSum', decimalOf(sum, currency)],
  ];
  const { party, initiatorId, serviceLevel } = debtor;
  const initiator: XmlElement[] = [
    ['Nm', party.name],
    ...(initiatorId === undefined
      ? []
      : [['Id', [['OrgId', [['Othr', [['Id', initiatorId]]]]]]] as XmlElement]),
  ];
  const header: XmlElement = [
    'GrpHdr',
    [['MsgId', messageId], ['CreDtTm', secondOf(file.createdAtNs)], ...totals, ['InitgPty', initiator]],
  ];
  const information: XmlElement = [
    'PmtInf',
    [
      ['PmtInfId', `${messageId}-1`],
      ['PmtMtd', 'TRF'],
      // Each payment is an entry of its own on the statement, with its EndToEndId.
      ['BtchBookg', 'false'],
      ...totals,
      serviceLevel === undefined ? undefined : ['PmtTpInf', [['SvcLvl', [['Cd', serviceLevel]]]]],
      ['ReqdExctnDt', [['Dt', executionDate]]],
      partyElement('Dbtr', party),
      accountElement('DbtrAcct', debtor.account, currency.code),
      agentElement('DbtrAgt', debtor.agent),
      ['ChrgBr', debtor.chargeBearer],
      ...transfers.map((transfer) => transferElement(transfer, currency)),
    ],
  ];
  return messageText(PAIN_001, ['CstmrCdtTrfInitn', [header, information]]);
}

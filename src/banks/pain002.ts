import type { Asset } from '../kernel/asset.ts';
import type { XmlNode } from '../kernel/xml-reader.ts';
import { BANK_LIMITS } from '../limits-banks.ts';
import { unitsOf } from './amount.ts';
import { childrenOf, nodeAt, textAt, UnacceptableFile } from './document.ts';

/** ISO 20022 pain.002, customer payment status report: what the bank says about a file of ours. */

/**
 * What a status means for the money. `settled`: the debit is done. `refused`: nothing is or will be paid. `duplicate`: the bank
 * had the same file or payment before, so this says nothing about that one. `open`: the bank has it, and works on it. `blocked`:
 * the bank of the payee has the money, and the law forbids it to pay it out or to return it.
 */
export type Meaning = 'settled' | 'refused' | 'duplicate' | 'open' | 'part' | 'blocked' | 'unknown';

const MEANINGS: Readonly<Record<string, Meaning>> = {
  ACSC: 'settled',
  ACCC: 'settled',
  RJCT: 'refused',
  ACTC: 'open',
  ACCP: 'open',
  ACSP: 'open',
  ACWC: 'open',
  ACFC: 'open',
  ACWP: 'open',
  PATC: 'open',
  RCVD: 'open',
  PDNG: 'open',
  PART: 'part',
  BLCK: 'blocked',
};

/** Reasons with which banks refuse what they already have. */
const DUPLICATES = new Set(['AM05', 'DU01', 'DU02', 'DU03', 'DU04', 'DU05', 'DUPL', 'FF11']);

const FINAL: ReadonlySet<Meaning> = new Set(['settled', 'refused', 'duplicate']);

export type Status = {
  readonly code: string;
  readonly meaning: Meaning;
  /** The bank's reason: its code, and its words. */
  readonly reason: string | undefined;
};

export type TransferStatus = Status & {
  readonly endToEndId: string | undefined;
  /** How networks of the Federal Reserve name the payment. */
  readonly uetr: string | undefined;
  /** The amount that the bank believes to be that of the payment, if it says so. */
  readonly units: bigint | undefined;
  readonly statedAmount: string | undefined;
};

export type StatusReport = {
  readonly messageId: string;
  readonly originalMessageId: string;
  /** Of the file as a whole; undefined if the bank only says something about payments. */
  readonly group: Status | undefined;
  readonly transfers: readonly TransferStatus[];
};

export function statusOf(code: string, node: XmlNode): Status {
  const reasons = childrenOf(node, 'StsRsnInf').map((one) => ({
    code: textAt(one, 'Rsn/Cd') ?? textAt(one, 'Rsn/Prtry'),
    words: childrenOf(one, 'AddtlInf').map(({ text }) => text.trim()),
  }));
  const meaning = MEANINGS[code] ?? 'unknown';
  const isDuplicate =
    meaning === 'refused' && reasons.some(({ code: why }) => why !== undefined && DUPLICATES.has(why));
  const reason = reasons
    .map(({ code: why, words }) => [why, ...words].filter((one) => one !== undefined && one !== '').join(' '))
    .filter((one) => one !== '')
    .join('; ');
  return { code, meaning: isDuplicate ? 'duplicate' : meaning, reason: reason || undefined };
}

export function transferStatusOf(
  node: XmlNode,
  inherited: string | undefined,
  currency: Asset,
): TransferStatus | undefined {
  const code = textAt(node, 'TxSts') ?? inherited;
  if (code === undefined) return undefined;
  const amount = nodeAt(node, 'OrgnlTxRef/Amt/InstdAmt') ?? nodeAt(node, 'OrgnlTxRef/IntrBkSttlmAmt');
  const stated =
    amount === undefined ? undefined : `${amount.text.trim()} ${amount.attributes.get('Ccy') ?? ''}`;
  const isOwn = amount?.attributes.get('Ccy') === currency.code;
  return {
    ...statusOf(code, node),
    endToEndId: textAt(node, 'OrgnlEndToEndId'),
    uetr: textAt(node, 'OrgnlUETR')?.toLowerCase(),
    // An amount in another currency equals none.
    units: amount === undefined ? undefined : ((isOwn ? unitsOf(amount.text, currency) : undefined) ?? -1n),
    statedAmount: stated,
  };
}

export function readPain002(message: XmlNode, currency: Asset): StatusReport {
  const messageId = textAt(message, 'GrpHdr/MsgId');
  const original = nodeAt(message, 'OrgnlGrpInfAndSts');
  const originalMessageId = textAt(original, 'OrgnlMsgId');
  if (messageId === undefined || original === undefined || originalMessageId === undefined)
    throw new UnacceptableFile('a pain.002 must have GrpHdr/MsgId and OrgnlGrpInfAndSts/OrgnlMsgId');
  const informations = childrenOf(message, 'OrgnlPmtInfAndSts');
  const transfers: TransferStatus[] = [];
  let group: Status | undefined;
  const groupCode = textAt(original, 'GrpSts');
  if (groupCode !== undefined) group = statusOf(groupCode, original);
  for (const information of informations) {
    const code = textAt(information, 'PmtInfSts');
    const nodes = childrenOf(information, 'TxInfAndSts');
    // Our files have one PmtInf, so its status is that of the file; a final one says more than that of the group.
    const own = code === undefined ? undefined : statusOf(code, information);
    if (own !== undefined && (group === undefined || FINAL.has(own.meaning))) group = own;
    for (const node of nodes) {
      const status = transferStatusOf(node, code ?? groupCode, currency);
      if (status !== undefined) transfers.push(status);
    }
  }
  if (transfers.length > BANK_LIMITS.receivedEntriesMax)
    throw new UnacceptableFile(`it has more than ${BANK_LIMITS.receivedEntriesMax} statuses`);
  if (group === undefined && transfers.length === 0)
    throw new UnacceptableFile('a pain.002 must have a status of the file or of a payment');
  return { messageId, originalMessageId, group, transfers };
}

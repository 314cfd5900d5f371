import type { Asset } from '../kernel/asset.ts';
import type { XmlNode } from '../kernel/xml-reader.ts';
import { unitsOf } from './amount.ts';
import type { Entry, Sender } from './camt.ts';
import { child, childrenOf, nodeAt, textAt, UnacceptableFile } from './document.ts';

/**
 * Money that arrives over a network of the Federal Reserve: ISO 20022 pacs.008 (a payment) and pacs.004 (an outgoing payment that
 * comes back), each with one transaction. The id of the message names it; statements have the same id.
 */
export type Arrival = {
  readonly messageId: string;
  readonly entry: Entry;
  /** Of a return: what comes back. */
  readonly original: Original | undefined;
};

export type Original = {
  readonly messageId: string | undefined;
  readonly endToEndId: string | undefined;
  readonly uetr: string | undefined;
};

function onlyTransaction(message: XmlNode, name: string, what: string): XmlNode {
  const [transaction, ...others] = childrenOf(message, name);
  if (transaction === undefined || others.length > 0)
    throw new UnacceptableFile(`a ${what} must have one <${name}>`);
  return transaction;
}

function amountAt(node: XmlNode, name: string, currency: Asset): bigint {
  const amount = child(node, name);
  const units = amount?.attributes.get('Ccy') === currency.code ? unitsOf(amount.text, currency) : undefined;
  if (units === undefined || units === 0n)
    throw new UnacceptableFile(`${name} must be an amount in ${currency.code}`);
  return units;
}

function senderOf(parties: XmlNode | undefined): Sender {
  const name = textAt(parties, 'Dbtr/Pty/Nm') ?? textAt(parties, 'Dbtr/Nm');
  const account = textAt(parties, 'DbtrAcct/Id/IBAN') ?? textAt(parties, 'DbtrAcct/Id/Othr/Id');
  const agent = nodeAt(parties, 'DbtrAgt/FinInstnId');
  const bank = textAt(agent, 'BICFI') ?? textAt(agent, 'ClrSysMmbId/MmbId') ?? textAt(agent, 'Nm');
  return { ...(name && { name }), ...(account && { account }), ...(bank && { bank }) };
}

function headerOf(message: XmlNode, transaction: XmlNode, what: string) {
  const messageId = textAt(message, 'GrpHdr/MsgId');
  const bookedOn = (textAt(transaction, 'IntrBkSttlmDt') ?? textAt(message, 'GrpHdr/IntrBkSttlmDt'))?.slice(
    0,
    10,
  );
  if (messageId === undefined || bookedOn === undefined)
    throw new UnacceptableFile(`a ${what} must have GrpHdr/MsgId and IntrBkSttlmDt`);
  return { messageId, bookedOn };
}

const entryOf = (messageId: string, more: Pick<Entry, 'units' | 'bookedOn' | 'texts' | 'sender'>): Entry => ({
  reference: messageId,
  messageId,
  direction: 'CRDT',
  isReversal: false,
  isReturn: false,
  endToEndId: undefined,
  ...more,
});

/** The account that is paid must be the operator's, or the message is for another. */
export function readPacs008(message: XmlNode, currency: Asset, isOwn: (account: string) => boolean): Arrival {
  const transaction = onlyTransaction(message, 'CdtTrfTxInf', 'pacs.008');
  const account = textAt(transaction, 'CdtrAcct/Id/IBAN') ?? textAt(transaction, 'CdtrAcct/Id/Othr/Id') ?? '';
  if (!isOwn(account))
    throw new UnacceptableFile(
      `it is about the account …${account.slice(-4)}, which is not that of this rail`,
    );
  const { messageId, bookedOn } = headerOf(message, transaction, 'pacs.008');
  const remittance = child(transaction, 'RmtInf');
  const texts = [
    ...childrenOf(remittance, 'Ustrd').map(({ text }) => text.trim()),
    ...childrenOf(remittance, 'Strd').map((one) => textAt(one, 'CdtrRefInf/Ref') ?? ''),
    ...childrenOf(transaction, 'InstrForCdtrAgt').map((one) => textAt(one, 'InstrInf') ?? ''),
  ].filter((text) => text !== '');
  // Its EndToEndId is the payer's. Outgoing payments are returned as a pacs.004.
  const units = amountAt(transaction, 'IntrBkSttlmAmt', currency);
  const entry = entryOf(messageId, { units, bookedOn, texts, sender: senderOf(transaction) });
  return { messageId, entry, original: undefined };
}

export function readPacs004(message: XmlNode, currency: Asset): Arrival {
  const transaction = onlyTransaction(message, 'TxInf', 'pacs.004');
  const { messageId, bookedOn } = headerOf(message, transaction, 'pacs.004');
  const reasons = childrenOf(transaction, 'RtrRsnInf').flatMap((one) => [
    textAt(one, 'Rsn/Cd') ?? textAt(one, 'Rsn/Prtry') ?? '',
    ...childrenOf(one, 'AddtlInf').map(({ text }) => text.trim()),
  ]);
  const units = amountAt(transaction, 'RtrdIntrBkSttlmAmt', currency);
  const texts = reasons.filter((text) => text !== '');
  const sender = senderOf(child(transaction, 'RtrChain'));
  return {
    messageId,
    entry: {
      ...entryOf(messageId, { units, bookedOn, texts, sender }),
      isReturn: true,
      isSettledReturn: true,
    },
    original: {
      messageId: textAt(transaction, 'OrgnlGrpInf/OrgnlMsgId') ?? textAt(message, 'OrgnlGrpInf/OrgnlMsgId'),
      endToEndId: textAt(transaction, 'OrgnlEndToEndId'),
      uetr: textAt(transaction, 'OrgnlUETR')?.toLowerCase(),
    },
  };
}

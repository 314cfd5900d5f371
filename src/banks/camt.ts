import type { Asset } from '../kernel/asset.ts';
import type { XmlNode } from '../kernel/xml-reader.ts';
import { BANK_LIMITS } from '../limits-banks.ts';
import { unitsOf } from './amount.ts';
import { child, childrenOf, type MessageName, nodeAt, textAt, UnacceptableFile } from './document.ts';

/** ISO 20022 camt.053 (statement) and camt.054 (notification) of any version: what was booked on the account. */

export type Direction = 'CRDT' | 'DBIT';

/** One payment on the account: an entry, or one of the transactions that an entry sums up. */
export type Entry = {
  /** The bank's own reference, which both messages have. Undefined if the bank gives none. */
  readonly reference: string | undefined;
  /** The bank gave no reference, so its content is its name. */
  readonly isNamedByContent?: boolean;
  /** Of the message between banks that it was paid with. */
  readonly messageId: string | undefined;
  readonly direction: Direction;
  readonly units: bigint;
  readonly bookedOn: string;
  readonly isReversal: boolean;
  /** The bank says that it is a payment that came back. */
  readonly isReturn: boolean;
  /** It came back over the network, which returns only what it has settled: so the payment itself was paid. */
  readonly isSettledReturn?: boolean;
  readonly endToEndId: string | undefined;
  /** What the payer wrote, and what the bank added. */
  readonly texts: readonly string[];
  readonly sender: Sender;
};

export type Sender = {
  readonly name?: string;
  readonly account?: string;
  readonly bank?: string;
};

export type AccountReport = {
  readonly id: string;
  readonly account: string;
  readonly currency: string | undefined;
  /** Booked balances of a statement. */
  readonly openingUnits: bigint | undefined;
  readonly closingUnits: bigint | undefined;
  readonly closingDate: string | undefined;
  readonly entries: readonly Entry[];
};

/** The day, as the bank counts it. */
const dayOf = (node: XmlNode | undefined): string | undefined =>
  (textAt(node, 'Dt') ?? textAt(node, 'DtTm'))?.slice(0, 10);

const isBooked = (entry: XmlNode): boolean => (textAt(entry, 'Sts/Cd') ?? textAt(entry, 'Sts')) === 'BOOK';

function directionOf(node: XmlNode): Direction | undefined {
  const text = textAt(node, 'CdtDbtInd');
  return text === 'CRDT' || text === 'DBIT' ? text : undefined;
}

function amountOf(node: XmlNode, currency: Asset): bigint | undefined {
  const amount = child(node, 'Amt');
  return amount?.attributes.get('Ccy') === currency.code ? unitsOf(amount.text, currency) : undefined;
}

function senderOf(transaction: XmlNode | undefined): Sender {
  const parties = nodeAt(transaction, 'RltdPties');
  // In newer versions a party is a choice of a party and an agent.
  const name = textAt(parties, 'Dbtr/Pty/Nm') ?? textAt(parties, 'Dbtr/Nm');
  const account = textAt(parties, 'DbtrAcct/Id/IBAN') ?? textAt(parties, 'DbtrAcct/Id/Othr/Id');
  const agent = nodeAt(transaction, 'RltdAgts/DbtrAgt/FinInstnId');
  const bank =
    textAt(agent, 'BICFI') ??
    textAt(agent, 'BIC') ??
    textAt(agent, 'ClrSysMmbId/MmbId') ??
    textAt(agent, 'Nm');
  return { ...(name && { name }), ...(account && { account }), ...(bank && { bank }) };
}

function textsOf(entry: XmlNode, transaction: XmlNode | undefined): string[] {
  const remittance = child(transaction, 'RmtInf');
  const structured = childrenOf(remittance, 'Strd').map((one) => textAt(one, 'CdtrRefInf/Ref'));
  return [
    ...childrenOf(remittance, 'Ustrd').map(({ text }) => text.trim()),
    ...structured,
    textAt(transaction, 'AddtlTxInf'),
    textAt(entry, 'AddtlNtryInf'),
  ].filter((one) => one !== undefined && one !== '') as string[];
}

type Whole = Pick<Entry, 'direction' | 'units' | 'bookedOn' | 'isReversal'>;

function entryOf(
  entry: XmlNode,
  transaction: XmlNode | undefined,
  whole: Whole,
  { reference, units }: Pick<Entry, 'reference' | 'units'>,
): Entry {
  const endToEndId = textAt(transaction, 'Refs/EndToEndId');
  return {
    ...whole,
    reference,
    messageId: textAt(transaction, 'Refs/MsgId'),
    units,
    isReturn: child(transaction, 'RtrInf') !== undefined,
    endToEndId: endToEndId === 'NOTPROVIDED' ? undefined : endToEndId,
    texts: textsOf(entry, transaction),
    sender: senderOf(transaction),
  };
}

/** The transactions of an entry, if they are all there: each has a name, and their amounts add up to that of the entry. */
function splitEntry(
  entry: XmlNode,
  transactions: readonly XmlNode[],
  whole: Whole,
  currency: Asset,
): Entry[] | undefined {
  const own = textAt(entry, 'AcctSvcrRef');
  const parts = transactions.map((one) => {
    const other = textAt(one, 'Refs/EndToEndId') ?? textAt(one, 'Refs/TxId') ?? textAt(one, 'Refs/InstrId');
    const reference =
      textAt(one, 'Refs/AcctSvcrRef') ??
      (own === undefined || other === undefined ? undefined : `${own}/${other}`);
    const isSame = (directionOf(one) ?? whole.direction) === whole.direction;
    return { one, reference, units: isSame ? amountOf(one, currency) : undefined };
  });
  const names = new Set(parts.map(({ reference }) => reference));
  if (names.has(undefined) || names.size < parts.length) return undefined;
  const total = parts.reduce<bigint | undefined>(
    (sum, { units }) => (sum === undefined || units === undefined ? undefined : sum + units),
    0n,
  );
  if (total !== whole.units) return undefined;
  return parts.map(({ one, reference, units }) => entryOf(entry, one, whole, { reference, units: units! }));
}

function entriesOf(entry: XmlNode, index: number, currency: Asset): Entry[] {
  const at = `entry ${index + 1}`;
  const direction = directionOf(entry);
  if (direction === undefined) throw new UnacceptableFile(`${at} must be CRDT or DBIT`);
  const units = amountOf(entry, currency);
  if (units === undefined) throw new UnacceptableFile(`${at} must have an amount in ${currency.code}`);
  const bookedOn = dayOf(child(entry, 'BookgDt')) ?? dayOf(child(entry, 'ValDt'));
  if (bookedOn === undefined) throw new UnacceptableFile(`${at} must have a booking date`);
  const whole = { direction, units, bookedOn, isReversal: textAt(entry, 'RvslInd') === 'true' };
  // Some banks list charges as entries of nothing.
  if (units === 0n) return [];
  const transactions = childrenOf(entry, 'NtryDtls').flatMap((one) => childrenOf(one, 'TxDtls'));
  const several = transactions.length > 1 ? splitEntry(entry, transactions, whole, currency) : undefined;
  if (several !== undefined) return several;
  const only = transactions.length === 1 ? transactions[0] : undefined;
  const reference = textAt(entry, 'AcctSvcrRef') ?? textAt(only, 'Refs/AcctSvcrRef');
  return [entryOf(entry, only, whole, { reference, units })];
}

function balanceOf(
  report: XmlNode,
  codes: readonly string[],
  currency: Asset,
): { units: bigint; date: string | undefined } | undefined {
  const balances = childrenOf(report, 'Bal');
  const found = codes
    .map((code) => balances.find((one) => textAt(one, 'Tp/CdOrPrtry/Cd') === code))
    .find((one) => one !== undefined);
  if (found === undefined) return undefined;
  const units = amountOf(found, currency);
  const direction = directionOf(found);
  if (units === undefined || direction === undefined)
    throw new UnacceptableFile(
      `the balance ${codes[0]} must have an amount in ${currency.code}, and CRDT or DBIT`,
    );
  return { units: direction === 'CRDT' ? units : -units, date: dayOf(child(found, 'Dt')) };
}

function readReport(report: XmlNode, currency: Asset): AccountReport {
  const id = textAt(report, 'Id');
  const account = textAt(report, 'Acct/Id/IBAN') ?? textAt(report, 'Acct/Id/Othr/Id');
  if (id === undefined || account === undefined)
    throw new UnacceptableFile('each statement or notification must have an Id, and the Id of its account');
  const opening = balanceOf(report, ['OPBD', 'PRCD'], currency);
  const closing = balanceOf(report, ['CLBD'], currency);
  const entries = childrenOf(report, 'Ntry')
    .filter(isBooked)
    .flatMap((entry, index) => entriesOf(entry, index, currency));
  return {
    id,
    account: account.replaceAll(/\s/g, ''),
    currency: textAt(report, 'Acct/Ccy'),
    openingUnits: opening?.units,
    closingUnits: closing?.units,
    closingDate: closing?.date,
    entries,
  };
}

export function readCamt(name: MessageName, message: XmlNode, currency: Asset): AccountReport[] {
  const reports = childrenOf(message, name === 'camt.053' ? 'Stmt' : 'Ntfctn');
  if (reports.length === 0) throw new UnacceptableFile(`a ${name} must have a statement or notification`);
  const read = reports.map((report) => readReport(report, currency));
  const count = read.reduce((sum, { entries }) => sum + entries.length, 0);
  if (count > BANK_LIMITS.receivedEntriesMax)
    throw new UnacceptableFile(`it has more than ${BANK_LIMITS.receivedEntriesMax} entries`);
  return read;
}

import type { Assets } from '../kernel/asset.ts';
import { type Instant, NS_PER_SECOND, parseInstant } from '../kernel/instant.ts';
import { invalidField } from '../kernel/problem.ts';
import { readXmlInSlices, XmlError, type XmlNode } from '../kernel/xml-reader.ts';
import { LIMITS } from '../limits.ts';
import type { Line, ReadStatement } from './item.ts';

const wrong = (message: string) => invalidField('/content', message);

const child = (node: XmlNode | undefined, name: string): XmlNode | undefined =>
  node?.children.find((one) => one.name === name);
const textAt = (node: XmlNode | undefined, path: string): string | undefined =>
  path.split('/').reduce(child, node)?.text.trim();

/** A date is the start of that day in UTC. */
function instantOf(node: XmlNode | undefined): Instant | undefined {
  const time = textAt(node, 'DtTm');
  // A local time without an offset is taken for UTC.
  if (time !== undefined) return parseInstant(time) ?? parseInstant(`${time}Z`);
  return parseInstant(`${textAt(node, 'Dt')}T00:00:00Z`);
}

/** All references of an entry and of its only transaction. */
function referencesOf(entry: XmlNode): string[] {
  const transactions = entry.children
    .filter(({ name }) => name === 'NtryDtls')
    .flatMap(({ children }) => children.filter(({ name }) => name === 'TxDtls'));
  const refs = transactions.length === 1 ? child(transactions[0], 'Refs') : undefined;
  const named = ['EndToEndId', 'TxId', 'InstrId', 'UETR', 'AcctSvcrRef', 'AcctOwnrTxId'].map((name) =>
    textAt(refs, name),
  );
  return [...named, textAt(entry, 'AcctSvcrRef'), textAt(entry, 'NtryRef')].filter(
    (one) => one !== undefined && one !== '',
  ) as string[];
}

function lineOf(entry: XmlNode, index: number, asset: string, assets: Assets): Line {
  const at = `entry ${index + 1}`;
  const amount = child(entry, 'Amt');
  if (amount?.attributes.get('Ccy') !== asset) throw wrong(`${at} must have an amount in ${asset}`);
  const parsed = assets.parse(asset, amount.text.trim());
  if (!parsed.ok) throw wrong(`the amount of ${at} ${parsed.message}`);
  const direction = textAt(entry, 'CdtDbtInd');
  if (direction !== 'CRDT' && direction !== 'DBIT') throw wrong(`${at} must be CRDT or DBIT`);
  const atNs = instantOf(child(entry, 'BookgDt')) ?? instantOf(child(entry, 'ValDt'));
  if (atNs === undefined) throw wrong(`${at} must have a booking date`);
  return {
    atNs,
    units: direction === 'CRDT' ? parsed.units : -parsed.units,
    references: referencesOf(entry),
  };
}

const DAY_NS = 86_400n * NS_PER_SECOND;

/** The closing booked balance. That of a date is the balance at the end of that day. */
function closingOf(statement: XmlNode, asset: string, assets: Assets): ReadStatement['closing'] {
  const balance = statement.children.find(
    (one) => one.name === 'Bal' && textAt(one, 'Tp/CdOrPrtry/Cd') === 'CLBD',
  );
  const amount = child(balance, 'Amt');
  const date = child(balance, 'Dt');
  const atNs = instantOf(date);
  if (amount === undefined || atNs === undefined || amount.attributes.get('Ccy') !== asset) return undefined;
  const text = amount.text.trim();
  const parsed = assets.parse(asset, text);
  if (!parsed.ok && !/^0(\.0*)?$/.test(text)) throw wrong(`the closing balance ${parsed.message}`);
  const units = parsed.ok ? parsed.units : 0n;
  const isDebit = textAt(balance, 'CdtDbtInd') === 'DBIT';
  const isDay = textAt(date, 'DtTm') === undefined;
  return { atNs: isDay ? atNs + DAY_NS : atNs, units: isDebit ? -units : units };
}

/** Only booked entries count: pending ones come again. A reversal has its own direction, and is a line like any other. */
const isBooked = (entry: XmlNode): boolean => (textAt(entry, 'Sts/Cd') ?? textAt(entry, 'Sts')) === 'BOOK';

/** ISO 20022 camt.053 of any version, with one statement. */
export async function readCamt053(content: string, assets: Assets): Promise<ReadStatement> {
  let document: XmlNode;
  try {
    document = await readXmlInSlices(content, {
      depthMax: LIMITS.statementDepthMax,
      elementsMax: LIMITS.statementElementsMax,
    });
  } catch (error) {
    if (error instanceof XmlError) throw wrong(`is not acceptable XML: ${error.message}`);
    throw error;
  }
  const message = child(document, 'BkToCstmrStmt');
  if (document.name !== 'Document' || message === undefined) throw wrong('must be a camt.053 document');
  const statements = message.children.filter(({ name }) => name === 'Stmt');
  if (statements.length !== 1) throw wrong(`must have one statement, not ${statements.length}`);
  const [statement] = statements;
  const entries = statement!.children.filter(({ name }) => name === 'Ntry').filter(isBooked);
  const asset = textAt(statement, 'Acct/Ccy') ?? child(entries[0], 'Amt')?.attributes.get('Ccy');
  if (asset === undefined || assets.find(asset) === undefined)
    throw wrong(`must have a known currency, not ${asset === undefined ? 'none' : `"${asset}"`}`);
  const closing = closingOf(statement!, asset, assets);
  return {
    statementId: textAt(statement, 'Id'),
    asset,
    lines: entries.map((entry, index) => lineOf(entry, index, asset, assets)),
    ...(closing && { closing }),
  };
}

import { createHash } from 'node:crypto';
import type { Transaction } from '../database/database.ts';
import { knownMemos } from '../deposits/known-memos.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import { appendReports } from '../rails/notice-store.ts';
import { knownPayments } from '../rails/payment-store.ts';
import { type AccountReport, type Entry, readCamt } from './camt.ts';
import { type ReadDocument, readDocument, UnacceptableFile } from './document.ts';
import { applyEnds, newEnds } from './ends.ts';
import { decideEntries, type ReferencedEntry, rowOf, statementFindings, statementOf } from './entries.ts';
import { acknowledgeFilesOf, findFile, keysOfFile, moveFile } from './file-store.ts';
import { idOf } from './ids.ts';
import { fenced } from './lease-store.ts';
import { memoCandidates } from './memo.ts';
import { readPain002, type StatusReport } from './pain002.ts';
import type { BankParts } from './parts.ts';
import {
  bookedPayments,
  type Finding,
  insertEntries,
  insertFindings,
  insertReceived,
  insertStatement,
  isReceived,
  knownEntries,
  neighbours,
  noteStatement,
  type StatementRow,
} from './received-store.ts';
import type { BankSettings } from './settings.ts';
import { decideStatuses } from './statuses.ts';

type Answer =
  | { readonly name: 'pain.002'; readonly report: StatusReport }
  | { readonly name: 'camt.053' | 'camt.054'; readonly reports: readonly AccountReport[] };

const accountOf = (number: string): string => number.replaceAll(/\s/g, '').toUpperCase();

function checkAccount({ account, currency }: AccountReport, settings: BankSettings): void {
  if (accountOf(account) !== accountOf(settings.debtor.account))
    throw new UnacceptableFile(
      `it is about the account …${account.slice(-4)}, which is not that of this rail`,
    );
  if (currency !== undefined && currency !== settings.currency.code)
    throw new UnacceptableFile(
      `its account is in ${currency}, and that of this rail in ${settings.currency.code}`,
    );
}

/** Throws UnacceptableFile. */
export async function readAnswer(bytes: Uint8Array, settings: BankSettings): Promise<Answer> {
  const { currency, referencesRepeat } = settings;
  const { name, message }: ReadDocument = await readDocument(bytes);
  if (name === 'pain.002') return { name, report: readPain002(message, currency) };
  const reports = readCamt(name, message, currency);
  for (const report of reports) checkAccount(report, settings);
  if (!referencesRepeat) return { name, reports };
  const dated = (entry: Entry): Entry =>
    entry.reference === undefined ? entry : { ...entry, reference: `${entry.bookedOn}/${entry.reference}` };
  return { name, reports: reports.map((one) => ({ ...one, entries: one.entries.map(dated) })) };
}

type Context = {
  readonly settings: BankSettings;
  readonly receivedId: string;
  readonly now: Instant;
};

async function applyStatuses(
  tx: Transaction,
  report: StatusReport,
  context: Context,
): Promise<readonly Finding[]> {
  const { settings, now } = context;
  const id = idOf(report.originalMessageId);
  const file = id === undefined ? undefined : await findFile(tx, settings.rail, id);
  if (file === undefined)
    return [
      {
        sourceKey: `unknown file ${report.originalMessageId}`,
        kind: 'UNKNOWN_FILE',
        finding: `The bank reports on file ${report.originalMessageId}, which Ferry has not made.`,
      },
    ];
  const payments = await knownPayments(tx, settings.rail, await keysOfFile(tx, file.id));
  const { ends, findings, fileState } = decideStatuses(report, file.state, payments);
  await applyEnds(tx, { rail: settings.rail, now }, newEnds(ends, payments));
  const detail = report.group && [report.group.code, report.group.reason].filter(Boolean).join(' ');
  if (fileState !== undefined)
    await moveFile(tx, file.id, { from: [file.state], to: fileState, ...(detail && { detail }) }, now);
  return findings;
}

/** Candidates that are looked up at once. */
const MEMOS_MAX = 20_000;

async function memosIn(
  tx: Transaction,
  entries: readonly Entry[],
  settings: BankSettings,
): Promise<Set<string>> {
  const candidates = new Set<string>();
  const known = new Set<string>();
  const lookUp = async (): Promise<void> => {
    for (const one of await knownMemos(tx, settings.rail, [...candidates])) known.add(one);
    candidates.clear();
  };
  for (const { direction, texts } of entries) {
    if (direction === 'CRDT') for (const one of memoCandidates(texts)) candidates.add(one);
    if (candidates.size > MEMOS_MAX) await lookUp();
  }
  await lookUp();
  return known;
}

async function applyStatement(
  tx: Transaction,
  statement: StatementRow,
  entries: readonly Entry[],
  { settings, receivedId, now }: Context,
): Promise<readonly Finding[]> {
  const { rail, currency } = settings;
  const { before, same } = await neighbours(tx, rail, statement);
  if (same === undefined) {
    await insertStatement(tx, { rail, asset: currency.code, receivedId }, statement, now);
    return statementFindings(statement, entries, before, currency);
  }
  if (same.openingUnits === statement.openingUnits && same.closingUnits === statement.closingUnits) return [];
  return [
    {
      sourceKey: `changed ${statement.statementId} ${statement.closingUnits}`,
      kind: 'STATEMENT_CHANGED',
      finding: `Statement ${statement.statementId} came again with other balances.`,
    },
  ];
}

async function applyReport(
  tx: Transaction,
  report: AccountReport,
  isStatement: boolean,
  context: Context,
): Promise<readonly Finding[]> {
  const { settings, receivedId, now } = context;
  const { rail, currency } = settings;
  const account = accountOf(report.account);
  const { entries } = report;
  const rows = entries
    .filter((entry): entry is ReferencedEntry => entry.reference !== undefined)
    .map((entry) => rowOf(entry, account));
  const known = await knownEntries(tx, rail, rows);
  const keys = [...new Set(entries.flatMap(({ endToEndId }) => idOf(endToEndId) ?? []))];
  const payments = await knownPayments(tx, rail, keys);
  const effects = decideEntries(entries, {
    rail,
    currency,
    account,
    known,
    payments,
    booked: await bookedPayments(tx, rail, [...payments.keys()]),
    memos: await memosIn(tx, entries, settings),
    statementId: isStatement ? report.id : null,
  });
  await insertEntries(tx, { rail, asset: currency.code, receivedId }, effects.entries, now);
  await applyEnds(tx, { rail, now }, newEnds(effects.ends, payments));
  await acknowledgeFilesOf(
    tx,
    effects.ends.map(({ key }) => key),
    now,
  );
  await appendReports(tx, rail, effects.reports, now);
  if (!isStatement) return effects.findings;
  await noteStatement(tx, rail, [...known.values()], report.id);
  const statement = statementOf(report);
  const more =
    statement === undefined ? [] : await applyStatement(tx, { ...statement, account }, entries, context);
  return [...effects.findings, ...more];
}

async function applyAnswer(tx: Transaction, answer: Answer, context: Context): Promise<readonly Finding[]> {
  if (answer.name === 'pain.002') return applyStatuses(tx, answer.report, context);
  const findings: Finding[] = [];
  for (const report of answer.reports)
    findings.push(...(await applyReport(tx, report, answer.name === 'camt.053', context)));
  return findings;
}

/** The same message again, under any name, has no effect. An unacceptable one is kept with the reason, and has none either. */
export async function takeAnswer(parts: BankParts, name: string, bytes: Buffer): Promise<void> {
  const { database, settings, clock, lease, log } = parts;
  const { rail } = settings;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (await isReceived(database, rail, sha256)) return;
  let answer: Answer | undefined;
  let error: string | null = null;
  try {
    answer = await readAnswer(bytes, settings);
  } catch (thrown) {
    if (!(thrown instanceof UnacceptableFile)) throw thrown;
    error = thrown.message;
  }
  const id = newId();
  const found = await fenced(database, lease, async (tx) => {
    if (await isReceived(tx, rail, sha256)) return [];
    const now = clock.now();
    await insertReceived(tx, { id, rail, name, sha256, bytes, message: answer?.name ?? null, error }, now);
    const findings =
      answer === undefined ? [] : await applyAnswer(tx, answer, { settings, receivedId: id, now });
    return insertFindings(tx, rail, findings, id, now);
  });
  if (error !== null)
    log.error({ rail, name, why: error }, 'a file of the bank was set aside: nothing of it was booked');
  else log.info({ rail, name, message: answer!.name }, 'took a file of the bank');
  for (const { finding } of found) log.error({ rail, name, finding }, 'a file of the bank needs an operator');
}

/** A file that is too large to take. It stays where it is. */
export async function refuseLarge(parts: BankParts, name: string, size: number): Promise<void> {
  const { database, settings, clock, lease, log } = parts;
  const { rail } = settings;
  const sha256 = `too large: ${name} ${size}`;
  if (await isReceived(database, rail, sha256)) return;
  const error = `it has ${size} bytes, more than are read`;
  await fenced(database, lease, (tx) =>
    insertReceived(tx, { id: newId(), rail, name, sha256, bytes: null, message: null, error }, clock.now()),
  );
  log.error({ rail, name, size }, 'a file of the bank is too large to read, and stays where it is');
}

import type { Transaction } from '../database/database.ts';
import { knownMemos } from '../deposits/known-memos.ts';
import type { Instant } from '../kernel/instant.ts';
import { appendReports } from '../rails/notice-store.ts';
import { knownPayments } from '../rails/payment-store.ts';
import { endAnnounced, findAnnounced, insertAnnounced } from './announced-store.ts';
import type { Answer } from './answer.ts';
import type { Arrival, Original } from './arrivals.ts';
import type { AccountReport, Entry } from './camt.ts';
import { applyEnds, newEnds } from './ends.ts';
import { decideEntries, type ReferencedEntry, rowOf, statementFindings, statementOf } from './entries.ts';
import { acknowledgeFilesOf, findFile, keysOfFile, moveFile } from './file-store.ts';
import { idOf, plainAccount, plainId, uetrOf } from './ids.ts';
import { memoCandidates } from './memo.ts';
import { FED_RULES } from './orders.ts';
import type { StatusReport } from './pain002.ts';
import {
  bookedPayments,
  type Finding,
  insertEntries,
  insertStatement,
  knownEntries,
  neighbours,
  noteStatement,
  type StatementRow,
} from './received-store.ts';
import type { BankSettings } from './settings.ts';
import { decideStatuses } from './statuses.ts';

/** The effects of messages of the bank, each in the transaction that records the message. */

export type Context = {
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
  const file = await findFile(tx, settings.rail, report.originalMessageId);
  if (file === undefined && (await settleAnnounced(tx, report, context))) return [];
  if (file === undefined)
    return [
      {
        sourceKey: `unknown file ${report.originalMessageId}`,
        kind: 'UNKNOWN_FILE',
        finding: `The bank reports on file ${report.originalMessageId}, which Ferry has not made.`,
      },
    ];
  const payments = await knownPayments(tx, settings.rail, await keysOfFile(tx, file.id));
  const { ends, findings, fileState } = decideStatuses(report, file.state, payments, settings.rejectedFiles);
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
  const account = plainAccount(report.account);
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
    isAdvance: settings.withoutReference === 'statement' && !isStatement,
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

/** A credit that the network has announced before has settled, or was refused. False if there is none with that id. */
async function settleAnnounced(tx: Transaction, report: StatusReport, context: Context): Promise<boolean> {
  const { rail, debtor } = context.settings;
  const { originalMessageId: messageId, group, transfers } = report;
  const announced = await findAnnounced(tx, rail, messageId);
  if (announced === undefined) return false;
  const meanings = [...(group === undefined ? [] : [group]), ...transfers].map(({ meaning }) => meaning);
  if (announced.state !== 'ANNOUNCED') return true;
  if (meanings.includes('settled')) {
    await endAnnounced(tx, rail, messageId, 'SETTLED');
    await applyReport(tx, reportOf(messageId, announced.entry, debtor.account), false, context);
  } else if (meanings.includes('refused')) await endAnnounced(tx, rail, messageId, 'REFUSED');
  return true;
}

/** The outgoing payment that is returned: found by its own id, or by the UETR of its message. */
async function returnedPayment(
  tx: Transaction,
  { messageId, endToEndId, uetr }: Original,
  { rail }: BankSettings,
): Promise<string | undefined> {
  const named = idOf(endToEndId);
  if (named !== undefined && (uetr === undefined || uetrOf(named) === uetr)) return named;
  const file = messageId === undefined ? undefined : await findFile(tx, rail, messageId);
  const keys = file === undefined ? [] : await keysOfFile(tx, file.id);
  return keys.find((key) => (uetr === undefined ? keys.length === 1 : uetrOf(key) === uetr));
}

const reportOf = (id: string, entry: Entry, account: string): AccountReport => ({
  id,
  account,
  currency: undefined,
  openingUnits: undefined,
  closingUnits: undefined,
  closingDate: undefined,
  entries: [entry],
});

/** Money that arrives with a message of its own. It is booked now, or when the network says that it has settled. */
async function applyArrival(
  tx: Transaction,
  { messageId, entry, original }: Arrival,
  context: Context,
): Promise<readonly Finding[]> {
  const { settings, receivedId, now } = context;
  const { rail, messages, debtor } = settings;
  const key = original === undefined ? undefined : await returnedPayment(tx, original, settings);
  const whole = key === undefined ? entry : { ...entry, endToEndId: plainId(key) };
  if (messages === 'pain.001' || !FED_RULES[messages].announcesCredits)
    return applyReport(tx, reportOf(messageId, whole, debtor.account), false, context);
  await insertAnnounced(tx, { rail, receivedId }, { ...whole, reference: messageId }, now);
  return [];
}

export async function applyAnswer(
  tx: Transaction,
  answer: Answer,
  context: Context,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  if ('statuses' in answer)
    for (const report of answer.statuses) findings.push(...(await applyStatuses(tx, report, context)));
  else if ('arrival' in answer) findings.push(...(await applyArrival(tx, answer.arrival, context)));
  else
    for (const report of answer.reports)
      findings.push(...(await applyReport(tx, report, answer.name === 'camt.053', context)));
  return findings;
}

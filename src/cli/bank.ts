import { clockOf, listFiles } from '../banks/file-store.ts';
import { type Decided, decideFile, type Verdict } from '../banks/operating.ts';
import { listAside, listFindings, listStatements } from '../banks/received-store.ts';
import type { Database } from '../database/database.ts';
import { formatAmount } from '../kernel/amount.ts';
import { formatInstant, type Instant, NS_PER_SECOND } from '../kernel/instant.ts';
import { listDifferences } from '../reconciliation/balance-store.ts';
import { vaultOf } from '../vault.ts';
import {
  CommandError,
  type CommandLine,
  counted,
  type Invocation,
  noArguments,
  show,
  table,
  text,
  UsageError,
  withDatabase,
} from './command-line.ts';

/** Commands about the files that are exchanged with a bank. */

const LINES_MAX = 100;

/** "5 min", "3 h", "12 days". */
function ageOf(since: Instant, now: Instant): string {
  const minutes = Number((now - since) / NS_PER_SECOND) / 60;
  if (minutes < 90) return `${Math.max(0, Math.round(minutes))} min`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1_440)} days`;
}

async function reportOf(database: Database, rail: string, { config }: Invocation) {
  const now = await clockOf(database);
  const age = (since: Instant): { since: string; age: string } => ({
    since: formatInstant(since),
    age: ageOf(since, now),
  });
  const files = await listFiles(database, rail, LINES_MAX);
  const findings = await listFindings(database, rail, LINES_MAX);
  const aside = await listAside(database, rail, LINES_MAX);
  const statements = await listStatements(database, rail, 10);
  const differences = await listDifferences(database, `clearing:${rail}`, LINES_MAX);
  const shown = (units: bigint, asset: string): string =>
    `${formatAmount(units, config.assets.find(asset)?.decimals ?? 0)} ${asset}`;
  return {
    rail,
    files: files.map(({ name, state, payments, executionDate, madeAtNs, detail }) => ({
      name,
      state,
      payments,
      execution_date: executionDate,
      ...age(madeAtNs),
      ...(detail !== null && { detail }),
    })),
    findings: findings.map(({ kind, finding, createdAtNs }) => ({ kind, finding, ...age(createdAtNs) })),
    set_aside: aside.map(({ name, error, receivedAtNs }) => ({ name, error, ...age(receivedAtNs) })),
    statements: statements.map(({ statementId, openingUnits, closingUnits, closingDate, asset }) => ({
      id: statementId,
      date: closingDate,
      opening: shown(openingUnits, asset),
      closing: shown(closingUnits, asset),
    })),
    differences: differences.map(({ reference, units, ledgerUnits, asset, atNs }) => ({
      statement: reference,
      bank: shown(units, asset),
      ledger: shown(ledgerUnits, asset),
      difference: shown(units - ledgerUnits, asset),
      ...age(atNs),
    })),
  };
}

type Report = Awaited<ReturnType<typeof reportOf>>;

const section = (title: string, rows: readonly (readonly string[])[]): string =>
  rows.length === 0 ? `${title}: none` : `${title}:\n${table(rows)}`;

function linesOf({ files, findings, set_aside: aside, statements, differences }: Report): string {
  return [
    section(
      'Files of payments',
      files.map(({ name, state, payments, age, detail }) => [
        name,
        state,
        counted(payments, 'payment'),
        age,
        detail ?? '',
      ]),
    ),
    section(
      'For an operator',
      findings.map(({ kind, age, finding }) => [kind, age, finding]),
    ),
    section(
      'Files of the bank that were set aside',
      aside.map(({ name, age, error }) => [name, age, error]),
    ),
    section(
      'Last statements',
      statements.map(({ id, date, opening, closing }) => [id, date, opening, closing]),
    ),
    section(
      'Closing balances that differ from the ledger',
      differences.map(({ statement, age, bank, ledger, difference }) => [
        statement,
        age,
        `bank ${bank}`,
        `ledger ${ledger}`,
        `difference ${difference}`,
      ]),
    ),
  ].join('\n\n');
}

const DECIDABLE: Readonly<Record<Verdict['kind'], string>> = {
  resend: 'Only a file that is ASKED is sent again.',
  'resend as new': 'Only the payments of a file that is HELD are sent again in another one.',
  reject: 'Only a file that is ASKED or HELD can be rejected by an operator.',
};

async function decide(invocation: Invocation, verdict: Verdict): Promise<number> {
  const [name, extra] = invocation.positionals;
  if (name === undefined || extra !== undefined) throw new UsageError('Expected the name of one file.');
  const decided: Decided = await withDatabase(invocation, async (database) => {
    await vaultOf(invocation.config, database);
    return decideFile(database, name, verdict);
  });
  if (decided.kind === 'unknown')
    throw new CommandError(`There is no file of payments with the name "${name}".`);
  if (decided.kind === 'not decidable')
    throw new CommandError(`${name} is ${decided.state}. ${DECIDABLE[verdict.kind]}`);
  if (decided.kind === 'contradicted')
    throw new CommandError(
      `Payment ${decided.key} of ${name} has ended, although the bank refused the file. Nothing is sent again: ask the bank.`,
    );
  const what = {
    resend: `${name} is uploaded again, with the same message id.`,
    'resend as new': `${counted(decided.payments, 'payment')} of ${name} will be sent in the next file, with another message id.`,
    reject: `${name} is REJECTED: ${counted(decided.payments, 'payment')} failed, and the money returns.`,
  }[verdict.kind];
  show(invocation, { name, verdict: verdict.kind, payments: decided.payments }, what);
  return 0;
}

export const BANK_COMMANDS: readonly CommandLine[] = [
  {
    name: 'bank report',
    summary: 'show files of payments, answers of the bank, and what needs an operator',
    usage: 'bank report [--rail <rail>] [--json]',
    options: { rail: { value: 'rail', help: 'the rail of the kind iso20022, wire by default' } },
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const rail = invocation.options.rail === undefined ? 'wire' : text(invocation, 'rail');
      const report = await withDatabase(invocation, (database) => reportOf(database, rail, invocation));
      show(invocation, report, linesOf(report));
      return 0;
    },
  },
  {
    name: 'bank resend',
    summary: 'upload a file again that the bank says it does not have',
    usage: 'bank resend <file> [--as-new] [--json]',
    options: {
      'as-new': { help: 'send its payments in another file: only after the bank has refused all of it' },
    },
    details: [
      'Only for a file that is ASKED: the bank has not answered it, or refused it as a duplicate. Ask the bank first.',
      'The same bytes are uploaded under the same message id, so that a bank that has the file after all refuses the copy.',
      'With --as-new: only for a file that is HELD, because the bank has refused all of it and rejected_files is "hold". Its',
      'payments go into the next file, under another message id, once.',
    ].join('\n'),
    json: true,
    run: (invocation) =>
      decide(invocation, {
        kind: invocation.options['as-new'] === undefined ? 'resend' : 'resend as new',
      }),
  },
  {
    name: 'bank reject',
    summary: 'fail the payments of a file that the bank will never execute',
    usage: 'bank reject <file> --reason <text> [--json]',
    details:
      'Only for a file that is ASKED or HELD, and after the bank has confirmed that it executes none of its payments.',
    options: { reason: { value: 'text', help: 'what the bank said, and who' } },
    json: true,
    run: (invocation) => decide(invocation, { kind: 'reject', reason: text(invocation, 'reason') }),
  },
];

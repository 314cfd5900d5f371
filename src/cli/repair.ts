import { administratorOf } from '../auth/changes.ts';
import type { Database, Transaction } from '../database/database.ts';
import { recordChange } from '../events/append.ts';
import { newId } from '../kernel/id.ts';
import { formatInstant } from '../kernel/instant.ts';
import { type AheadReport, entriesAhead, repairInstants } from '../ledger/repair.ts';
import { type CommandLine, counted, noArguments, show, withDatabase } from './command-line.ts';

function sentence({ entryCount, balanceCount, lastNs, nowNs }: AheadReport, isApplied: boolean): string {
  if (lastNs === null) return `Nothing is ahead of the clock (${formatInstant(nowNs)}).`;
  const what = `${counted(entryCount, 'entry', 'entries')} across ${counted(balanceCount, 'balance')}`;
  const where = `ahead of the clock (${formatInstant(nowNs)}), the last one at ${formatInstant(lastNs)}`;
  if (isApplied) return `Moved to the present: ${what} that were ${where}.`;
  return `${what} are ${where}.\nIf the clock is correct now, repeat the command with --yes.`;
}

/** Who moved the entries, and how many. */
const recorded = (database: Database) => (tx: Transaction, report: AheadReport) =>
  recordChange(tx, administratorOf(database), {
    action: 'instants.repaired',
    customerId: null,
    resourceId: newId(),
    after: { entries: String(report.entryCount), balances: String(report.balanceCount) },
  });

export const REPAIR_COMMANDS: readonly CommandLine[] = [
  {
    name: 'repair-instants',
    summary: 'move entries that a wrong clock put into the future back to the present',
    usage: 'repair-instants [--yes] [--json]',
    details: [
      'Entries are ordered by their timestamps. If the clock of the database was ahead, the entries of that time lie in the',
      'future, and so do later entries of the same balances. Amounts, order and running balances do not change; records',
      'such as transfers keep the times that they show. Writes wait while the command runs.',
      'First make sure that the clock of the database is correct. Without --yes the command only prints what it would do.',
      'It needs the role that owns the tables: FERRY_MIGRATE_DATABASE_URL, if another role serves.',
    ].join('\n'),
    options: { yes: { help: 'confirm that the clock is correct, and repair' } },
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const isApplied = invocation.options.yes === true;
      const repair = async (database: Database): Promise<number> => {
        const report = await (isApplied
          ? repairInstants(database, recorded(database))
          : entriesAhead(database));
        const { entryCount: entries, balanceCount: balances, lastNs, nowNs } = report;
        const last = lastNs === null ? null : formatInstant(lastNs);
        const data = { entries, balances, last, now: formatInstant(nowNs), repaired: isApplied };
        show(invocation, data, sentence(report, isApplied));
        return 0;
      };
      // The role that serves may not change entries.
      return withDatabase(invocation, repair, { asOwner: true });
    },
  },
];

import { formatInstant } from '../kernel/instant.ts';
import { type AheadReport, entriesAhead, repairInstants } from '../ledger/repair.ts';
import { type CommandLine, noArguments, show, withDatabase } from './command-line.ts';

function sentence({ entryCount, balanceCount, lastNs, nowNs }: AheadReport, isApplied: boolean): string {
  if (lastNs === null) return `Nothing is ahead of the clock (${formatInstant(nowNs)}).`;
  const what = `${entryCount} ${entryCount === 1 ? 'entry' : 'entries'} across ${balanceCount} balance${balanceCount === 1 ? '' : 's'}`;
  const where = `ahead of the clock (${formatInstant(nowNs)}), the last one at ${formatInstant(lastNs)}`;
  if (isApplied) return `Moved to the present: ${what} that were ${where}.`;
  return `${what} are ${where}.\nIf the clock is right now, repeat the command with --yes.`;
}

export const REPAIR_COMMANDS: readonly CommandLine[] = [
  {
    name: 'repair-instants',
    summary: 'move entries that a wrong clock put into the future back to the present',
    usage: 'repair-instants [--yes] [--json]',
    details: [
      'Entries are ordered by their instants. After the database had a clock that was ahead, the entries of that time lie',
      'in the future, and later entries of the same balances follow them there. Amounts, order and running balances do not',
      'change; records such as transfers keep the times that they show. Writes wait while the command runs.',
      'First make sure that the clock of the database is right. Without --yes the command only prints what it would do.',
    ].join('\n'),
    options: { yes: { help: 'the clock is right now: repair' } },
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const isApplied = invocation.options.yes === true;
      return withDatabase(invocation, async (database) => {
        const report = await (isApplied ? repairInstants(database) : entriesAhead(database));
        const { entryCount: entries, balanceCount: balances, lastNs, nowNs } = report;
        const last = lastNs === null ? null : formatInstant(lastNs);
        const data = { entries, balances, last, now: formatInstant(nowNs), repaired: isApplied };
        show(invocation, data, sentence(report, isApplied));
        return 0;
      });
    },
  },
];

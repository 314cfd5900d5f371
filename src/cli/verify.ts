import type { Config } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { formatInstant } from '../kernel/instant.ts';
import { type AuditReport, auditEverything } from '../ledger/audit.ts';
import { auditIncrement, type IncrementalReport } from '../ledger/audit-increments.ts';
import { unlockToRead } from '../vault.ts';
import {
  type CommandLine,
  counted,
  type Invocation,
  noArguments,
  show,
  withDatabase,
} from './command-line.ts';

type Verified = { readonly report: AuditReport; readonly coverage: string };

function coverageOf({ newCount, continuedFrom }: IncrementalReport): string {
  if (continuedFrom === undefined) return 'Verified from the beginning.';
  const { number, untilNs } = continuedFrom;
  return `Continued from checkpoint ${number}, up to ${formatInstant(untilNs)}: ${counted(newCount, 'entry', 'entries')} after it. --full verifies all of them again.`;
}

async function verify(
  { options, progress }: Invocation,
  config: Config,
  database: Database,
): Promise<Verified> {
  await unlockToRead(config, database);
  if (options.full === true) {
    progress('Reading every entry of the ledger …');
    return {
      report: await auditEverything(database, config.assets),
      coverage: 'Verified from the beginning.',
    };
  }
  progress('Reading the ledger from its last checkpoint …');
  const report = await auditIncrement(database, config.assets, { thorough: true, wait: true });
  return { report: report!, coverage: coverageOf(report!) };
}

export const VERIFY_COMMAND: CommandLine = {
  name: 'verify',
  summary: 'verify the ledger, and the records that its entries come from',
  usage: 'verify [--full] [--json]',
  details: [
    'Checks that every entry belongs to one transfer, settlement, deposit or journal entry, and that each of these has exactly',
    'its entries; that postings balance, running balances follow and stored balances equal them; that held balances equal the',
    'pending withdrawals. Continues from the last signed checkpoint, in short slices, while the service runs. Prints one line',
    'for each violation, and exits with 1 if there is any.',
  ].join('\n'),
  options: {
    full: {
      help: 'verify everything from the beginning in one snapshot: on a replica or a backup, not on a busy primary',
    },
  },
  json: true,
  async run(invocation) {
    noArguments(invocation);
    return withDatabase(
      invocation,
      async (database) => {
        const { report, coverage } = await verify(invocation, invocation.config, database);
        const { violations, truncated, entryCount, accountCount } = report;
        const summary = `${counted(entryCount, 'entry', 'entries')} across ${counted(accountCount, 'balance')}`;
        const lines =
          violations.length === 0
            ? [`The ledger is sound: ${summary}, no violations.`]
            : [
                ...violations.map(({ rule, line }) => `${rule}: ${line}`),
                `${truncated ? 'At least ' : ''}${counted(violations.length, 'violation')} in ${summary}.`,
              ];
        show(
          invocation,
          { violations, truncated, entries: Number(entryCount), accounts: Number(accountCount) },
          [...lines, coverage].join('\n'),
        );
        return violations.length === 0 ? 0 : 1;
      },
      { mayBeStandby: true },
    );
  },
};

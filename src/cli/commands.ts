import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VARIABLES } from '../config/config.ts';
import type { SandboxFile } from '../sandbox/demo.ts';
import { APPROVAL_COMMANDS } from './approvals.ts';
import { BANK_COMMANDS } from './bank.ts';
import { BOOK_COMMANDS } from './books.ts';
import { CommandError, type CommandLine, noArguments, show } from './command-line.ts';
import { CREDENTIAL_COMMANDS } from './credentials.ts';
import { FREEZE_COMMANDS } from './freezes.ts';
import { JOURNAL_COMMANDS } from './journal.ts';
import { MIGRATE_COMMAND } from './migrate.ts';
import { PARTY_COMMANDS } from './parties.ts';
import { PEOPLE_COMMANDS } from './people.ts';
import { RAIL_COMMANDS } from './rails.ts';
import { REPAIR_COMMANDS } from './repair.ts';
import { SANDBOX_COMMANDS } from './sandbox.ts';
import { SANDBOX_BANK_COMMANDS } from './sandbox-bank.ts';
import { SIGNER_COMMANDS } from './signer.ts';
import { STATUS_COMMANDS } from './statuses.ts';
import { VERIFY_COMMAND } from './verify.ts';

export function variables(): string {
  const width = Math.max(...Object.keys(VARIABLES).map((name) => name.length)) + 2;
  return Object.entries(VARIABLES)
    .map(([name, help]) => `  ${name.padEnd(width)}${help}`)
    .join('\n');
}

/** The values of the first customer and of its counterparty. Ids and secrets never need escaping. */
function shellVariables({ base_url, customers }: SandboxFile): string {
  const [customer, counterparty] = customers;
  const values = {
    FERRY: base_url,
    CLIENT_ID: customer!.client_id,
    CLIENT_SECRET: customer!.client_secret,
    PROFILE: customer!.profiles[0]!.id,
    SECOND_PROFILE: customer!.profiles[1]!.id,
    IDENTITY: customer!.identity_id,
    ACCOUNT: customer!.account_id,
    FIAT_ACCOUNT: customer!.fiat_account_id,
    COUNTERPARTY_CLIENT_ID: counterparty!.client_id,
    COUNTERPARTY_CLIENT_SECRET: counterparty!.client_secret,
    COUNTERPARTY_PROFILE: counterparty!.profiles[0]!.id,
  };
  return Object.entries(values)
    .map(([name, value]) => `export ${name}='${value}'`)
    .join('\n');
}

export const COMMANDS: readonly CommandLine[] = [
  {
    name: 'serve',
    summary: 'run the service until Ctrl-C or SIGTERM',
    usage: 'serve',
    details: `All settings are environment variables, for example: PORT=9090 ferry serve\n\n${variables()}`,
    async run(invocation) {
      noArguments(invocation);
      // Imported here, because the other commands need no HTTP server and start in a third of the time without it.
      const { serve } = await import('../serve.ts');
      await serve(invocation.config, (line) => invocation.print(line));
      return 0;
    },
  },
  ...SANDBOX_COMMANDS,
  {
    name: 'demo',
    summary: "print the sandbox's demo data as shell variables",
    usage: 'demo [--json]',
    details: 'For a shell: eval "$(ferry demo)"; in a checkout: eval "$(npx ferry demo)"',
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const path = join(invocation.config.dataDir, 'sandbox.json');
      if (!existsSync(path))
        throw new CommandError(`${path} does not exist: start the sandbox first, with ferry serve.`);
      const sandbox = JSON.parse(readFileSync(path, 'utf8')) as SandboxFile;
      show(invocation, sandbox, shellVariables(sandbox));
      return 0;
    },
  },
  MIGRATE_COMMAND,
  VERIFY_COMMAND,
  ...RAIL_COMMANDS,
  ...BANK_COMMANDS,
  ...SANDBOX_BANK_COMMANDS,
  ...SIGNER_COMMANDS,
  ...REPAIR_COMMANDS,
  ...PARTY_COMMANDS,
  ...CREDENTIAL_COMMANDS,
  ...PEOPLE_COMMANDS,
  ...STATUS_COMMANDS,
  ...APPROVAL_COMMANDS,
  ...FREEZE_COMMANDS,
  ...JOURNAL_COMMANDS,
  ...BOOK_COMMANDS,
];

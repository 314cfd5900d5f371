import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VARIABLES } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { type MigrateOptions, type Migration, migrate, pendingMigrations } from '../database/migrate.ts';
import { withMigratable } from '../database/open.ts';
import { servingRole } from '../database/serving-role.ts';
import { LIMITS } from '../limits.ts';
import type { SandboxFile } from '../sandbox/demo.ts';
import { BANK_COMMANDS } from './bank.ts';
import { BOOK_COMMANDS } from './books.ts';
import {
  CommandError,
  type CommandLine,
  type Invocation,
  noArguments,
  prepareDataDir,
  requireDatabase,
  show,
  UsageError,
} from './command-line.ts';
import { CREDENTIAL_COMMANDS } from './credentials.ts';
import { FREEZE_COMMANDS } from './freezes.ts';
import { JOURNAL_COMMANDS } from './journal.ts';
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

/** The role that serves, in the data and in a line of its own, if there is one. */
function withRole(data: object, text: string, role: string | undefined, verb: string): [object, string] {
  if (role === undefined) return [data, text];
  return [{ ...data, serving_role: role }, `${text}\n${verb} the rights of the serving role to ${role}.`];
}

function showPlan(invocation: Invocation, pending: readonly Migration[], role: string | undefined): void {
  const lines = pending.map(
    ({ name, online }) => `${name}  ${online ? 'online' : 'running nodes stop using the database'}`,
  );
  const data = { pending: pending.map(({ name, online }) => ({ name, online })) };
  const text = lines.length === 0 ? 'The schema is up to date.' : ['Would apply:', ...lines].join('\n');
  show(invocation, ...withRole(data, text, role, 'Would grant'));
}

function showApplied(invocation: Invocation, applied: readonly string[], role: string | undefined): void {
  const text = applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}`;
  show(invocation, ...withRole({ applied }, text, role, 'Granted'));
}

async function migrateOrPlan(
  invocation: Invocation,
  database: Database,
  known: MigrateOptions,
): Promise<number> {
  const { options } = invocation;
  const named = options['serve-role'] as string | undefined;
  if (named === '') throw new UsageError('--serve-role must be the name of a role.');
  const signer = options['signer-role'] as string | undefined;
  if (signer === '') throw new UsageError('--signer-role must be the name of a role.');
  const wanted = named ?? known.servingRole;
  if (options.plan === true) {
    showPlan(invocation, await pendingMigrations(database), wanted ?? (await servingRole(database)));
    return 0;
  }
  const walling = { servingRole: wanted, signerRole: signer, renews: true };
  const applied = await migrate(database, undefined, invocation.progress, walling);
  showApplied(invocation, applied, await servingRole(database));
  return 0;
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
  {
    name: 'migrate',
    summary: 'apply pending migrations of the database schema',
    usage: 'migrate [--serve-role <role>] [--signer-role <role>] [--plan] [--json]',
    details: [
      'Nodes of the older release keep running during an online migration. For any other migration they stop using',
      'the database and answer 503 until nodes of the new release replace them. The connections of a node that does',
      `not stop within ${LIMITS.migrationGraceMs / 1_000} seconds are terminated. Each migration is one transaction.`,
      'With --serve-role, the nodes connect as another role than the one that migrates. It gets exactly the rights that',
      'serving needs, now and at every later migration. With --signer-role, a third role reads what ferry signer needs.',
    ].join('\n'),
    options: {
      'serve-role': { value: 'role', help: 'the role that the nodes connect as; remembered' },
      'signer-role': { value: 'role', help: 'the role that ferry signer connects as; remembered' },
      plan: { help: 'print the pending migrations without applying them' },
    },
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const { config, options } = invocation;
      if (options.plan === true) requireDatabase(config);
      else prepareDataDir(config);
      return withMigratable(config, (database, known) => migrateOrPlan(invocation, database, known));
    },
  },
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
  ...FREEZE_COMMANDS,
  ...JOURNAL_COMMANDS,
  ...BOOK_COMMANDS,
];

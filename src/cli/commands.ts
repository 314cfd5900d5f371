import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createClient,
  createCustomer,
  disableClient,
  listClients,
  listCustomers,
  rotateKey,
} from '../auth/administration.ts';
import { SCOPE_NAMES } from '../auth/scopes.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import { migrate } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { formatInstant } from '../kernel/instant.ts';
import { audit } from '../ledger/audit.ts';
import type { SandboxFile } from '../sandbox/demo.ts';

/** A command was called wrongly. */
export class UsageError extends Error {}

/** It was called well, and cannot do it. */
export class CommandError extends Error {}

export type Invocation = {
  readonly config: Config;
  readonly options: Readonly<Record<string, string | boolean | string[] | undefined>>;
  readonly positionals: readonly string[];
  readonly json: boolean;
  print(text: string): void;
  /** For people only: goes to standard error. */
  progress(text: string): void;
};

export type CommandLine = {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly details?: string;
  readonly options?: Readonly<Record<string, { help: string; value?: string; multiple?: boolean }>>;
  readonly json?: boolean;
  run(invocation: Invocation): Promise<number>;
};

/** With a migrated database, which is closed again whatever happens. */
async function withDatabase<T>(invocation: Invocation, work: (database: Database) => Promise<T>): Promise<T> {
  const opened = await openDatabase({ ...invocation.config, log: () => undefined }, false);
  try {
    await migrate(opened.database);
    return await work(opened.database);
  } finally {
    await opened.close();
  }
}

function text(invocation: Invocation, name: string): string {
  const value = invocation.options[name];
  if (typeof value !== 'string' || value === '') throw new UsageError(`--${name} is required.`);
  return value;
}

function noArguments({ positionals }: Invocation): void {
  if (positionals.length > 0) throw new UsageError(`"${positionals[0]}" is not expected here.`);
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const show = (invocation: Invocation, data: unknown, lines: string): void =>
  invocation.print(invocation.json ? JSON.stringify(data, null, 2) : lines);

/** The first customer's, and where the counterparty is. Ids and secrets never need quoting. */
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
    async run(invocation) {
      noArguments(invocation);
      // Only here: the other commands need no HTTP server, and start in a third of the time without it.
      const { serve } = await import('../serve.ts');
      await serve(invocation.config, (line) => invocation.print(line));
      return 0;
    },
  },
  {
    name: 'demo',
    summary: "print the sandbox's demo data as shell variables",
    usage: 'demo [--json]',
    details: 'For a shell: eval "$(npx ferry demo)"',
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const path = join(invocation.config.dataDir, 'sandbox.json');
      if (!existsSync(path))
        throw new CommandError(`${path} is not there: start the sandbox first, with npm start.`);
      const sandbox = JSON.parse(readFileSync(path, 'utf8')) as SandboxFile;
      show(invocation, sandbox, shellVariables(sandbox));
      return 0;
    },
  },
  {
    name: 'migrate',
    summary: 'bring the database schema up to date',
    usage: 'migrate [--json]',
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const opened = await openDatabase({ ...invocation.config, log: () => undefined }, false);
      try {
        const applied = await migrate(opened.database);
        show(
          invocation,
          { applied },
          applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}`,
        );
      } finally {
        await opened.close();
      }
      return 0;
    },
  },
  {
    name: 'verify',
    summary: 'prove the ledger from its entries',
    usage: 'verify [--json]',
    details: [
      'Checks, in one snapshot and while the service runs: every posting balances; every running balance follows',
      'from the one before; every stored balance equals its entries; value is conserved; held equals the pending',
      'withdrawals. Exit code 1 and one line for each violation.',
    ].join('\n'),
    json: true,
    async run(invocation) {
      noArguments(invocation);
      return withDatabase(invocation, async (database) => {
        invocation.progress('Reading every entry of the ledger …');
        const report = await audit(database, invocation.config.assets);
        const { violations, truncated, entryCount, accountCount } = report;
        const summary = `${entryCount} entries on ${accountCount} balances`;
        const lines =
          violations.length === 0
            ? `The ledger is sound: ${summary}, no violations.`
            : [
                ...violations.map(({ rule, line }) => `${rule}: ${line}`),
                `${violations.length}${truncated ? ' or more' : ''} violation${violations.length === 1 ? '' : 's'} in ${summary}.`,
              ].join('\n');
        show(
          invocation,
          { violations, truncated, entries: Number(entryCount), accounts: Number(accountCount) },
          lines,
        );
        return violations.length === 0 ? 0 : 1;
      });
    },
  },
  {
    name: 'customer create',
    summary: 'create a customer',
    usage: 'customer create --name <name> [--third-party] [--json]',
    options: {
      name: { value: 'name', help: 'unique name of the customer' },
      'third-party': { help: 'acts for end users, and must name them in its requests' },
    },
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const name = text(invocation, 'name');
      const integration = invocation.options['third-party'] === true ? 'THIRD_PARTY' : 'FIRST_PARTY';
      return withDatabase(invocation, async (database) => {
        const customer = await createCustomer(database, { name, integration });
        const data = { id: customer.id, name: customer.name, integration: customer.integration };
        show(invocation, data, `Created customer ${customer.name}: ${customer.id}`);
        return 0;
      });
    },
  },
  {
    name: 'customer list',
    summary: 'list the customers',
    usage: 'customer list [--json]',
    json: true,
    async run(invocation) {
      noArguments(invocation);
      return withDatabase(invocation, async (database) => {
        const customers = await listCustomers(database);
        const data = customers.map(({ id, name, integration, createdAtNs }) => ({
          id,
          name,
          integration,
          created_at: formatInstant(createdAtNs),
        }));
        const rows = data.map((one) => [one.id, one.integration, one.name]);
        show(invocation, data, table([['ID', 'INTEGRATION', 'NAME'], ...rows]));
        return 0;
      });
    },
  },
  {
    name: 'client create',
    summary: 'create an API client of a customer, and show its secret once',
    usage: 'client create --customer <id or name> --name <name> [--scope <scope> …] [--json]',
    details: `Without --scope the client may do everything. Scopes:\n  ${SCOPE_NAMES.join('\n  ')}`,
    options: {
      customer: { value: 'id or name', help: 'whose client' },
      name: { value: 'name', help: 'what it is for' },
      scope: { value: 'scope', multiple: true, help: 'a scope that it may ask for; repeat for several' },
    },
    json: true,
    async run(invocation) {
      noArguments(invocation);
      const scopes = (invocation.options.scope as string[] | undefined) ?? [...SCOPE_NAMES];
      const [customer, name] = [text(invocation, 'customer'), text(invocation, 'name')];
      return withDatabase(invocation, async (database) => {
        const made = await createClient(database, { customer, name, scopes });
        const data = { client_id: made.clientId, client_secret: made.clientSecret, scopes };
        const lines = [
          `client_id      ${made.clientId}`,
          `client_secret  ${made.clientSecret}`,
          'The secret is not shown again.',
        ];
        show(invocation, data, lines.join('\n'));
        return 0;
      });
    },
  },
  {
    name: 'client list',
    summary: 'list the API clients',
    usage: 'client list [--customer <id or name>] [--json]',
    options: { customer: { value: 'id or name', help: 'only those of this customer' } },
    json: true,
    async run(invocation) {
      noArguments(invocation);
      return withDatabase(invocation, async (database) => {
        const customer = invocation.options.customer as string | undefined;
        const clients = await listClients(database, customer === undefined ? {} : { customer });
        const data = clients.map((client) => ({
          client_id: client.id,
          customer_id: client.customerId,
          name: client.name,
          scopes: client.scopes,
          created_at: formatInstant(client.createdAtNs),
          disabled_at: client.disabledAtNs === null ? null : formatInstant(client.disabledAtNs),
        }));
        const rows = data.map((one) => [
          one.client_id,
          one.customer_id,
          one.disabled_at === null ? 'active' : 'disabled',
          one.name,
        ]);
        show(invocation, data, table([['CLIENT', 'CUSTOMER', 'STATE', 'NAME'], ...rows]));
        return 0;
      });
    },
  },
  {
    name: 'client disable',
    summary: 'disable an API client; takes effect within 10 seconds',
    usage: 'client disable <client_id> [--json]',
    json: true,
    async run(invocation) {
      const [clientId, extra] = invocation.positionals;
      if (clientId === undefined || extra !== undefined) throw new UsageError('Name one client_id.');
      return withDatabase(invocation, async (database) => {
        await disableClient(database, clientId);
        show(invocation, { client_id: clientId, disabled: true }, `Disabled ${clientId}.`);
        return 0;
      });
    },
  },
  {
    name: 'key rotate',
    summary: 'make a new key for signing tokens; live tokens stay valid',
    usage: 'key rotate [--json]',
    json: true,
    async run(invocation) {
      noArguments(invocation);
      return withDatabase(invocation, async (database) => {
        const { kid } = await rotateKey(database);
        show(invocation, { kid }, `Tokens are signed with the new key ${kid} from now on.`);
        return 0;
      });
    },
  },
];

import type { Database } from '../database/database.ts';
import { type MigrateOptions, migrate, pendingMigrations, readMigrations } from '../database/migrate.ts';
import { type PlannedLock, type PlannedMigration, planOf, tableSizes } from '../database/migration-plan.ts';
import { withMigratable } from '../database/open.ts';
import { servingRole } from '../database/serving-role.ts';
import { LIMITS } from '../limits.ts';
import {
  type CommandLine,
  type Invocation,
  noArguments,
  prepareDataDir,
  requireDatabase,
  show,
  UsageError,
} from './command-line.ts';

/** The role that serves, in the data and in a line of its own, if there is one. */
function withRole(data: object, text: string, role: string | undefined, verb: string): [object, string] {
  if (role === undefined) return [data, text];
  return [{ ...data, serving_role: role }, `${text}\n${verb} the rights of the serving role to ${role}.`];
}

/** What others cannot do with the table meanwhile. */
const BLOCKS: Readonly<Record<PlannedLock['lock'], string>> = {
  'ACCESS EXCLUSIVE': 'no reads, no writes',
  'SHARE ROW EXCLUSIVE': 'no writes',
  SHARE: 'no writes',
  'SHARE UPDATE EXCLUSIVE': 'reads and writes go on',
  'ROW EXCLUSIVE': 'reads and writes go on, but not of the changed rows',
};

function duration(ms: number | null): string {
  if (ms === null) return 'for an unknown time';
  if (ms < 100) return 'for less than 0.1 s';
  if (ms < 120_000) return `for about ${Math.ceil(ms / 100) / 10} s`;
  return `for about ${Math.ceil(ms / 60_000)} min`;
}

const grouped = (count: number): string => Math.round(count).toLocaleString('en-US');

function lockLine({ table, lock, rows, bytes, heldMs }: PlannedLock): string {
  const size = `${grouped(rows)} rows, ${grouped(bytes / 1_024)} KiB`;
  return `    ${table} (${size}): ${lock} ${duration(heldMs)}: ${BLOCKS[lock]}`;
}

function migrationLines({ name, online, locks, hasCode }: PlannedMigration): string[] {
  return [
    `${name}  ${online ? 'online' : 'running nodes stop using the database'}`,
    ...locks.map(lockLine),
    ...(hasCode ? ['    It runs code, whose tables and time are not known.'] : []),
  ];
}

function showPlan(
  invocation: Invocation,
  planned: readonly PlannedMigration[],
  versions: { has: number; needs: number },
  role: string | undefined,
): void {
  const data = {
    schema_version: versions.has,
    needed_version: versions.needs,
    pending: planned.map(({ name, online, locks, hasCode }) => ({
      name,
      online,
      locks: locks.map(({ table, lock, rows, bytes, heldMs }) => ({
        table,
        lock,
        rows,
        bytes,
        held_ms: heldMs === null ? null : Math.ceil(heldMs),
      })),
      has_code: hasCode,
    })),
  };
  const head = `The database has schema version ${versions.has}, this release needs ${versions.needs}.`;
  const text =
    planned.length === 0
      ? 'The schema is up to date.'
      : [
          `${head} Would apply, each in one transaction:`,
          ...planned.flatMap(migrationLines),
          'Times are estimates from the sizes of the tables. Nothing was changed.',
        ].join('\n');
  show(invocation, ...withRole(data, text, role, 'Would grant'));
}

async function plan(invocation: Invocation, database: Database, role: string | undefined): Promise<void> {
  const pending = await pendingMigrations(database);
  const needs = readMigrations().length;
  const planned = planOf(pending, await tableSizes(database));
  showPlan(invocation, planned, { has: needs - pending.length, needs }, role);
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
    await plan(invocation, database, wanted ?? (await servingRole(database)));
    return 0;
  }
  const walling = { servingRole: wanted, signerRole: signer, renews: true };
  const applied = await migrate(database, undefined, invocation.progress, walling);
  showApplied(invocation, applied, await servingRole(database));
  return 0;
}

export const MIGRATE_COMMAND: CommandLine = {
  name: 'migrate',
  summary: 'apply pending migrations of the database schema',
  usage: 'migrate [--serve-role <role>] [--signer-role <role>] [--plan] [--json]',
  details: [
    'Nodes of the older release keep running during an online migration. For any other migration they stop using',
    'the database and answer 503 until nodes of the new release replace them. The connections of a node that does',
    `not stop within ${LIMITS.migrationGraceMs / 1_000} seconds are terminated. Each migration is one transaction.`,
    'With --plan, nothing is changed: it prints which tables each migration would lock, how strongly, and about how long.',
    'With --serve-role, the nodes connect as another role than the one that migrates. It gets exactly the rights that',
    'serving needs, now and at every later migration. With --signer-role, a third role reads what ferry signer needs.',
  ].join('\n'),
  options: {
    'serve-role': { value: 'role', help: 'the role that the nodes connect as; remembered' },
    'signer-role': { value: 'role', help: 'the role that ferry signer connects as; remembered' },
    plan: { help: 'print the pending migrations and their locks without applying them' },
  },
  json: true,
  async run(invocation) {
    noArguments(invocation);
    const { config, options } = invocation;
    if (options.plan === true) requireDatabase(config);
    else prepareDataDir(config);
    return withMigratable(config, (database, known) => migrateOrPlan(invocation, database, known));
  },
};

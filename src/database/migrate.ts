import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '../limits.ts';
import { ADVISORY_LOCKS, tryAdvisoryLock } from './advisory-locks.ts';
import { describeSessions, terminateBlockers, unlockedNodes, watchBlockers } from './blockers.ts';
import type { Connection, Database } from './database.ts';
import {
  distribute,
  distributeFunction,
  isOnCluster,
  limitLockWaits,
  undistributed,
} from './distribution.ts';
import {
  type Applied,
  checkHistory,
  type Migration,
  MigrationError,
  readApplied,
  readMigrations,
} from './schema.ts';
import { checkedServingRole, grantToServe, isGranted } from './serving-role.ts';
import { checkedSignerRole, grantToSign } from './signer-role.ts';

export { type Migration, MigrationError, readMigrations } from './schema.ts';

/** Prints one line of progress, such as which nodes the migration waits for. */
export type Progress = (message: string) => void;

/** The connection that migrates, and its process id on the server, with which others look up what it waits for. */
type Migrator = { readonly database: Database; readonly connection: Connection; readonly pid: number };

const LOCK_TIMEOUT = '55P03';
const RETRIED = new Set([LOCK_TIMEOUT, '40P01']);
const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

/** Migrations run one at a time. Another one may take long; this one waits until it has ended. */
async function takeTurn(connection: Connection, say: Progress): Promise<void> {
  if (!(await tryAdvisoryLock(connection, ADVISORY_LOCKS.migrations))) {
    say('waiting for another migration of this database to finish');
    await connection.query(`set lock_timeout = ${LIMITS.patientStatementTimeoutMs}`);
    await connection.query(`select pg_advisory_lock(${ADVISORY_LOCKS.migrations})`);
  }
  await connection.query(`set lock_timeout = ${LIMITS.migrationLockTimeoutMs}`);
}

async function prepareRecord(connection: Connection): Promise<Applied[]> {
  await connection.query(`create table if not exists schema_migrations (
    version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`);
  const [column] = await connection.query(
    `select from pg_attribute where attrelid = 'schema_migrations'::regclass and attname = 'online'`,
  );
  if (column === undefined)
    await connection.query(
      'alter table schema_migrations add column if not exists online boolean not null default false',
    );
  return readApplied((text) => connection.query(text));
}

/** The role must be able to create tables; what it may do with existing ones shows when a migration touches them. */
async function mayMigrate(connection: Connection): Promise<{ role: string; may: boolean }> {
  const [row] = await connection.query<{ role: string; may: boolean }>(
    `select current_user as role, has_schema_privilege(current_schema(), 'create') as may`,
  );
  return row!;
}

/** For a node whose role only serves: the schema must be up to date already. */
async function requireMigrated(
  connection: Connection,
  migrations: readonly Migration[],
  role: string,
): Promise<void> {
  const applied = await readApplied((text) => connection.query(text));
  checkHistory(applied, migrations);
  if (applied.length >= migrations.length) return;
  throw new MigrationError(
    `the database has schema version ${applied.length}, but this release of Ferry needs ${migrations.length}, and the role ${role} may not change the schema: run "ferry migrate" with the role that owns the tables`,
  );
}

export type MigrateOptions = {
  /** The role that serves, from now on; otherwise the one that was named before, if any. */
  readonly servingRole?: string | undefined;
  /** The role of the signer, likewise. */
  readonly signerRole?: string | undefined;
  /** The rights of both roles are granted again even if they should be there already. */
  readonly renews?: boolean;
};

/**
 * Brings the schema up to date and returns the names of the migrations that it applied. Safe to call from any number of
 * nodes at once. Running nodes share the schema lock; a migration that is not online takes it exclusively first. The
 * transaction of the last migration also brings the rights of the role that serves up to date.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[] = readMigrations(),
  say: Progress = () => undefined,
  { servingRole, signerRole, renews = false }: MigrateOptions = {},
): Promise<string[]> {
  const connection = await database.reserve({ patient: true });
  try {
    const { role, may } = await mayMigrate(connection);
    if (!may) {
      await requireMigrated(connection, migrations, role);
      return [];
    }
    await connection.query('set statement_timeout = 0');
    await takeTurn(connection, say);
    const [row] = await connection.query<{ pid: number }>('select pg_backend_pid() as pid');
    const migrator = { database, connection, pid: row!.pid };
    const applied = await prepareRecord(connection);
    checkHistory(applied, migrations);
    const serving = await checkedServingRole(connection, servingRole);
    const signing = await checkedSignerRole(connection, signerRole, serving);
    const pending = migrations.slice(applied.length);
    const grant = async (): Promise<void> => {
      await grantToServe(connection, serving);
      await grantToSign(connection, signing);
    };
    let isAlone = false;
    for (const [index, migration] of pending.entries()) {
      // No node runs on an empty database, and nodes that start now wait for the migration lock above.
      if (!migration.online && !isAlone && applied.length > 0) await lockNodesOut(migrator, say);
      isAlone ||= !migration.online;
      const steps = [() => execute(connection, migration), ...(index === pending.length - 1 ? [grant] : [])];
      await apply(migrator, `migration ${migration.name}`, steps, say);
    }
    await distributeTables(migrator, say, isAlone || applied.length === 0);
    // An older release must not take away what a newer one has granted.
    const isNewest = pending.length === 0 && applied.length <= migrations.length;
    if (isNewest && (renews || !(await isGranted(connection, serving))))
      await apply(migrator, 'granting rights to the roles of the service and the signer', [grant], say);
    return pending.map((migration) => migration.name);
  } finally {
    // Closing the connection releases its locks and drops its settings.
    connection.discard();
  }
}

/** On a cluster, also for a database that was made before it became one. */
async function distributeTables(migrator: Migrator, say: Progress, isAlone: boolean): Promise<void> {
  const { connection } = migrator;
  if (!(await isOnCluster(connection))) return;
  const tables = await undistributed(connection);
  if (tables.length > 0 && !isAlone) await lockNodesOut(migrator, say);
  for (const one of tables) {
    say(`distributing ${one.name} over the servers of the cluster`);
    await apply(migrator, `distributing ${one.name}`, [() => distribute(connection, one)], say);
  }
  // Every time: there may be servers that were added since.
  await distributeFunction(connection);
  await limitLockWaits(connection);
}

/** What `migrate` would apply. Changes nothing. */
export async function pendingMigrations(
  database: Database,
  migrations: readonly Migration[] = readMigrations(),
): Promise<readonly Migration[]> {
  const applied = await readApplied((text) => database.query(text));
  checkHistory(applied, migrations);
  return migrations.slice(applied.length);
}

/**
 * Takes the schema lock exclusively. Nodes notice within a second that a migration waits for it, and close their
 * connections. Those of a node that does not (it is frozen, or runs an audit) are terminated after a grace period. The
 * lock belongs to the connection, so the node cannot write on a terminated one, and its next connection is refused.
 */
async function lockNodesOut({ database, connection, pid }: Migrator, say: Progress): Promise<void> {
  if (!(await tryAdvisoryLock(connection, ADVISORY_LOCKS.schema))) {
    say('waiting for the nodes that run on this database to stop using it');
    let isEnding = false;
    const watch = watchBlockers(database, pid, async (sessions, sinceMs) => {
      if (sinceMs < LIMITS.migrationGraceMs) return;
      if (!isEnding)
        say(`terminating connections that still hold the schema lock: ${describeSessions(sessions)}`);
      isEnding = true;
      await terminateBlockers(database, pid);
    });
    try {
      await connection.query(`set lock_timeout = ${LIMITS.migrationGraceMs + LIMITS.migrationTerminationMs}`);
      await connection.query(`select pg_advisory_lock(${ADVISORY_LOCKS.schema})`);
      await connection.query(`set lock_timeout = ${LIMITS.migrationLockTimeoutMs}`);
    } catch (error) {
      if (codeOf(error) !== LOCK_TIMEOUT) throw error;
      throw new MigrationError(
        `the schema lock is held by ${describeSessions(watch.last())}. Nothing was changed: stop these nodes, then run the migration again`,
        { cause: error },
      );
    } finally {
      watch.stop();
    }
  }
  let unlocked = await unlockedNodes(connection);
  // A connection that is being closed has released its locks shortly before it disappears.
  const untilMs = performance.now() + LIMITS.migrationTerminationMs;
  while (unlocked.length > 0 && performance.now() < untilMs) {
    await sleep(LIMITS.migrationLookMs);
    unlocked = await unlockedNodes(connection);
  }
  if (unlocked.length === 0) return;
  throw new MigrationError(
    `nodes of an old release, which does not use the schema lock, are connected: ${describeSessions(unlocked)}. Nothing was changed: stop these nodes, then run the migration again`,
  );
}

type Step = () => Promise<void>;

/**
 * Runs the steps in one transaction. While it waits for the lock on a table, other statements queue behind it. So it times out
 * soon and retries.
 */
async function apply(migrator: Migrator, name: string, steps: readonly Step[], say: Progress): Promise<void> {
  const watch = watchBlockers(migrator.database, migrator.pid);
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await applyOnce(migrator.connection, steps);
      } catch (error) {
        if (!RETRIED.has(codeOf(error)))
          throw new MigrationError(`${name} failed: ${(error as Error).message}`, { cause: error });
        const blocked = `${name} is blocked by ${describeSessions(watch.last())}`;
        if (attempt === LIMITS.migrationAttemptsMax)
          throw new MigrationError(
            `${blocked}, and was given up after ${attempt} attempts. Nothing of it was applied: end that session or wait for it, then run the migration again`,
            { cause: error },
          );
        say(`${blocked}; retrying`);
        await sleep(LIMITS.migrationPauseMs);
      }
    }
  } finally {
    watch.stop();
  }
}

async function applyOnce(connection: Connection, steps: readonly Step[]): Promise<void> {
  await connection.query('begin');
  try {
    for (const step of steps) await step();
    await connection.query('commit');
  } catch (error) {
    await connection.query('rollback').catch(() => undefined);
    throw error;
  }
}

async function execute(connection: Connection, migration: Migration): Promise<void> {
  await connection.script(migration.sql);
  await connection.query(
    'insert into schema_migrations (version, name, checksum, online) values ($1, $2, $3, $4)',
    [migration.version, migration.name, migration.checksum, migration.online],
  );
}

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import type { Connection, Database } from './database.ts';

/** Plain SQL files, numbered from 1, forward only. What has been applied is never edited. */
export type Migration = {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
};

export class MigrationError extends Error {}

const DIRECTORY = fileURLToPath(new URL('../../migrations/', import.meta.url));
export function readMigrations(directory: string = DIRECTORY): Migration[] {
  const files = readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  return files.map((file, index) => {
    const version = Number.parseInt(file.slice(0, 4), 10);
    if (version !== index + 1)
      throw new MigrationError(`migration ${file} should have the number ${index + 1}`);
    const sql = readFileSync(join(directory, file), 'utf8');
    return { version, name: file, sql, checksum: createHash('sha256').update(sql).digest('hex') };
  });
}

type Applied = { version: number; name: string; checksum: string };

async function appliedTo(connection: Connection): Promise<Applied[]> {
  await connection.query(`create table if not exists schema_migrations (
    version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`);
  return connection.query<Applied>('select version, name, checksum from schema_migrations order by version');
}

/** Old code on a newer schema, or a file edited after it was applied: both end the start. */
function checkHistory(applied: readonly Applied[], migrations: readonly Migration[]): void {
  const newest = migrations.length;
  for (const [index, { version, name, checksum }] of applied.entries()) {
    const known = migrations[version - 1];
    if (known === undefined) {
      throw new MigrationError(
        `the database has schema version ${applied.at(-1)?.version}, this Ferry knows only ${newest}: start a newer Ferry`,
      );
    }
    if (version !== index + 1) {
      throw new MigrationError(
        `the database lacks schema version ${index + 1}, but has ${version}: restore a backup`,
      );
    }
    if (known.checksum !== checksum) {
      throw new MigrationError(`migration ${name} was changed after it had been applied: restore the file`);
    }
  }
}

/** Brings the schema up to date and says what it applied. Safe to call from any number of nodes at once. */
export async function migrate(
  database: Database,
  migrations: readonly Migration[] = readMigrations(),
): Promise<string[]> {
  const connection = await database.reserve({ patient: true });
  try {
    await connection.query('set statement_timeout = 0');
    await connection.query('set lock_timeout = 0');
    await connection.query(`select pg_advisory_lock(${ADVISORY_LOCKS.migrations})`);
    const applied = await appliedTo(connection);
    checkHistory(applied, migrations);
    const pending = migrations.slice(applied.length);
    for (const migration of pending) await apply(connection, migration);
    return pending.map((migration) => migration.name);
  } finally {
    await connection.query(`select pg_advisory_unlock(${ADVISORY_LOCKS.migrations})`).catch(() => undefined);
    await connection.query('reset statement_timeout').catch(() => undefined);
    await connection.query('reset lock_timeout').catch(() => undefined);
    connection.release();
  }
}

async function apply(connection: Connection, migration: Migration): Promise<void> {
  await connection.query('begin');
  try {
    await connection.script(migration.sql);
    await connection.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', [
      migration.version,
      migration.name,
      migration.checksum,
    ]);
    await connection.query('commit');
  } catch (error) {
    await connection.query('rollback').catch(() => undefined);
    throw new MigrationError(`migration ${migration.name} failed: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

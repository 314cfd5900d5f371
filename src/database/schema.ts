import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A plain SQL file. Files are numbered from 1 and only go forward; one that has been released is never edited. */
export type Migration = {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
  /** Nodes of older releases can keep running on it. Declared by the first line of the file: `-- online`. */
  readonly online: boolean;
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
    const checksum = createHash('sha256').update(sql).digest('hex');
    return { version, name: file, sql, checksum, online: /^--[ \t]*online[ \t]*(\r?\n|$)/.test(sql) };
  });
}

/** A row of `schema_migrations`. */
export type Applied = { version: number; name: string; checksum: string; online: boolean };

/** Through JSON, because an older database may not have the column `online` yet. */
const READ_APPLIED = `select version, name, checksum,
         coalesce((to_jsonb(one) ->> 'online')::boolean, false) as online
  from schema_migrations as one order by version`;

/** PostgreSQL's error code for a missing table. A database without a schema has no `schema_migrations`. */
const UNDEFINED_TABLE = '42P01';
const NO_RIGHTS = '42501';

export async function readApplied(ask: (text: string) => Promise<object[]>): Promise<Applied[]> {
  try {
    return (await ask(READ_APPLIED)) as Applied[];
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === UNDEFINED_TABLE) return [];
    if (code !== NO_RIGHTS) throw error;
    throw new MigrationError(
      'the role of DATABASE_URL may not use the tables of this database: run "ferry migrate --serve-role <role>" with the role that owns them',
      { cause: error },
    );
  }
}

/** The newest version that this release does not know and cannot run on; undefined if there is none. */
function newestUnknown(applied: readonly Applied[], known: number): number | undefined {
  const unknown = applied.filter(({ version, online }) => version > known && !online);
  return unknown.at(-1)?.version;
}

/** Why this release cannot use a database with these migrations, as a clause; undefined if it can. */
export function schemaRefusal(
  applied: readonly Applied[],
  migrations: readonly Migration[],
): string | undefined {
  const known = migrations.length;
  const newest = newestUnknown(applied, known);
  if (newest !== undefined)
    return `the database has schema version ${newest}, but this release of Ferry supports only ${known}: start a newer release`;
  if (applied.length >= known) return undefined;
  return applied.length === 0
    ? 'the database has no schema yet: run "ferry migrate", or start the service'
    : `the database has schema version ${applied.length}, but this release of Ferry needs ${known}: "ferry migrate --plan" says what has to be done, "ferry migrate" does it`;
}

/** Throws if the schema is newer than this release, has a gap, or differs from the migration files. */
export function checkHistory(applied: readonly Applied[], migrations: readonly Migration[]): void {
  const refusal = schemaRefusal(applied, migrations);
  if (newestUnknown(applied, migrations.length) !== undefined) throw new MigrationError(refusal);
  for (const [index, { version, name, checksum }] of applied.entries()) {
    if (version !== index + 1) {
      throw new MigrationError(
        `the database has schema version ${version}, but not ${index + 1}: restore a backup`,
      );
    }
    const known = migrations[index];
    if (known !== undefined && known.checksum !== checksum) {
      throw new MigrationError(`migration ${name} was changed after it had been applied: restore the file`);
    }
  }
}

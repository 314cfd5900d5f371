import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ADVISORY_LOCKS } from '../../src/database/advisory-locks.ts';
import { connectDatabase } from '../../src/database/database.ts';
import {
  type Migration,
  MigrationError,
  migrate,
  pendingMigrations,
  readMigrations,
} from '../../src/database/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const MIGRATIONS = resolve(import.meta.dirname, '../../migrations');
const shipped = readMigrations();
const names = shipped.map((migration) => migration.name);

const directory = mkdtempSync(join(tmpdir(), 'ferry-migrations-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Small migrations, one file for each statement. */
function migrationsOf(texts: Record<string, string>): Migration[] {
  const folder = mkdtempSync(join(directory, 'set-'));
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
  return readMigrations(folder);
}

let test: TestDatabase;
beforeEach(async () => {
  test = await createTestDatabase('template1');
});
afterEach(() => test.drop());

/** In the order in which they were applied. */
async function applied(): Promise<string[]> {
  const rows = await test.database.query<{ name: string }>(
    'select name from schema_migrations order by applied_at, version',
  );
  return rows.map((row) => row.name);
}

async function tables(): Promise<string[]> {
  const rows = await test.database.query<{ name: string }>(
    `select table_name::text as name from information_schema.tables where table_schema = 'public' order by 1`,
  );
  return rows.map((row) => row.name).filter((name) => name !== 'schema_migrations');
}

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => new Error('not refused'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MigrationError);
  return (error as Error).message;
}

describe('migrate', () => {
  it('applies every migration once when ten nodes start together on an empty database', async () => {
    const nodes = Array.from({ length: 10 }, () => connectDatabase(test.address, 2));
    const outcomes = await Promise.all(nodes.map((node) => migrate(node)));
    await Promise.all(nodes.map((node) => node.close()));
    // One node applied all of them; the others waited and had nothing to do.
    expect(outcomes.filter((outcome) => outcome.length > 0)).toEqual([names]);
    expect(await applied()).toEqual(names);
    expect(await tables()).toEqual(expect.arrayContaining(['balances', 'entries', 'transfers']));
  });

  it('applies every migration once when one node migrates ten times concurrently', async () => {
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => migrate(test.database)));
    expect(outcomes.flat()).toEqual(names);
    expect(await applied()).toEqual(names);
  });

  it('applies nothing the second time', async () => {
    expect(await migrate(test.database)).toEqual(names);
    const before = await test.database.query('select * from schema_migrations order by version');
    expect(await migrate(test.database)).toEqual([]);
    expect(await test.database.query('select * from schema_migrations order by version')).toEqual(before);
  });

  it('applies only the new migrations to a database of an older version', async () => {
    expect(await migrate(test.database, shipped.slice(0, 1))).toEqual(names.slice(0, 1));
    expect(await migrate(test.database)).toEqual(names.slice(1));
    expect(await applied()).toEqual(names);
  });

  it('refuses a database that is newer than the code, and changes nothing', async () => {
    const [first, second] = ['create table one (id int);', 'create table two (id int);'];
    const newer = migrationsOf({ '0001_one.sql': first, '0002_two.sql': second });
    await migrate(test.database, newer);
    expect(await refusal(migrate(test.database, newer.slice(0, 1)))).toBe(
      'the database has schema version 2, but this release of Ferry supports only 1: start a newer release',
    );
    expect(await tables()).toEqual(['one', 'two']);
  });

  it('refuses a file that was changed after it had been applied, and applies nothing after it', async () => {
    await migrate(test.database, migrationsOf({ '0001_one.sql': 'create table one (id int);' }));
    const changed = migrationsOf({
      '0001_one.sql': 'create table one (id int); -- harmless',
      '0002_two.sql': 'create table two (id int);',
    });
    expect(await refusal(migrate(test.database, changed))).toBe(
      'migration 0001_one.sql was changed after it had been applied: restore the file',
    );
    expect(await tables()).toEqual(['one']);
  });

  it('accepts a newer database if all unknown migrations are online', async () => {
    const newer = migrationsOf({
      '0001_one.sql': 'create table one (id int);',
      '0002_two.sql': '-- online\ncreate table two (id int);',
      '0003_three.sql': 'create table three (id int);',
    });
    await migrate(test.database, newer.slice(0, 2));
    expect(await migrate(test.database, newer.slice(0, 1))).toEqual([]);
    expect(await pendingMigrations(test.database, newer.slice(0, 1))).toEqual([]);
    await migrate(test.database, newer);
    expect(await refusal(migrate(test.database, newer.slice(0, 1)))).toBe(
      'the database has schema version 3, but this release of Ferry supports only 1: start a newer release',
    );
  });

  it('can list what it would apply without changing anything, even in an empty database', async () => {
    const two = migrationsOf({
      '0001_one.sql': 'create table one (id int);',
      '0002_two.sql': '-- online\ncreate table two (id int);',
    });
    expect(await pendingMigrations(test.database, two)).toEqual(two);
    expect(await test.database.query("select to_regclass('schema_migrations') as found")).toEqual([
      { found: null },
    ]);
    await migrate(test.database, two.slice(0, 1));
    expect(await pendingMigrations(test.database, two)).toEqual(two.slice(1));
    expect(await tables()).toEqual(['one']);
  });

  it('migrates a database whose record of migrations does not have the column online yet', async () => {
    const two = migrationsOf({
      '0001_one.sql': 'create table one (id int);',
      '0002_two.sql': 'create table two (id int);',
    });
    await migrate(test.database, two.slice(0, 1));
    await test.database.query('alter table schema_migrations drop column online');
    expect(await pendingMigrations(test.database, two)).toEqual(two.slice(1));
    expect(await migrate(test.database, two)).toEqual(['0002_two.sql']);
  });

  it('waits for another migration, and says so', async () => {
    const one = migrationsOf({ '0001_one.sql': 'create table one (id int);' });
    const other = await test.database.reserve();
    await other.query(`select pg_advisory_lock(${ADVISORY_LOCKS.migrations})`);
    const said: string[] = [];
    const migrated = migrate(test.database, one, (message) => said.push(message));
    await expect.poll(() => said).toEqual(['waiting for another migration of this database to finish']);
    expect(await tables()).toEqual([]);
    other.discard();
    expect(await migrated).toEqual(['0001_one.sql']);
  });

  it('refuses a database whose record of migrations has a gap', async () => {
    const three = migrationsOf({
      '0001_one.sql': 'create table one (id int);',
      '0002_two.sql': 'create table two (id int);',
      '0003_three.sql': 'create table three (id int);',
    });
    await migrate(test.database, three);
    await test.database.query('delete from schema_migrations where version = 2');
    expect(await refusal(migrate(test.database, three))).toBe(
      'the database has schema version 3, but not 2: restore a backup',
    );
  });

  it('leaves nothing of a failing migration behind, keeps those before it, and names its file', async () => {
    const good = 'create table one (id int);';
    const broken = migrationsOf({
      '0001_one.sql': good,
      '0002_broken.sql': 'create table two (id int); insert into two values (1); select 1 / 0;',
      '0003_three.sql': 'create table three (id int);',
    });
    expect(await refusal(migrate(test.database, broken))).toBe(
      'migration 0002_broken.sql failed: division by zero',
    );
    expect(await tables()).toEqual(['one']);
    expect(await applied()).toEqual(['0001_one.sql']);

    // After the file is corrected, the same database continues from there; the lock was released as well.
    const mended = migrationsOf({ '0001_one.sql': good, '0002_broken.sql': 'create table two (id int);' });
    expect(await migrate(test.database, mended)).toEqual(['0002_broken.sql']);
    expect(await tables()).toEqual(['one', 'two']);
  });

  it('lets every waiting node try the failing migration, so that all of them get the error', async () => {
    const broken = migrationsOf({ '0001_broken.sql': 'create table one (id int); select nonsense;' });
    const nodes = Array.from({ length: 3 }, () => connectDatabase(test.address, 1));
    const messages = await Promise.all(nodes.map((node) => refusal(migrate(node, broken))));
    await Promise.all(nodes.map((node) => node.close()));
    expect(new Set(messages)).toEqual(
      new Set(['migration 0001_broken.sql failed: column "nonsense" does not exist']),
    );
    expect(await tables()).toEqual([]);
  });

  it('does not return a connection with changed timeouts to the pool', async () => {
    const one = connectDatabase(test.address, 1);
    const limits = (): Promise<object[]> =>
      one.query(
        `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`,
      );
    const before = await limits();
    await migrate(one);
    expect(await limits()).toEqual(before);
    await one.close();
  });
});

describe('readMigrations', () => {
  it.each([
    ['-- online\nselect 1;', true],
    ['--online \r\nselect 1;', true],
    ['-- online', true],
    ['-- online only in part\nselect 1;', false],
    ['\n-- online\nselect 1;', false],
    ['select 1; -- online', false],
  ])('reads whether a migration is online from its first line: %j is %s', (text, online) => {
    expect(migrationsOf({ '0001_one.sql': text })[0]!.online).toBe(online);
  });

  it('finds the shipped files, in order, each with its text', () => {
    const files = readdirSync(MIGRATIONS).sort();
    expect(names).toEqual(files);
    expect(shipped.map(({ version }) => version)).toEqual(files.map((_, index) => index + 1));
    expect(new Set(shipped.map(({ checksum }) => checksum)).size).toBe(files.length);
  });

  it.each([
    ['a gap', ['0001_a.sql', '0003_c.sql'], 'migration 0003_c.sql should have the number 2'],
    ['a duplicate number', ['0001_a.sql', '0001_b.sql'], 'migration 0001_b.sql should have the number 2'],
    ['a start at 2', ['0002_b.sql'], 'migration 0002_b.sql should have the number 1'],
    ['a file without number', ['0001_a.sql', 'later.sql'], 'migration later.sql should have the number 2'],
  ])('refuses %s in the numbering', (_title, files, sentence) => {
    const read = (): Migration[] =>
      migrationsOf(Object.fromEntries(files.map((file) => [file, 'select 1;'])));
    expect(read).toThrow(new MigrationError(sentence));
  });

  it('ignores other files, and sorts by number', () => {
    const folder = join(directory, 'copy');
    cpSync(MIGRATIONS, folder, { recursive: true });
    writeFileSync(join(folder, 'README.md'), 'not a migration');
    expect(readMigrations(folder)).toEqual(shipped);
  });
});

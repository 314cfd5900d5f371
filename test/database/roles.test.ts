import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { connectDatabase, type Database } from '../../src/database/database.ts';
import { GRANTS } from '../../src/database/grants.ts';
import { type Migration, MigrationError, migrate, readMigrations } from '../../src/database/migrate.ts';
import { createTestDatabase, describeOnOneServer, type TestDatabase } from '../support/database.ts';

/** PostgreSQL's error code for a role without the privilege. */
const NO_RIGHTS = '42501';
const role = inject('servingRole');

let test: TestDatabase;
let serving: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  serving = connectDatabase(test.servingAddress, 2);
});
afterAll(async () => {
  await serving.close();
  await test.drop();
});

const refusalOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'executed',
    (error: { code?: string }) => error.code ?? error,
  );
const rolesOf = async (database: Database): Promise<object[]> =>
  database.query(
    `select grantee, table_name, privilege_type from information_schema.table_privileges
     where table_schema = 'public' and grantee = $1 order by 1, 2, 3`,
    [role],
  );

describeOnOneServer('every table', () => {
  it('and every view has a declared grant, so that a new one cannot be added without a decision about the serving role', async () => {
    const rows = await test.database.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
    );
    expect(Object.keys(GRANTS).sort()).toEqual(rows.map(({ name }) => name).sort());
  });

  it.each(Object.entries(GRANTS))('%s: the role has exactly the declared rights', async (table, grant) => {
    const [rights] = await test.database.query<Record<string, boolean>>(
      `select ${['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger', 'maintain']
        .map((verb) => `has_table_privilege($1, $2, '${verb}') as "${verb}"`)
        .join(', ')}`,
      [role, table],
    );
    const { select, insert, delete: deletes, ...others } = rights!;
    expect({ select, insert, deletes }).toEqual({
      select: true,
      insert: grant.insert === true,
      deletes: grant.delete === true,
    });
    // Updates are granted by column, never on the whole table.
    expect(Object.values(others)).toEqual([false, false, false, false, false]);
    const columns = await test.database.query<{ name: string }>(
      `select attname as name from pg_attribute where attrelid = $2::text::regclass and attnum > 0
         and not attisdropped and has_column_privilege($1, attrelid, attnum, 'update') order by attname`,
      [role, table],
    );
    expect(columns.map(({ name }) => name)).toEqual([...(grant.update ?? [])].sort());
  });
});

describeOnOneServer('what is only ever inserted', () => {
  const insertOnly = Object.entries(GRANTS)
    .filter(([, { insert, update, delete: deletes }]) => insert && !update && !deletes)
    .map(([table]) => table);

  it.each(insertOnly)('%s: can be neither changed nor deleted nor altered', async (table) => {
    const [column] = await test.database.query<{ name: string }>(
      'select attname as name from pg_attribute where attrelid = $1::text::regclass and attnum = 1',
      [table],
    );
    const statements = [
      `update ${table} set ${column!.name} = ${column!.name}`,
      `delete from ${table}`,
      `truncate ${table}`,
      `select from ${table} for update`,
      `do $$ begin lock table ${table} in exclusive mode; end $$`,
      `alter table ${table} add column more integer`,
      `alter table ${table} disable trigger all`,
      `alter table ${table} owner to ${role}`,
      `create trigger changes before insert on ${table} execute function suppress_redundant_updates_trigger()`,
      `drop table ${table}`,
    ];
    for (const statement of statements) {
      expect([statement, await refusalOf(serving.query(statement))]).toEqual([statement, NO_RIGHTS]);
    }
  });
});

describeOnOneServer('the role that serves', () => {
  it('alone, beside the owner, may hold writes', async () => {
    const [row] = await test.database.query(
      `select has_function_privilege($1, 'hold_writes()', 'execute') as serving,
              has_function_privilege('public', 'hold_writes()', 'execute') as others`,
      [role],
    );
    expect(row).toEqual({ serving: true, others: false });
  });

  it('can neither create anything, nor become another role, nor grant, nor see beyond its database', async () => {
    for (const statement of [
      'create table mine (id integer)',
      'create schema mine',
      'create function mine() returns integer language sql as $$ select 1 $$',
      'alter table balances drop constraint balances_available_not_negative',
      'drop index entries_of_system_accounts',
      `set role ${test.address && 'user' in test.address ? test.address.user : ''}`,
      "set session_replication_role = 'replica'",
      'create role mine',
      'create database mine',
      'alter system set fsync = off',
    ]) {
      expect([statement, await refusalOf(serving.query(statement))]).toEqual([statement, NO_RIGHTS]);
    }
    await serving.query(`grant update on entries to ${role}`).catch(() => undefined);
    expect(await refusalOf(serving.query('update entries set delta = 1'))).toBe(NO_RIGHTS);
  });

  it('migrates nothing: it accepts an up-to-date schema, and says who has to migrate an older one', async () => {
    expect(await migrate(serving)).toEqual([]);
    const shipped = readMigrations();
    const more: Migration = {
      version: shipped.length + 1,
      name: 'more.sql',
      sql: 'create table more (id integer)',
      checksum: 'x',
      online: true,
    };
    await expect(migrate(serving, [...shipped, more])).rejects.toThrow(
      `the database has schema version ${shipped.length}, but this release of Ferry needs ${shipped.length + 1}, and the role ${role} may not change the schema: run "ferry migrate" with the role that owns the tables`,
    );
  });
});

describeOnOneServer('a migration by the owner', () => {
  it('renews the rights of the role: what was added by hand goes, and what was taken away returns', async () => {
    const before = await rolesOf(test.database);
    await test.database.query(`grant update, delete on entries to ${role}`);
    await test.database.query(`grant update (delta) on entries to ${role}`);
    await test.database.query(`revoke all on balances from ${role}`);
    await migrate(test.database, undefined, undefined, { renews: true });
    expect(await rolesOf(test.database)).toEqual(before);
    expect(await refusalOf(serving.query('update entries set delta = 1'))).toBe(NO_RIGHTS);
    expect(await serving.query('update balances set held = held')).toEqual([]);
  });

  it('of an older release does not touch what a newer one has granted', async () => {
    const other = await createTestDatabase();
    const shipped = readMigrations();
    const newer = { version: shipped.length + 1, name: 'x', sql: 'select', checksum: 'x', online: true };
    await migrate(other.database, [...shipped, newer]);
    await other.database.query(`grant delete on entries to ${role}`);
    await migrate(other.database, shipped, undefined, { renews: true });
    const [row] = await other.database.query<{ may: boolean }>(
      `select has_table_privilege($1, 'entries', 'delete') as may`,
      [role],
    );
    expect(row!.may).toBe(true);
    await other.drop();
  });

  it('refuses a serving role that cannot be limited', async () => {
    const other = await createTestDatabase('template1');
    const migrateFor = (servingRole: string): Promise<string[]> =>
      migrate(other.database, undefined, undefined, { servingRole });
    const { user } = inject('postgres');
    await expect(migrateFor('nobody_has_this_name')).rejects.toThrow(
      'the serving role nobody_has_this_name does not exist: create it with "create role nobody_has_this_name login"',
    );
    await expect(migrateFor(user)).rejects.toThrow(
      /^the serving role ferry is a superuser, or has the rights/,
    );
    await other.database.query('grant create on schema public to public');
    await expect(migrateFor(role)).rejects.toThrow(
      `the serving role ${role} may create tables, because everyone may: run "revoke create on schema public from public" first`,
    );
    await expect(migrateFor(role)).rejects.toBeInstanceOf(MigrationError);
    expect(await other.database.query('select from schema_migrations')).toEqual([]);
    await other.drop();
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate, readMigrations } from '../../src/database/migrate.ts';
import { type PlannedMigration, planOf, tableSizes } from '../../src/database/migration-plan.ts';
import { LOCKS, type Lock, statementsIn, stepsOf } from '../../src/database/migration-statements.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const shipped = readMigrations();

describe('the locks of a statement', () => {
  const cases: [string, string][] = [
    ['alter table transfers add column note text', 'transfers ACCESS EXCLUSIVE catalog'],
    ["alter table a add column at text not null default 'x'", 'a ACCESS EXCLUSIVE catalog'],
    ['alter table a add column id uuid default gen_random_uuid()', 'a ACCESS EXCLUSIVE rewrite'],
    ['alter table a alter column b type numeric(78, 0)', 'a ACCESS EXCLUSIVE rewrite'],
    ['alter table a alter column b set not null', 'a ACCESS EXCLUSIVE scan'],
    ['alter table a add constraint c check (b > 0)', 'a ACCESS EXCLUSIVE scan'],
    ['alter table a add constraint c check (b > 0) not valid', 'a ACCESS EXCLUSIVE catalog'],
    ['alter table a validate constraint c', 'a SHARE UPDATE EXCLUSIVE scan'],
    [
      'alter table a add constraint c foreign key (b) references d',
      'a SHARE ROW EXCLUSIVE scan, d SHARE ROW EXCLUSIVE scan',
    ],
    ['create unique index concurrent_ones on a (b) where c is null', 'a SHARE index'],
    ['create table a (b uuid primary key references d)', 'd SHARE ROW EXCLUSIVE catalog'],
    ['drop table a, b cascade', 'a ACCESS EXCLUSIVE catalog, b ACCESS EXCLUSIVE catalog'],
    ['update a set b = 1', 'a ROW EXCLUSIVE rows'],
    ["create view v as select ';' from a", ''],
    ['do $$ begin execute $x$ drop table a; $x$; end $$', 'undefined ACCESS EXCLUSIVE unknown'],
  ];
  it.each(cases)('%s', (statement, expected) => {
    const [one, ...others] = statementsIn(`${statement}; -- a; comment\n`);
    expect(others).toEqual([]);
    const steps = stepsOf(one!).map(({ table, lock, work }) => `${table} ${lock} ${work}`);
    expect(steps.join(', ')).toBe(expected);
  });
});

describe('the plan of a migration', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase('template1');
  });
  afterAll(() => test.drop());

  it('names every lock that the server has after it, or a stronger one, and knows all statements but code', async () => {
    const connection = await test.database.reserve();
    const weaker: string[] = [];
    const withCode: string[] = [];
    for (const migration of shipped) {
      const [plan] = planOf([migration], await tableSizes(connection)) as [PlannedMigration];
      if (plan.hasCode) withCode.push(plan.name);
      const before = [...(await tableSizes(connection)).values()].map(({ table }) => table);
      await connection.query('begin');
      await connection.script(migration.sql);
      const rows = await connection.query<{ name: string; mode: string }>(
        `select c.relname::text as name, l.mode from pg_locks l join pg_class c on c.oid = l.relation
         where l.pid = pg_backend_pid() and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`,
      );
      await connection.query('commit');
      for (const { name, mode } of rows) {
        // `AccessExclusiveLock` is ACCESS EXCLUSIVE.
        const lock = mode
          .replace(/Lock$/, '')
          .replaceAll(/(?!^)([A-Z])/g, ' $1')
          .toUpperCase();
        if (!before.includes(name) || !LOCKS.includes(lock as Lock) || plan.hasCode) continue;
        const planned = plan.locks.find(({ table }) => table === name)?.lock;
        const isCovered = planned !== undefined && LOCKS.indexOf(planned) <= LOCKS.indexOf(lock as Lock);
        if (!isCovered) weaker.push(`${migration.name}: ${lock} on ${name}, planned ${planned}`);
      }
    }
    connection.release();
    expect(weaker).toEqual([]);
    expect(withCode.length).toBeLessThan(5);
  });

  it('has times that grow with the table, from the statement that locks to the end', () => {
    const sql = 'alter table a add column b text; create index on_c on c (d); drop table e;';
    const migration = { version: 1, name: '0001_x.sql', sql, checksum: '', online: false };
    const sizes = (bytes: number) =>
      new Map(['a', 'c', 'e'].map((table) => [table, { table, rows: bytes / 250, bytes }]));
    const heldMs = (bytes: number): Record<string, number | null> =>
      Object.fromEntries(planOf([migration], sizes(bytes))[0]!.locks.map((one) => [one.table, one.heldMs]));
    const [small, large] = [heldMs(8_192), heldMs(10_000_000_000)];
    expect(small.a).toBeLessThan(10);
    // The first lock is held while the index is built.
    expect(large.a).toBeGreaterThan(10_000);
    expect(large.a).toBeGreaterThan(large.c!);
    expect(large.e).toBeLessThan(10);
  });

  it('leaves out tables that the plan itself creates', () => {
    const sql = 'create table a (b int); create index on_b on a (b);';
    const plan = planOf([{ version: 1, name: 'x', sql, checksum: '', online: true }], new Map());
    expect(plan[0]!.locks).toEqual([]);
  });

  it('of an older database changes nothing', async () => {
    const older = await createTestDatabase('template1');
    await migrate(older.database, shipped.slice(0, 20));
    const before = await older.database.query('select version, applied_at from schema_migrations');
    const plans = planOf(shipped.slice(20), await tableSizes(older.database));
    expect(plans.map(({ name }) => name)).toEqual(shipped.slice(20).map(({ name }) => name));
    expect(await older.database.query('select version, applied_at from schema_migrations')).toEqual(before);
    await older.drop();
  });
});

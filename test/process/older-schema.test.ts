import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate, readMigrations } from '../../src/database/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runFerry } from '../support/process.ts';

/** Commands of this release on the database of an older one. */
const shipped = readMigrations();
const HAS = shipped.length - 5;

let older: TestDatabase;
let env: Record<string, string>;
beforeAll(async () => {
  older = await createTestDatabase('template1');
  await migrate(older.database, shipped.slice(0, HAS));
  const { socketDir, port, user, database } = older.address as Record<string, string>;
  const host = encodeURIComponent(socketDir!);
  env = { DATABASE_URL: `postgres://${user}@localhost:${port}/${database}?host=${host}` };
});
afterAll(() => older.drop());

const versions = () => older.database.query('select version, name, applied_at from schema_migrations');

it.each([['customer list'], ['client list'], ['verify'], ['freeze list']])(
  'ferry %s says which version the database has, what to do, and migrates nothing',
  async (command) => {
    const before = await versions();
    const { code, stdout, stderr } = await runFerry(command.split(' '), env);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(
      `the database has schema version ${HAS}, but this release of Ferry needs ${shipped.length}`,
    );
    expect(stderr).toContain('"ferry migrate --plan"');
    expect(await versions()).toEqual(before);
  },
);

it('ferry migrate --plan says what would be done and locked, and changes nothing', async () => {
  const before = await versions();
  const { code, stdout } = await runFerry(['migrate', '--plan'], env);
  expect(code).toBe(0);
  expect(stdout).toContain(`The database has schema version ${HAS}, this release needs ${shipped.length}.`);
  for (const { name } of shipped.slice(HAS)) expect(stdout).toContain(`\n${name}  `);
  expect(stdout).toMatch(/\n {4}\w+ \([\d,]+ rows, [\d,]+ KiB\): [A-Z ]+ for less than 0\.1 s: no /);
  const asJson = await runFerry(['migrate', '--plan', '--json'], env);
  const { schema_version: has, pending } = JSON.parse(asJson.stdout);
  expect(has).toBe(HAS);
  expect(pending.map((one: { name: string }) => one.name)).toEqual(
    shipped.slice(HAS).map(({ name }) => name),
  );
  expect(await versions()).toEqual(before);
});

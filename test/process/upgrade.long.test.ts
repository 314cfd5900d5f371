import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Connection, connectDatabase, type Database } from '../../src/database/database.ts';
import { type Migration, migrate, readMigrations } from '../../src/database/migrate.ts';
import { LIMITS } from '../../src/limits.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startLoad } from '../support/load.ts';
import {
  type FerryProcess,
  logOf,
  runFerry,
  sandboxOf,
  startFerry,
  tokenFrom,
  urlOf,
} from '../support/process.ts';

/** A node of this release, and migrations of a newer release. */
const shipped = readMigrations();
const known = shipped.length;
const NEWER = new RegExp(
  `^The database has schema version ${known + 1}, but this release of Ferry supports only ${known}: start a newer release\\.`,
);
const MIGRATING = /^The database schema is being migrated\. /;

/** The next migration. It counts the entries of the ledger into a table, to be compared with the ledger later. */
function newer(sql = '', online = false): Migration[] {
  const text = `create table found_by_migration as select count(*) as entries from entries; ${sql}`;
  return [
    ...shipped,
    { version: known + 1, name: `${known + 1}_newer.sql`, sql: text, checksum: 'x', online },
  ];
}

const parent = mkdtempSync(join(tmpdir(), 'ferry-upgrade-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

let test: TestDatabase;
/** Connects like `ferry migrate` of the newer release. */
let administration: Database;
let node: FerryProcess;
let dataDir: string;
let env: Record<string, string>;
beforeEach(async () => {
  test = await createTestDatabase();
  administration = connectDatabase({ url: `${urlOf(test.address)}?application_name=ferry-admin` }, 2);
  dataDir = mkdtempSync(join(parent, 'node-'));
  env = { DATABASE_URL: urlOf(test.address), FERRY_DATA_DIR: dataDir, LOG_LEVEL: 'info' };
  node = await startFerry(env);
});
afterEach(async () => {
  if (node.child.exitCode === null) await node.end('SIGKILL');
  await administration.close();
  await test.drop();
});

async function transfer(refId: string): Promise<{ status: number; body: any }> {
  const [customer, counterparty] = sandboxOf(dataDir).customers;
  const response = await fetch(`${node.url}/v2/transfer/platform`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      from_profile_id: customer!.profiles[0]!.id,
      to_profile_id: counterparty!.profiles[0]!.id,
      asset: 'USD',
      amount: '1',
      ref_id: refId,
    }),
  });
  return { status: response.status, body: await response.json() };
}

const tokens = new Map<FerryProcess, Promise<string>>();
function token(): Promise<string> {
  let found = tokens.get(node);
  if (found === undefined) {
    found = tokenFrom(node.url, sandboxOf(dataDir).customers[0]!);
    tokens.set(node, found);
  }
  return found;
}

async function readiness(): Promise<{ status: number; body: any }> {
  const response = await fetch(`${node.url}/health/ready`);
  return { status: response.status, body: await response.json() };
}

const isReady = async (): Promise<number> => (await readiness()).status;

async function startWriters() {
  const [customer, counterparty] = sandboxOf(dataDir).customers;
  const load = startLoad({
    url: node.url,
    token: await token(),
    from: customer!.profiles[0]!.id,
    to: counterparty!.profiles[0]!.id,
    writers: 8,
    prefix: 'upgrade',
    pauseMs: 20,
  });
  await expect.poll(() => load.acknowledged.size).toBeGreaterThan(100);
  return load;
}

/** The number of entries that were written after the migration counted them. */
async function writtenSince(): Promise<bigint> {
  const [row] = await administration.query<{ since: bigint }>(
    'select (select count(*) from entries) - (select entries from found_by_migration) as since',
  );
  return row!.since;
}

describe('a node of the older release', () => {
  it('writes nothing once a migration has begun, and answers with the reason', async () => {
    const load = await startWriters();
    await migrate(administration, newer());
    const { status, body } = await transfer('after');
    expect(status).toBe(503);
    expect(body).toMatchObject({ type: expect.stringMatching(/\/problems\/unavailable$/) });
    await expect.poll(async () => (await transfer('after')).body.detail).toMatch(NEWER);
    expect(await readiness()).toMatchObject({ status: 503, body: { detail: expect.stringMatching(NEWER) } });
    const asked = await fetch(`${node.url}/oauth2/token`, { method: 'POST' });
    expect([asked.status, await asked.json()]).toEqual([
      503,
      { error: 'temporarily_unavailable', error_description: expect.stringMatching(NEWER) },
    ]);
    await load.stop();
    expect(await writtenSince()).toBe(0n);
    expect([...load.statuses.keys()].toSorted((a, b) => a - b)).toEqual([200, 503]);

    // One line for the wait, one for the new schema, and none about an unavailable database.
    const said = logOf(node).filter(({ level }) => level >= 40);
    expect(said.map(({ msg }) => msg)).toEqual([
      expect.stringMatching(MIGRATING),
      expect.stringMatching(NEWER),
    ]);
    expect((await fetch(`${node.url}/health/live`)).status).toBe(200);
    expect((await node.end('SIGTERM')).code).toBe(0);
  });

  it('keeps running during an online migration, and can start after it', async () => {
    const load = await startWriters();
    await migrate(administration, newer('', true));
    // Longer than a node needs to notice a migration.
    await expect.poll(writtenSince).toBeGreaterThan(0n);
    const before = load.acknowledged.size;
    await expect.poll(() => load.acknowledged.size).toBeGreaterThan(before + 1_000);
    expect(await isReady()).toBe(200);
    await load.stop();
    expect([...load.statuses.keys()]).toEqual([200]);

    expect((await node.end('SIGTERM')).code).toBe(0);
    node = await startFerry(env);
    expect((await transfer('again')).status).toBe(200);
    expect(await runFerry(['customer', 'list'], env)).toMatchObject({ code: 0, stderr: '' });
  });

  it('serves again if the migration failed and the schema did not change', async () => {
    const load = await startWriters();
    await expect(migrate(administration, newer('select 1 / 0;'))).rejects.toThrow('division by zero');
    await expect.poll(isReady).toBe(200);
    expect((await transfer('afterwards')).status).toBe(200);
    await load.stop();
    const said = logOf(node).map(({ msg }) => msg);
    expect(said).toContainEqual(expect.stringMatching(MIGRATING));
    expect(said).toContainEqual('the database can be used again; this node serves requests');
  });

  it('that is frozen loses its connections to the migration, and writes nothing afterwards', async () => {
    const load = await startWriters();
    const progress: string[] = [];
    node.child.kill('SIGSTOP');
    try {
      // Sent while it is frozen: it handles this when it continues.
      const late = transfer('late');
      await migrate(administration, newer(), (message) => progress.push(message));
      expect(progress).toEqual([
        'waiting for the nodes that run on this database to stop using it',
        expect.stringMatching(
          /^terminating connections that still hold the schema lock: \d+ connections?: ferry-node \(pid \d+, /,
        ),
      ]);
      node.child.kill('SIGCONT');
      expect((await late).status).toBe(503);
    } finally {
      node.child.kill('SIGCONT');
    }
    await expect.poll(async () => (await readiness()).body.detail).toMatch(NEWER);
    await load.stop();
    expect(await writtenSince()).toBe(0n);
  });
});

describe('a migration', () => {
  it('without the privilege to terminate the connections of a node times out, names them, and changes nothing', async () => {
    const role = `migrator_${process.pid}`;
    await test.database.query(`create role ${role} login`);
    await test.database.query(`grant all on all tables in schema public to ${role}`);
    await test.database.query(`grant create on schema public to ${role}`);
    const url = urlOf(test.address).replace(/\/\/[^@]+@/, `//${role}@`);
    const limited = connectDatabase({ url: `${url}?application_name=ferry-admin` }, 2);
    try {
      node.child.kill('SIGSTOP');
      // The table of migrations belongs to another user, and already has its new column.
      await expect(migrate(limited, newer())).rejects.toThrow(
        /^the schema lock is held by \d+ connections?: ferry-node \(pid \d+, [\w ]+, [\w ]+\).*\. Nothing was changed: stop these nodes, then run the migration again$/,
      );
    } finally {
      node.child.kill('SIGCONT');
      await limited.close();
      await test.database.query(`drop owned by ${role}`);
      await test.database.query(`drop role ${role}`);
    }
    await expect.poll(isReady).toBe(200);
    expect((await transfer('afterwards')).status).toBe(200);
  });

  it('refuses to start while nodes are connected that do not hold the schema lock', async () => {
    const old = connectDatabase(test.address, 1);
    await old.query('select 1');
    await expect(migrate(administration, newer())).rejects.toThrow(
      /^nodes of an old release, which does not use the schema lock, are connected: 1 connection: ferry \(pid \d+, local socket, idle\)\. Nothing was changed/,
    );
    await old.close();
    await expect.poll(() => migrate(administration, newer()).catch(String)).toHaveLength(1);
  });

  it('blocked by a session that locks a table times out, names it, and never blocks readers for long', async () => {
    const reader = connectDatabase({ url: `${urlOf(test.address)}?application_name=reader` }, 1);
    const holder: Connection = await reader.reserve();
    await holder.query('set idle_in_transaction_session_timeout = 0');
    await holder.query('begin');
    await holder.query('select from customers limit 1');
    const [held] = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
    const progress: string[] = [];
    const migrated = migrate(
      administration,
      newer('alter table customers add column newer text;', true),
      (message) => progress.push(message),
    ).then(
      () => undefined,
      (error: Error) => error.message,
    );
    const outcome = { isKnown: false };
    void migrated.finally(() => {
      outcome.isKnown = true;
    });
    while (!outcome.isKnown) {
      expect((await fetch(`${node.url}/oauth2/token`, { method: 'POST' })).status).toBe(400);
      // Fails, like every statement of a node, if it waits longer than its lock timeout.
      await test.database.query('select from customers limit 1');
      await sleep(50);
    }
    expect(await migrated).toMatch(
      new RegExp(
        `^migration ${known + 1}_newer\\.sql is blocked by 1 connection: reader \\(pid ${held!.pid}, local socket, idle in transaction\\), and was given up after ${LIMITS.migrationAttemptsMax} attempts\\. Nothing of it was applied`,
      ),
    );
    expect(progress).toHaveLength(LIMITS.migrationAttemptsMax - 1);
    expect(await isReady()).toBe(200);
    await holder.query('rollback');
    holder.release();
    expect(await migrate(administration, newer('', true))).toHaveLength(1);
    await reader.close();
  });
});

describe('a command of a newer release', () => {
  it('does not migrate the database of an older one, and says how to migrate', async () => {
    const old = await createTestDatabase('template1');
    // Named like a command: a connection that looks like one of an old node would prevent the migration.
    const tool = connectDatabase({ url: `${urlOf(old.address)}?application_name=test` }, 2);
    await migrate(tool, shipped.slice(0, -1));
    const over = { ...env, DATABASE_URL: urlOf(old.address) };
    const versions = async (): Promise<number> => (await tool.query('select from schema_migrations')).length;
    const refusal = {
      code: 1,
      stdout: '',
      stderr: `the database has schema version ${known - 1}, but this release of Ferry needs ${known}: "ferry migrate --plan" says what has to be done, "ferry migrate" does it\n`,
    };
    const create = ['customer', 'create', '--name', 'Early'];
    for (const args of [['customer', 'list'], ['verify'], create]) {
      expect(await runFerry(args, over)).toEqual(refusal);
    }
    const { name, online } = shipped.at(-1)!;
    const plan = await runFerry(['migrate', '--plan', '--json'], over);
    expect(JSON.parse(plan.stdout)).toMatchObject({
      schema_version: known - 1,
      needed_version: known,
      pending: [{ name, online }],
    });
    expect((await runFerry(['migrate', '--plan'], over)).stdout).toContain(
      `Would apply, each in one transaction:\n${name}  ${online ? 'online' : 'running nodes stop using the database'}\n`,
    );
    expect(await versions()).toBe(known - 1);

    const migrated = await runFerry(['migrate'], over);
    expect(migrated).toEqual({ code: 0, stdout: `Applied: ${name}\n`, stderr: '' });
    expect((await runFerry(['migrate', '--plan'], over)).stdout).toBe('The schema is up to date.\n');
    expect(await runFerry(['customer', 'list'], over)).toMatchObject({ code: 0, stderr: '' });
    await tool.close();
    await old.drop();
  });

  it('creates the schema of an empty database only for customer create', async () => {
    const empty = await createTestDatabase('template1');
    const over = { ...env, DATABASE_URL: urlOf(empty.address) };
    expect(await runFerry(['customer', 'list'], over)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'the database has no schema yet: run "ferry migrate", or start the service\n',
    });
    expect(await runFerry(['customer', 'create', '--name', 'First'], over)).toMatchObject({ code: 0 });
    expect((await runFerry(['customer', 'list'], over)).stdout).toContain('First');
    await empty.drop();
  });
});

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { readMigrations } from '../../src/database/migrate.ts';
import { LIMITS } from '../../src/limits.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  audited,
  type FerryProcess,
  type Finished,
  logOf,
  runFerry,
  sandboxOf,
  startFerry,
  tokenFrom,
  urlOf,
} from '../support/process.ts';

const OPERATIONS = readFileSync(resolve(import.meta.dirname, '../../docs/operations.md'), 'utf8');
const PUBLIC_URL = 'https://pay.example';
/** Production must not write here: the directory is not even created. */
const parent = mkdtempSync(join(tmpdir(), 'ferry-nodes-'));
const dataDir = join(parent, 'data');
afterAll(() => rmSync(parent, { recursive: true, force: true }));

describe('nodes that start together on an empty database', () => {
  let test: TestDatabase;
  let env: Record<string, string>;
  let nodes: FerryProcess[] = [];
  let customerCreated: Finished;
  let clientCreated: Finished;

  beforeAll(async () => {
    test = await createTestDatabase('template1');
    env = {
      FERRY_MODE: 'production',
      FERRY_PUBLIC_URL: PUBLIC_URL,
      DATABASE_URL: urlOf(test.address),
      FERRY_SECRET_KEY: Buffer.alloc(32).toString('base64'),
      FERRY_DATA_DIR: dataDir,
    };
    nodes = await Promise.all(Array.from({ length: 3 }, () => startFerry(env)));
    customerCreated = await runFerry(['customer', 'create', '--name', 'Harbour Brokerage', '--json'], env);
    const named = ['--customer', 'Harbour Brokerage', '--name', 'x'];
    clientCreated = await runFerry(['client', 'create', ...named, '--json'], env);
  });
  afterAll(async () => {
    await Promise.all(
      nodes.filter(({ child }) => child.exitCode === null).map((node) => node.end('SIGKILL')),
    );
    await test.drop();
  });

  async function call(node: FerryProcess, token: string, method: string, path: string, body?: object) {
    const response = await fetch(node.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as any };
  }

  const client = (): any => JSON.parse(clientCreated.stdout);
  const tokenAt = (node: FerryProcess): Promise<string> => tokenFrom(node.url, client());

  it('migrate it once', async () => {
    const names = readMigrations().map((migration) => migration.name);
    const rows = await test.database.query<{ name: string }>(
      'select name from schema_migrations order by version',
    );
    expect(rows.map((row) => row.name)).toEqual(names);
    // Each node logs what it applied.
    const logged = nodes.flatMap((node) => [...node.output().matchAll(/"migration":"([^"]+)"/g)]);
    expect(logged.map((match) => match[1])).toEqual(names);
  });

  it('are all ready, each on its own address', async () => {
    expect(new Set(nodes.map((node) => node.url)).size).toBe(nodes.length);
    for (const node of nodes) expect((await fetch(`${node.url}/health/ready`)).status).toBe(200);
  });

  it('print one line with their address, and nothing of a sandbox', () => {
    for (const node of nodes) {
      const lines = node
        .output()
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('{'));
      expect(lines).toEqual([`Ferry listens on ${node.url}`]);
    }
  });

  it('warn once, each, that there are no rails', () => {
    for (const node of nodes) {
      const warnings = logOf(node).filter(({ level }) => level === 40);
      expect(warnings.map(({ msg }) => msg)).toEqual([
        expect.stringMatching(/^no rails are configured: .*docs\/operations\.md$/),
      ]);
    }
  });

  it('use a customer and a client that the command line created', () => {
    expect(customerCreated).toMatchObject({ code: 0, stderr: '' });
    expect(clientCreated).toMatchObject({ code: 0, stderr: '' });
  });

  it('give a client no scope that simulates, neither by default nor on request', async () => {
    expect(client()).toMatchObject({ scopes: expect.arrayContaining(['funding:read_profile']) });
    expect(clientCreated.stdout).not.toContain('sandbox');
    const asked = ['client', 'create', '--customer', 'Harbour Brokerage', '--name', 'x'];
    expect(await runFerry([...asked, '--scope', 'sandbox:simulate'], env)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The scope "sandbox:simulate" exists in the sandbox only.\n',
    });
  });

  it('accept tokens of each other, which are issued for their common public URL', async () => {
    const tokens = await Promise.all(nodes.map(tokenAt));
    for (const token of tokens) {
      const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
      expect(claims.iss).toBe(PUBLIC_URL);
      for (const node of nodes) expect((await call(node, token, 'GET', '/v2/profiles')).status).toBe(200);
    }
    const keys = await Promise.all(
      nodes.map(async (node) => (await fetch(`${node.url}/.well-known/jwks.json`)).json()),
    );
    for (const one of keys) expect(one).toEqual(keys[0]);
  });

  it('show at once what another node has written', async () => {
    const [one, ...others] = nodes;
    const token = await tokenAt(others[0]!);
    const made = await call(one!, token, 'POST', '/v2/profiles', { nickname: 'Main' });
    expect(made.status).toBe(200);
    for (const node of others) {
      const found = await call(node, token, 'GET', `/v2/profiles/${made.body.id}`);
      expect(found).toEqual({ status: 200, body: made.body });
    }
  });

  it('have no simulation endpoints', async () => {
    const [node] = nodes;
    const token = await tokenAt(node!);
    const id = '01890a5d-ac96-774b-bcce-b302099a8057';
    for (const path of [
      `/v2/sandbox/profiles/${id}/deposit`,
      `/v2/sandbox/transfers/${id}/complete`,
      `/v2/sandbox/transfers/${id}/fail`,
      `/v2/sandbox/fiat-accounts/${id}/approve`,
      `/v2/sandbox/fiat-accounts/${id}/reject`,
    ]) {
      const { status, body } = await call(node!, token, 'POST', path, {});
      expect({ status, type: body.type }).toEqual({ status: 404, type: `${PUBLIC_URL}/problems/not-found` });
    }
    const document = (await (await fetch(`${node!.url}/openapi.json`)).json()) as { paths: object };
    const paths = Object.keys(document.paths);
    expect(paths).toContain('/v2/transfer/platform');
    expect(paths.filter((path) => path.includes('sandbox'))).toEqual([]);
  });

  it('write nothing into a data directory, and create no demo data', async () => {
    expect(existsSync(dataDir)).toBe(false);
    const listed = await runFerry(['customer', 'list', '--json'], env);
    expect(JSON.parse(listed.stdout).map(({ name }: { name: string }) => name)).toEqual([
      'Harbour Brokerage',
    ]);
    const demo = await runFerry(['demo'], env);
    expect(demo).toMatchObject({ code: 1, stdout: '' });
    expect(demo.stderr).toMatch(/sandbox\.json does not exist/);
  });

  it('can be verified from the command line', async () => {
    await audited(...nodes);
    const { code, stdout } = await runFerry(['verify'], env);
    expect({ code, stdout }).toEqual({
      code: 0,
      // A node may have written a checkpoint by then.
      stdout: expect.stringMatching(
        /^The ledger is sound: 0 entries across 0 balances, no violations\.\n(Verified from the beginning|Continued from checkpoint \d+, .*)\.\n$/,
      ),
    });
  });

  it('stop using a database that a newer release has migrated; then no node starts and no command runs', async () => {
    const newest = readMigrations().length;
    const readiness = () =>
      Promise.all(nodes.map(async (node) => (await fetch(`${node.url}/health/ready`)).status));
    await test.database.query(
      `insert into schema_migrations (version, name, checksum) values ($1, 'of_the_future.sql', '')`,
      [newest + 1],
    );
    try {
      await expect.poll(readiness).toEqual(nodes.map(() => 503));
      const refusal = {
        code: 1,
        stdout: '',
        stderr: `the database has schema version ${newest + 1}, but this release of Ferry supports only ${newest}: start a newer release\n`,
      };
      for (const args of [['serve'], ['migrate'], ['customer', 'list']]) {
        expect(await runFerry(args, env)).toEqual(refusal);
      }
    } finally {
      await test.database.query('delete from schema_migrations where version > $1', [newest]);
    }
    await expect.poll(readiness).toEqual(nodes.map(() => 200));
  });

  it('never need more connections than the documentation says', async () => {
    const [, perNode] = /at most (\d+) connections/.exec(OPERATIONS)!;
    expect(Number(perNode)).toBe(
      LIMITS.databaseConnectionsMax + LIMITS.writePathConnectionsMax + LIMITS.healthConnectionsMax,
    );
    const token = await tokenAt(nodes[0]!);
    const busy = nodes.flatMap((node) =>
      Array.from({ length: 100 }, () => call(node, token, 'GET', '/v2/profiles')),
    );
    const count = `select count(*)::integer as count from pg_stat_activity
                   where datname = current_database() and pid <> pg_backend_pid()`;
    const [row] = await test.database.query<{ count: number }>(count);
    await Promise.all(busy);
    expect(row!.count).toBeGreaterThan(0);
    expect(row!.count).toBeLessThanOrEqual(nodes.length * Number(perNode));
  });

  it('exit with 0 on SIGTERM, and leave no connection behind', async () => {
    const ended = await Promise.all(nodes.map((node) => node.end('SIGTERM')));
    expect(ended.map(({ code }) => code)).toEqual(nodes.map(() => 0));
    const left = `select count(*)::integer as count from pg_stat_activity
                  where datname = current_database() and pid <> pg_backend_pid()`;
    await expect.poll(() => test.database.query(left)).toEqual([{ count: 0 }]);
  });
});

describe('a sandbox with DATABASE_URL', () => {
  it('creates its data directory and the demo data, in whatever form the URL names the socket', async () => {
    const test = await createTestDatabase('template1');
    const { socketDir, user, database } = test.address as {
      socketDir: string;
      user: string;
      database: string;
    };
    const own = join(parent, 'sandbox', 'deep');
    const env = {
      DATABASE_URL: `postgres:///${database}?host=${socketDir}&user=${user}`,
      FERRY_DATA_DIR: own,
    };
    const ferry = await startFerry(env);
    const [customer] = sandboxOf(own).customers;
    expect((await tokenFrom(ferry.url, customer!)).split('.')).toHaveLength(3);
    expect(existsSync(join(own, 'postgres'))).toBe(false);
    expect((await ferry.end('SIGTERM')).code).toBe(0);

    // The next start with another data directory finds the demo data, but not the file with its secrets, and says so.
    const elsewhere = await startFerry({ ...env, FERRY_DATA_DIR: join(parent, 'elsewhere') });
    expect(elsewhere.output()).toContain(
      'The demo credentials are in the data directory that this database was first used with',
    );
    expect((await elsewhere.end('SIGTERM')).code).toBe(0);
    await test.drop();
  });
});

describe('the configuration file of the documentation', () => {
  const file = join(parent, 'ferry.json');
  writeFileSync(file, /^```json\n([\s\S]*?)^```$/m.exec(OPERATIONS)![1]!);
  const env = {
    FERRY_MODE: 'production',
    FERRY_PUBLIC_URL: PUBLIC_URL,
    FERRY_SECRET_KEY: Buffer.alloc(32).toString('base64'),
    FERRY_CONFIG: file,
    FERRY_OPENID_SECRET: 'of the OpenID provider',
  };

  it('is accepted, with its assets and its issuer', () => {
    const { assets, externalIssuer } = readConfig({ ...env, DATABASE_URL: 'postgres://%2Frun/ferry' });
    expect(assets.find('HUSD')).toMatchObject({ code: 'HUSD' });
    expect(externalIssuer).toMatchObject({ issuer: expect.stringMatching(/^https:/) });
  });

  it('starts a node, which accepts only the tokens of the issuer', async () => {
    const test = await createTestDatabase();
    const node = await startFerry({ ...env, DATABASE_URL: urlOf(test.address) });
    expect((await fetch(`${node.url}/health/ready`)).status).toBe(200);
    expect((await fetch(`${node.url}/oauth2/token`, { method: 'POST' })).status).toBe(404);
    const assets = await test.database.query<{ code: string }>('select code from assets order by code');
    expect(assets.map(({ code }) => code)).toEqual(['BTC', 'EUR', 'HUSD', 'USD', 'USDC']);
    expect((await node.end('SIGTERM')).code).toBe(0);
    await test.drop();
  });
});

describe('a start script of the operator', () => {
  it('as in the documentation gives production its rails, without any warning', async () => {
    const test = await createTestDatabase();
    const [, example] = /^```ts\n([\s\S]*?)^```$/m.exec(OPERATIONS)!;
    const start = join(parent, 'start.ts');
    writeFileSync(start, example!.replaceAll("'./src/", `'${resolve(import.meta.dirname, '../../src')}/`));
    writeFileSync(
      join(parent, 'my-wire.ts'),
      `export const createMyWire = () => ({
         name: 'wire' as const,
         horizonMs: 1_000,
         submit: async () => ({ kind: 'accepted' as const, nextAskMs: 10 }),
         ask: async () => ({ kind: 'completed' as const, detail: 'Paid.' }),
         depositInstructions: async () => ({ account_number: '1' }),
       });`,
    );
    const env = {
      FERRY_MODE: 'production',
      FERRY_PUBLIC_URL: PUBLIC_URL,
      DATABASE_URL: urlOf(test.address),
      FERRY_SECRET_KEY: Buffer.alloc(32).toString('base64'),
    };
    const node = await startFerry(env, [start]);
    expect(logOf(node).filter(({ level }) => level >= 40)).toEqual([]);
    expect((await fetch(`${node.url}/metrics`).then((answer) => answer.text())).split('\n')).toContainEqual(
      expect.stringMatching(/^ferry_withdrawals_waiting\{rail="wire"\} 0$/),
    );
    expect((await node.end('SIGTERM')).code).toBe(0);
    await test.drop();
  });
});

describe('a DATABASE_URL', () => {
  it.each([
    ['to a port where nothing listens', 'postgres://ferry:geheim@127.0.0.1:1/ferry', 'ECONNREFUSED'],
    [
      'to a host that does not exist',
      'postgres://ferry:geheim@nowhere.invalid/ferry?sslmode=verify-full',
      'nowhere.invalid',
    ],
    ['to a socket that does not exist', 'postgres://ferry:geheim@%2Fnowhere/ferry', '/nowhere'],
  ])('%s ends a command with one sentence that does not show the password', async (_title, url, named) => {
    const { code, stdout, stderr } = await runFerry(['customer', 'list'], {
      FERRY_MODE: 'production',
      FERRY_PUBLIC_URL: PUBLIC_URL,
      DATABASE_URL: url,
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^DATABASE_URL: the database is not available: .*\.\n$/);
    expect(stderr).toContain(named);
    expect(stderr).not.toContain('geheim');
  });

  it('to a database that does not exist ends the start with the message of the server', async () => {
    const test = await createTestDatabase('template1');
    const url = urlOf({
      ...(test.address as { socketDir: string; port: number; user: string }),
      database: 'nowhere',
    });
    await test.drop();
    const { code, stderr } = await runFerry(['serve'], { DATABASE_URL: url.replace('@', ':geheim@') });
    expect(code).toBe(1);
    expect(stderr).toBe('DATABASE_URL: the database is not available: database "nowhere" does not exist.\n');
  });
});

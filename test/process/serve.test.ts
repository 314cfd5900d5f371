import { execFile } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { pathWithCurl } from '../support/curl.ts';
import { createTestDatabase } from '../support/database.ts';
import {
  databaseOf,
  type FerryProcess,
  type Finished,
  makeDataDir,
  removeDataDir,
  runFerry,
  runHere,
  sandboxOf,
  startFerry,
  tokenFrom,
  urlOf,
} from '../support/process.ts';

const run = promisify(execFile);

const FUNDS = {
  USD: '1000000',
  BTC: '100',
  ETH: '1000',
  SOL: '10000',
  LTC: '1000',
  BCH: '1000',
  USDC: '1000000',
  PUSD: '1000000',
};

describe('the first start', () => {
  const dataDir = makeDataDir();
  let ferry: FerryProcess;
  beforeAll(async () => {
    ferry = await startFerry({ FERRY_DATA_DIR: dataDir });
  });
  afterAll(async () => {
    if (ferry.child.exitCode === null) await ferry.end('SIGTERM');
    await removeDataDir(dataDir);
  });

  it('prints the base URL, the docs, the credentials, and a command that works when pasted', async () => {
    const output = ferry.output();
    const [customer] = sandboxOf(dataDir).customers;
    for (const text of [ferry.url, `${ferry.url}/docs`, customer!.client_id, customer!.client_secret]) {
      expect(output).toContain(text);
    }
    const pasted = /TOKEN=[\s\S]*?-d '\{.*?\}'/.exec(output)![0];
    const { stdout } = await run('bash', ['-c', pasted], { env: { PATH: pathWithCurl() } });
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'COMPLETED',
      amount: '25',
      type: 'PLATFORM_TRANSFER_DEBIT',
    });
  });

  it('writes sandbox.json, readable only by its owner, with two customers of two profiles each', () => {
    expect(statSync(join(dataDir, 'sandbox.json')).mode & 0o777).toBe(0o600);
    const sandbox = sandboxOf(dataDir);
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
    const profile = { id, nickname: expect.any(String) };
    const customer = {
      name: expect.any(String),
      customer_id: id,
      client_id: expect.any(String),
      client_secret: expect.any(String),
      profiles: [profile, profile],
      identity_id: id,
      account_id: id,
      fiat_account_id: id,
    };
    expect(sandbox).toEqual({
      base_url: ferry.url,
      token_url: `${ferry.url}/oauth2/token`,
      customers: [customer, customer],
    });
  });

  it('funds every profile through the ledger', async () => {
    const [, counterparty] = sandboxOf(dataDir).customers;
    const token = await tokenFrom(ferry.url, counterparty!);
    const profile = counterparty!.profiles[1]!;
    const response = await fetch(`${ferry.url}/v2/profiles/${profile.id}/balances`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { items } = (await response.json()) as { items: { asset: string; available: string }[] };
    expect(Object.fromEntries(items.map((item) => [item.asset, item.available]))).toEqual(FUNDS);
    const database = databaseOf(dataDir);
    const rows = await database.query('select from transfers where profile_id = $1 and status = $2', [
      profile.id,
      'COMPLETED',
    ]);
    await database.close();
    expect(rows.length).toBe(Object.keys(FUNDS).length);
  });

  it('serves as the role that may not change entries, not as the owner', async () => {
    const database = databaseOf(dataDir);
    const rows = await database.query<{ user: string; may: boolean }>(
      `select distinct usename as user, has_table_privilege(usename, 'entries', 'delete') as may
       from pg_stat_activity where application_name = 'ferry-node'`,
    );
    await database.close();
    expect(rows).toEqual([{ user: 'ferry_serve', may: false }]);
  });

  it('answers health and metrics', async () => {
    expect((await fetch(`${ferry.url}/health/live`)).status).toBe(200);
    expect((await fetch(`${ferry.url}/health/ready`)).status).toBe(200);
    const metrics = await (await fetch(`${ferry.url}/metrics`)).text();
    expect(metrics).toMatch(/^ferry_ledger_batch_commands_count [1-9]/m);
    await expect
      .poll(async () => (await fetch(`${ferry.url}/metrics`)).text())
      .toMatch(/^ferry_audit_violations 0$/m);
  });

  it('is the only service on its data directory', async () => {
    const second = await runFerry(['serve'], { FERRY_DATA_DIR: dataDir });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`Another Ferry service uses the data directory ${dataDir}: stop it`);
    expect((await fetch(`${ferry.url}/health/ready`)).status).toBe(200);
  });

  it('exits with 0 within ten seconds of SIGTERM, and starts again with the same data on any port', async () => {
    const before = sandboxOf(dataDir);
    const ended = await ferry.end('SIGTERM');
    expect(ended.code).toBe(0);
    // It ended by itself, not by the timer that ends a process that hangs.
    expect(ferry.output()).not.toContain('stopping took too long');
    expect(LIMITS.shutdownMs).toBeLessThan(10_000);
    const verified = await runFerry(['verify', '--json'], { FERRY_DATA_DIR: dataDir });
    const { entries } = JSON.parse(verified.stdout) as { entries: number };
    ferry = await startFerry({ FERRY_DATA_DIR: dataDir });
    expect(ferry.url).not.toBe(before.base_url);
    expect(sandboxOf(dataDir)).toEqual({
      base_url: ferry.url,
      token_url: `${ferry.url}/oauth2/token`,
      customers: before.customers,
    });
    expect(statSync(join(dataDir, 'sandbox.json')).mode & 0o777).toBe(0o600);
    const demo = await runFerry(['demo'], { FERRY_DATA_DIR: dataDir });
    expect(demo.stdout).toContain(`export FERRY='${ferry.url}'\n`);
    const again = await runFerry(['verify', '--json'], { FERRY_DATA_DIR: dataDir });
    expect(JSON.parse(again.stdout)).toEqual({ violations: [], truncated: false, entries, accounts: 32 });
    expect((await ferry.end('SIGINT')).code).toBe(0);
  });
});

describe('an invalid environment', () => {
  it.each([
    ['PORT', 'eighty'],
    ['PORT', '70000'],
    ['HOST', 'not a host'],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['FERRY_MODE', 'staging'],
    ['FERRY_PUBLIC_URL', 'ferry.example'],
    ['LOG_LEVEL', 'loud'],
    ['FERRY_CONFIG', '/no/such/file.json'],
  ])('with %s=%s ends the start with one sentence that names it', async (name, value) => {
    const dataDir = makeDataDir();
    const { code, stdout, stderr } = await runHere(['serve'], { FERRY_DATA_DIR: dataDir, [name]: value });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain(name);
    // Nothing was started.
    expect(() => statSync(join(dataDir, 'postgres'))).toThrow('ENOENT');
    await removeDataDir(dataDir);
  });

  const withFile = async (
    content: object,
    serve: (env: Record<string, string>) => Promise<Finished>,
  ): Promise<Finished & { started: boolean }> => {
    const dataDir = makeDataDir();
    const path = join(dataDir, 'ferry.json');
    writeFileSync(path, JSON.stringify(content));
    const finished = await serve({ FERRY_DATA_DIR: dataDir, FERRY_CONFIG: path });
    const started = existsSync(join(dataDir, 'postgres'));
    await removeDataDir(dataDir);
    return { ...finished, started };
  };
  const usd = { code: 'USD', decimals: 2, kind: 'FIAT' };

  it('with an invalid file ends the start with the invalid entry, before anything is started', async () => {
    const serve = (env: Record<string, string>) => runHere(['serve'], env);
    expect(await withFile({ assets: [{ ...usd, asset: 'USD' }] }, serve)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'FERRY_CONFIG: assets[0].asset is not a known entry: use code, decimals, kind, networks, operator_minted.\n',
      started: false,
    });
  });

  it('with an external issuer ends the first start of a sandbox, because the demo data needs its own tokens', async () => {
    const issuer = { issuer: 'a', jwks_url: 'https://a.example', audience: 'b', customer_claim: 'c' };
    const test = await createTestDatabase();
    const serve = (env: Record<string, string>) =>
      runFerry(['serve'], { ...env, DATABASE_URL: urlOf(test.address) });
    expect(await withFile({ external_issuer: issuer }, serve)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^FERRY_CONFIG: .* start the sandbox once without external_issuer\.\n$/),
    });
    await test.drop();
  });

  it('without a database in production ends the start', async () => {
    const { code, stderr } = await runHere(['serve'], {
      FERRY_MODE: 'production',
      FERRY_DATA_DIR: makeDataDir(),
    });
    expect(code).toBe(1);
    expect(stderr).toContain('DATABASE_URL');
  });

  it('with a port in use ends the start before anything else is started', async () => {
    const dataDir = makeDataDir();
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((done) => taken.once('listening', done));
    const { port } = taken.address() as { port: number };
    const { code, stderr } = await runHere(['serve'], { FERRY_DATA_DIR: dataDir, PORT: String(port) });
    taken.close();
    expect(code).toBe(1);
    expect(stderr).toContain(`PORT ${port} is in use`);
    expect(() => statSync(join(dataDir, 'postgres'))).toThrow('ENOENT');
    await removeDataDir(dataDir);
  });
});

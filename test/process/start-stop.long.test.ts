import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { OpenError, reachOwnServer } from '../../src/database/reach.ts';
import { LIMITS } from '../../src/limits.ts';
import { refuseConnections } from '../support/closed-socket.ts';
import { createTestDatabase } from '../support/database.ts';
import { makePreparedDataDir } from '../support/prepared-data-dir.ts';
import {
  type FerryProcess,
  isRunning,
  logOf,
  nodeEnvironment,
  removeDataDir,
  sandboxOf,
  serverPid,
  startFerry,
  tokenFrom,
  urlOf,
} from '../support/process.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FERRY = join(ROOT, 'bin/ferry.js');
const parent = mkdtempSync(join(tmpdir(), 'ferry-start-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** A process that may wait before it listens, or never listens. */
function start(command: string, args: readonly string[], env: Record<string, string>) {
  const { HOME = '' } = process.env;
  const child = spawn(command, args, {
    cwd: ROOT,
    env: nodeEnvironment({ HOME, LOG_LEVEL: 'info', ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  return { child, output: () => text, ended };
}

const WAITING = /^DATABASE_URL: the database is not available: .*\. Waiting for up to \d+ seconds\.$/;

describe('a node whose database is unavailable', () => {
  it('waits for it, and logs the wait and its end once each', async () => {
    const test = await createTestDatabase();
    const { socketDir, port } = test.address as { socketDir: string; port: number };
    const place = join(parent, 'later');
    const closed = await refuseConnections({ socketDir: place, port });
    const node = start(process.execPath, [FERRY, 'serve'], {
      DATABASE_URL: urlOf({ ...(test.address as any), socketDir: place }),
      FERRY_DATA_DIR: join(parent, 'waits'),
    });
    await expect.poll(closed.attempts).toBeGreaterThan(3);
    await closed.close();
    symlinkSync(join(socketDir, `.s.PGSQL.${port}`), join(place, `.s.PGSQL.${port}`));
    await expect.poll(node.output).toContain('listens on http');
    const said = logOf(node).map(({ msg }) => msg);
    expect(said.slice(0, 2)).toEqual([
      expect.stringMatching(WAITING),
      'DATABASE_URL: the database is available',
    ]);
    expect(said.filter((msg) => msg.startsWith('DATABASE_URL'))).toHaveLength(2);
    node.child.kill('SIGTERM');
    expect(await node.ended).toBe(0);
    await test.drop();
  });

  it('exits with 0 when it is stopped while it waits, and prints no password', async () => {
    const node = start(process.execPath, [FERRY, 'serve'], {
      DATABASE_URL: 'postgres://ferry:geheim@127.0.0.1:1/ferry',
      FERRY_DATA_DIR: join(parent, 'never'),
    });
    await expect.poll(node.output).toContain('Waiting for up to');
    node.child.kill('SIGTERM');
    expect(await node.ended).toBe(0);
    expect(logOf(node).map(({ msg }) => msg)).toEqual([expect.stringMatching(WAITING)]);
    expect(node.output()).not.toContain('geheim');
  });

  it('waits only up to the limit', async () => {
    const said: string[] = [];
    const log = { info: () => undefined, warn: (message: string) => void said.push(message) } as any;
    const reached = reachOwnServer('postgres://ferry@127.0.0.1:1/ferry', { log, waitMs: 3_000 });
    await expect(reached).rejects.toThrow(OpenError);
    await expect(reached).rejects.toThrow(/^DATABASE_URL: the database is not available: .*ECONNREFUSED/);
    expect(said).toHaveLength(1);
  });
});

/** A start script as in docs/operations.md, with a rail of the given kind. */
function startFile(name: string, rail: string, sources = ''): string {
  const path = join(parent, `${name}.ts`);
  writeFileSync(
    path,
    `import { readConfig } from '${ROOT}/src/config/config.ts';
     import { createRails } from '${ROOT}/src/rails/rail.ts';
     import { serve } from '${ROOT}/src/serve.ts';
     const rail = {
       name: 'wire', horizonMs: 1_000,
       submit: async () => ({ kind: 'accepted', nextAskMs: 10 }),
       ask: async () => ({ kind: 'completed', detail: 'Paid.' }),
       depositInstructions: async () => ({ account_number: '1' }),
       ${rail}
     };
     await serve(readConfig(process.env), console.log, createRails([rail as any], [${sources}] as any));`,
  );
  return path;
}

/** Of all services here: only the first one takes the time to create a database. */
const dataDir = makePreparedDataDir();
afterAll(() => removeDataDir(dataDir));

/** The longest wait of a stop: for requests and rails at the same time, then for the database connections. */
const STOP_WAITS_MS = Math.max(LIMITS.requestsFinishMs, LIMITS.workerStopMs) + LIMITS.databaseCloseMs;

describe('a node whose rail does not answer', () => {
  const call = async (node: FerryProcess, path: string, extra: object): Promise<unknown> => {
    const [customer] = sandboxOf(dataDir).customers;
    const token = await tokenFrom(node.url, customer!);
    return fetch(`${node.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ profile_id: customer!.profiles[0]!.id, ...extra }),
    });
  };
  const withdraw = (node: FerryProcess): Promise<unknown> =>
    call(node, '/v2/transfer/fiat-withdrawals', {
      fiat_account_id: sandboxOf(dataDir).customers[0]!.fiat_account_id,
      asset: 'USD',
      total: '120',
    });
  const instruct = (node: FerryProcess): Promise<unknown> =>
    call(node, '/v2/transfer/fiat-deposit-instructions', { fiat_network: 'WIRE' });

  it('to payments, requests for deposits and for deposit instructions stops in time and in order, with its database', async () => {
    const never = (what: string): string =>
      `() => { console.log("RAIL CALLED FOR ${what}"); return new Promise(() => undefined); }`;
    const file = startFile(
      'never',
      `submit: ${never('payments')}, depositInstructions: ${never('instructions')},`,
      `{ collect: ${never('deposits')}, acknowledge: async () => undefined }`,
    );
    const node = await startFerry({ FERRY_DATA_DIR: dataDir, LOG_LEVEL: 'info' }, [file]);
    // The answers may never come.
    for (const use of [withdraw, instruct]) void use(node).catch(() => undefined);
    for (const what of ['payments', 'instructions', 'deposits'])
      await expect.poll(node.output).toContain(`RAIL CALLED FOR ${what}`);
    expect((await node.end('SIGTERM')).code).toBe(0);
    // Not by the timer that ends a process that hangs, which would leave the database server running.
    expect(node.output()).not.toContain('stopping took too long');
    expect(STOP_WAITS_MS).toBeLessThan(LIMITS.shutdownMs);
    expect(serverPid(dataDir)).toBeUndefined();
  });
});

describe('every documented way to start', () => {
  const started: number[] = [];
  afterEach(() => {
    for (const pid of started.splice(0)) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  });

  /** The process and all its descendants. */
  function familyOf(pid: number): number[] {
    const lines = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
    const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
    const found = [pid];
    for (const one of found) found.push(...pairs.filter(([, from]) => from === one).map(([child]) => child));
    return found;
  }

  const ways: (readonly [string, readonly string[]])[] = [
    ['npm start', ['npm', 'start']],
    ['npx ferry serve', ['npx', 'ferry', 'serve']],
    ['npx node with a start script', ['npx', 'node', startFile('own', '')]],
  ];
  it.each(ways)('stops at SIGTERM and leaves no process behind: %s', async (_title, [command, ...args]) => {
    const node = start(command!, args, { FERRY_DATA_DIR: dataDir });
    await expect.poll(node.output).toMatch(/listens on http/);
    started.push(...familyOf(node.child.pid!));
    // npm, the service, and the processes of its database.
    expect(started.length).toBeGreaterThan(3);
    node.child.kill('SIGTERM');
    await node.ended;
    await expect.poll(() => started.filter(isRunning)).toEqual([]);
    expect(node.output()).toContain('"msg":"stopping"');
    expect(node.output()).not.toContain('stopping took too long');
  });
});

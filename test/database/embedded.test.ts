import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { connectDatabase } from '../../src/database/database.ts';
import { findPackageDir } from '../../src/database/embedded/binaries.ts';
import { chooseServerUser, chooseSocketDir } from '../../src/database/embedded/files.ts';
import { processExists, readPidFile } from '../../src/database/embedded/process.ts';
import {
  defaultDataDir,
  EmbeddedError,
  type EmbeddedOptions,
  type EmbeddedServer,
  startEmbedded,
} from '../../src/database/embedded/server.ts';

// Real servers: each first start takes a second of processor time, and more on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const isRoot = process.getuid?.() === 0;
const moduleUrl = new URL('../../src/database/embedded/server.ts', import.meta.url).href;
const directories: string[] = [];
const servers: EmbeddedServer[] = [];
const owners: ChildProcess[] = [];
const logged: string[] = [];

function makeDir(): string {
  const path = mkdtempSync(join(tmpdir(), 'ferry-embedded-'));
  chmodSync(path, 0o711); // the server's user has to pass through when we are root
  directories.push(path);
  return path;
}

async function start(dataDir: string, more: Partial<EmbeddedOptions> = {}): Promise<EmbeddedServer> {
  const server = await startEmbedded({ dataDir, log: (message) => logged.push(message), ...more });
  servers.push(server);
  return server;
}

async function ask(server: EmbeddedServer, text: string): Promise<string> {
  const { socketDir, port, user } = server;
  const database = connectDatabase({ socketDir, port, user, database: 'postgres' }, 1);
  try {
    const [row] = await database.query(text);
    return String(Object.values(row ?? {})[0]);
  } finally {
    await database.close();
  }
}

/** Another process that starts a server on the directory, says so, and stays. */
function startOwner(dataDir: string): Promise<{ child: ChildProcess; pid: number; adopted: boolean }> {
  const program = `
    import { startEmbedded } from ${JSON.stringify(moduleUrl)};
    const server = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log: () => {} });
    console.log(JSON.stringify({ pid: server.pid, adopted: server.adopted }));
    setInterval(() => {}, 1000);`;
  const flags = ['--no-warnings', '--input-type=module', '-e', program];
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  owners.push(child);
  return new Promise((resolve, reject) => {
    child.stdout?.once('data', (data: Buffer) => resolve({ child, ...JSON.parse(data.toString()) }));
    child.once('exit', () => reject(new Error('the owner ended before its server was ready')));
  });
}

async function killOwner(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

async function until(condition: () => boolean): Promise<void> {
  for (let attempt = 0; !condition(); attempt += 1) {
    if (attempt > 1000) throw new Error('waited 10 s in vain');
    await sleep(10);
  }
}

afterEach(async () => {
  for (const owner of owners.splice(0)) {
    if (owner.exitCode === null && owner.signalCode === null) await killOwner(owner);
  }
  const started = servers.splice(0);
  for (const server of started) await server.stop();
  expect(started.filter((server) => processExists(server.pid))).toEqual([]);
  for (const path of directories.splice(0)) {
    // A data directory with a server that no test took over would leave that server behind.
    const left = readPidFile(join(path, 'postgres'));
    expect(left && processExists(left.pid)).toBeFalsy();
    rmSync(path, { recursive: true, force: true });
  }
  logged.length = 0;
});

describe('starting', () => {
  test('the first start makes a database that is there again at the next', async () => {
    const dataDir = makeDir();
    const firstAt = performance.now();
    const first = await start(dataDir);
    const firstMs = performance.now() - firstAt;
    expect(first).toMatchObject({ adopted: false, user: 'ferry', port: 5432 });
    expect(first.isAlive()).toBe(true);
    await ask(first, 'create table kept (value int)');
    expect(await ask(first, 'show fsync')).toBe('on');
    expect(await ask(first, 'show synchronous_commit')).toBe('on');
    expect(await ask(first, 'show listen_addresses')).toBe('');
    expect(await ask(first, 'show server_encoding')).toBe('UTF8');
    const stopAt = performance.now();
    await first.stop();
    const stopMs = performance.now() - stopAt;
    expect(first.isAlive()).toBe(false);

    const secondAt = performance.now();
    const second = await start(dataDir, { settings: { max_connections: '20' } });
    const secondMs = performance.now() - secondAt;
    expect(await ask(second, 'select count(*) from kept')).toBe('0');
    expect(await ask(second, 'show max_connections')).toBe('20');
    const times = [firstMs, secondMs, stopMs].map((ms) => Math.round(ms));
    console.log(`first start ${times[0]} ms, reopen ${times[1]} ms, stop ${times[2]} ms`);
  });

  test('what a killed initdb left behind is removed, and what a living process makes is kept', async () => {
    const dataDir = makeDir();
    const dead = join(dataDir, 'postgres.new-999999999-abc-1');
    const earlierLife = join(dataDir, `postgres.new-${process.pid}-abc-1`);
    const inProgress = join(dataDir, `postgres.new-${process.ppid}-abc-1`);
    const forgotten = join(dataDir, `postgres.new-${process.ppid}-old-1`);
    for (const path of [dead, earlierLife, inProgress, forgotten]) {
      mkdirSync(path);
      writeFileSync(join(path, 'PG_VERSION'), '18\n');
    }
    utimesSync(forgotten, 1, 1);
    await start(dataDir);
    const left = readdirSync(dataDir).filter((name) => name.includes('.new-'));
    expect(left).toEqual([`postgres.new-${process.ppid}-abc-1`]);
  });

  test('two processes that start on an empty directory at once end with one server', async () => {
    const dataDir = makeDir();
    const [one, two] = await Promise.all([startOwner(dataDir), startOwner(dataDir)]);
    expect(one.pid).toBe(two.pid);
    expect(one.adopted).toBe(!two.adopted);
    await Promise.all([killOwner(one.child), killOwner(two.child)]);
    const server = await start(dataDir);
    expect(server.pid).toBe(one.pid);
    expect(readdirSync(dataDir).filter((name) => name.includes('.new-'))).toEqual([]);
  });

  test('a data directory too deep for a socket gets one in the temporary directory', async () => {
    const dataDir = join(makeDir(), 'deep'.repeat(30));
    const server = await start(dataDir);
    expect(server.socketDir.startsWith(tmpdir())).toBe(true);
    expect(server.socketDir).toBe(chooseSocketDir(dataDir, 5432));
    expect(statSync(server.socketDir).mode & 0o777).toBe(0o700);
    expect(await ask(server, 'select 1')).toBe('1');
    directories.push(server.socketDir);
  });

  test('a data directory with blanks, quotes and commas works', async () => {
    const server = await start(join(makeDir(), `it's "my", dir`));
    expect(await ask(server, 'select 1')).toBe('1');
  });
});

describe('refusing', () => {
  test('a database of another PostgreSQL version is refused in one sentence', async () => {
    const dataDir = makeDir();
    mkdirSync(join(dataDir, 'postgres'));
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
    await expect(start(dataDir)).rejects.toThrow(/was made by PostgreSQL 17 and this is PostgreSQL 18/);
  });

  test('a directory with something else in it is refused', async () => {
    const dataDir = makeDir();
    mkdirSync(join(dataDir, 'postgres'));
    writeFileSync(join(dataDir, 'postgres', 'holiday.jpg'), '');
    await expect(start(dataDir)).rejects.toThrow(/holds files but no PostgreSQL database/);
  });

  test('a setting that PostgreSQL does not know fails with its own words', async () => {
    const settings = { no_such_setting: '1' };
    await expect(start(makeDir(), { settings })).rejects.toThrow(/unrecognized configuration parameter/);
  });

  test('a missing package names DATABASE_URL as the way out', () => {
    expect(() => findPackageDir(resolveNothing)).toThrow(EmbeddedError);
    expect(() => findPackageDir(resolveNothing)).toThrow(/DATABASE_URL/);
  });

  test('the server user is postgres, else nobody, else a sentence', () => {
    const nobody = 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65533::/:/bin/false\n';
    expect(chooseServerUser(nobody)).toEqual({ name: 'nobody', uid: 65534, gid: 65533 });
    expect(chooseServerUser(`${nobody}postgres:x:70:71::/:/bin/sh\n`).uid).toBe(70);
    expect(() => chooseServerUser('root:x:0:0::/root:/bin/sh\n')).toThrow(/refuses to run as root/);
  });

  test('the default data directory follows XDG for ordinary users', () => {
    const chosen = defaultDataDir({ XDG_DATA_HOME: '/data', HOME: '/home/me' });
    expect(chosen).toBe(isRoot ? '/var/lib/ferry' : '/data/ferry');
  });
});

describe('adopting', () => {
  test('a server whose owner was killed is adopted with its data', async () => {
    const dataDir = makeDir();
    const owner = await startOwner(dataDir);
    await killOwner(owner.child);
    const server = await start(dataDir);
    expect(server).toMatchObject({ adopted: true, pid: owner.pid });
    expect(await ask(server, 'select 1')).toBe('1');
    await server.stop();
    expect(processExists(owner.pid)).toBe(false);
  });

  test('a released server goes on running and is adopted later', async () => {
    const dataDir = makeDir();
    const tool = await startEmbedded({ dataDir, log: () => undefined, supervise: false });
    tool.release();
    const server = await start(dataDir);
    expect(server).toMatchObject({ adopted: true, pid: tool.pid });
  });

  test('a pid file that names a dead process does not block the start', async () => {
    const dataDir = makeDir();
    const first = await start(dataDir);
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    const text = readFileSync(pidFile, 'utf8');
    await first.stop();
    writeFileSync(pidFile, text);
    const second = await start(dataDir);
    expect(second.adopted).toBe(false);
    expect(await ask(second, 'select 1')).toBe('1');
  });

  test('lock files whose pid another program has now do not block the start', async () => {
    const dataDir = makeDir();
    const first = await start(dataDir);
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    const lockFile = `${first.socketPath}.lock`;
    const owner = statSync(pidFile);
    const texts = [pidFile, lockFile].map((path) => readFileSync(path, 'utf8'));
    await first.stop();
    // A program of the same user: for one of another user, PostgreSQL knows that it cannot be its own.
    const other = spawn('sleep', ['60'], { ...(isRoot && { uid: owner.uid, gid: owner.gid }) });
    owners.push(other);
    for (const [index, path] of [pidFile, lockFile].entries()) {
      writeFileSync(path, (texts[index] ?? '').replace(/^\d+/, String(other.pid)));
    }
    const second = await start(dataDir);
    expect(second.adopted).toBe(false);
    expect(await ask(second, 'select 1')).toBe('1');
    expect(other.exitCode ?? other.signalCode).toBeNull();
  });

  test('an empty pid file, as a power failure leaves it, does not block the start', async () => {
    const dataDir = makeDir();
    await (await start(dataDir)).stop();
    writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), '');
    const server = await start(dataDir);
    expect(await ask(server, 'select 1')).toBe('1');
  });

  test('a copy of a running directory does not adopt the server of the original', async () => {
    const [original, copy] = [makeDir(), makeDir()];
    const first = await start(original);
    await ask(first, 'checkpoint');
    cpSync(join(original, 'postgres'), join(copy, 'postgres'), { recursive: true });
    chmodSync(join(copy, 'postgres'), 0o700);
    if (isRoot) await giveAll(join(copy, 'postgres'), statSync(join(original, 'postgres')));
    // The copy's pid file names a socket that answers, which is the mark of a server out of our sight.
    await expect(start(copy)).rejects.toThrow(/Another PostgreSQL/);
    await first.stop();
    const second = await start(copy);
    expect(second.adopted).toBe(false);
  });

  test('a server that has lost its socket is started again', async () => {
    const dataDir = makeDir();
    const owner = await startOwner(dataDir);
    await killOwner(owner.child);
    rmSync(join(dataDir, 'socket', '.s.PGSQL.5432'));
    const server = await start(dataDir);
    expect(server.pid).not.toBe(owner.pid);
    expect(await ask(server, 'select 1')).toBe('1');
  });
});

describe('supervising', () => {
  test('a postmaster that was killed is started again at the same place', async () => {
    const server = await start(makeDir());
    const { pid } = server;
    await ask(server, 'create table kept (value int)');
    process.kill(pid, 'SIGKILL');
    const killedAt = performance.now();
    await until(() => server.pid !== pid);
    console.log(`running again ${Math.round(performance.now() - killedAt)} ms after kill -9`);
    expect(server.isAlive()).toBe(true);
    expect(await ask(server, 'select count(*) from kept')).toBe('0');
    expect(logged.filter((line) => line.includes('ended by itself'))).toHaveLength(1);
  });

  test('an adopted postmaster that was killed is started again as well', async () => {
    const dataDir = makeDir();
    const owner = await startOwner(dataDir);
    await killOwner(owner.child);
    const server = await start(dataDir);
    process.kill(owner.pid, 'SIGKILL');
    await until(() => server.pid !== owner.pid);
    expect(await ask(server, 'select 1')).toBe('1');
  });

  test('stopping right after the postmaster was killed leaves no server behind', async () => {
    const dataDir = makeDir();
    const server = await start(dataDir);
    process.kill(server.pid, 'SIGKILL');
    await sleep(220); // the restart is under way or about to be
    await server.stop();
    await sleep(300);
    const left = readPidFile(join(dataDir, 'postgres'));
    expect(left && processExists(left.pid)).toBeFalsy();
  });

  test('without supervision a dead server stays dead', async () => {
    const server = await start(makeDir(), { supervise: false });
    process.kill(server.pid, 'SIGKILL');
    await until(() => !server.isAlive());
    await sleep(400);
    expect(server.isAlive()).toBe(false);
  });

  test('a server that ignores the fast shutdown is stopped the hard way, and the log says so', async () => {
    const server = await start(makeDir());
    // A stopped process acts on no signal but SIGKILL; SIGCONT comes between SIGINT and SIGQUIT's end.
    process.kill(server.pid, 'SIGSTOP');
    const resumed = sleep(6_000).then(() => process.kill(server.pid, 'SIGCONT'));
    await server.stop();
    await resumed;
    expect(logged.some((line) => line.includes('SIGQUIT'))).toBe(true);
    expect(processExists(server.pid)).toBe(false);
  });
});

describe('the programs', () => {
  test('symlinks that a switched-off install script did not make are made', async () => {
    const packageDir = makePackage();
    expect(existsSync(join(packageDir, 'native/lib/libpq.so.5'))).toBe(process.platform !== 'linux');
    const server = await start(makeDir(), { packageDir });
    expect(await ask(server, 'select 1')).toBe('1');
  });

  test.runIf(isRoot)('programs that the server user cannot read are copied once', async () => {
    const packageDir = makePackage();
    chmodSync(join(packageDir, '..'), 0o700);
    const dataDir = makeDir();
    const copiedAt = performance.now();
    const server = await start(dataDir, { packageDir });
    console.log(`first start with a copy of the programs ${Math.round(performance.now() - copiedAt)} ms`);
    const copies = readdirSync(dataDir).filter((name) => name.startsWith('postgresql-'));
    expect(copies).toEqual([expect.stringMatching(/^postgresql-18[^/]*$/)]);
    const made = statSync(join(dataDir, copies[0] ?? ''));
    expect(await ask(server, 'select 1')).toBe('1');
    await server.stop();
    await start(dataDir, { packageDir });
    expect(statSync(join(dataDir, copies[0] ?? '')).ino).toBe(made.ino);
  });
});

describe.runIf(isRoot)('as root', () => {
  test('the server runs as another user, who owns cluster, socket and log', async () => {
    const dataDir = makeDir();
    chmodSync(dataDir, 0o700);
    const server = await start(dataDir);
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
    const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
    expect(uid).toBeGreaterThan(0);
    for (const name of ['postgres', 'socket', 'postgres.log']) {
      expect(statSync(join(dataDir, name)).uid).toBe(uid);
    }
    expect(statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700);
    expect(statSync(dataDir).mode & 0o777).toBe(0o711);
  });

  test('a data directory behind a closed parent is refused with the way out', async () => {
    const parent = makeDir();
    chmodSync(parent, 0o700);
    const message = new RegExp(`FERRY_DATA_DIR.*chmod o\\+x ${parent}`);
    await expect(start(join(parent, 'data'))).rejects.toThrow(message);
  });
});

function resolveNothing(): never {
  throw new Error('Cannot find module');
}

/** The installed package without the symlinks its install script made, as `--ignore-scripts` leaves it. */
function makePackage(): string {
  const packageDir = join(makeDir(), 'package');
  cpSync(findPackageDir(), packageDir, { recursive: true, verbatimSymlinks: true });
  const text = readFileSync(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8');
  for (const { target } of JSON.parse(text)) rmSync(join(packageDir, target));
  return packageDir;
}

async function giveAll(path: string, owner: { uid: number; gid: number }): Promise<void> {
  const child = spawn('chown', ['-R', `${owner.uid}:${owner.gid}`, path]);
  await new Promise((resolve) => child.once('exit', resolve));
}

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findPackageDir } from '../../src/database/embedded/binaries.ts';
import { chooseServerUser, chooseSocketDir } from '../../src/database/embedded/files.ts';
import { defaultDataDir, EmbeddedError } from '../../src/database/embedded/server.ts';
import {
  ask,
  directories,
  isRoot,
  killOwner,
  makeDir,
  makePreparedDir,
  start,
  startOwner,
  useEmbeddedServers,
} from '../support/embedded.ts';
import { IS_LONG } from '../support/rounds.ts';

useEmbeddedServers();

describe('starting', () => {
  test('the first start creates a database, and the next start opens it again', async () => {
    const dataDir = makeDir();
    const first = await start(dataDir);
    expect(first).toMatchObject({ adopted: false, user: 'ferry', port: 5432 });
    expect(first.isAlive()).toBe(true);
    await ask(first, 'create table kept (value int)');
    expect(await ask(first, 'show fsync')).toBe('on');
    expect(await ask(first, 'show synchronous_commit')).toBe('on');
    expect(await ask(first, 'show listen_addresses')).toBe('');
    expect(await ask(first, 'show server_encoding')).toBe('UTF8');
    await first.stop();
    expect(first.isAlive()).toBe(false);

    const second = await start(dataDir, { settings: { max_connections: '20' } });
    expect(await ask(second, 'select count(*) from kept')).toBe('0');
    expect(await ask(second, 'show max_connections')).toBe('20');
  });

  test.runIf(IS_LONG)(
    'leftovers of a killed initdb are removed, and the work of a running process is kept',
    async () => {
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
    },
  );

  test('two processes that start on an empty directory at once share one server', async () => {
    const dataDir = makeDir();
    const [one, two] = await Promise.all([startOwner(dataDir), startOwner(dataDir)]);
    expect(one.pid).toBe(two.pid);
    expect(one.adopted).toBe(!two.adopted);
    await Promise.all([killOwner(one.child), killOwner(two.child)]);
    const server = await start(dataDir);
    expect(server.pid).toBe(one.pid);
    expect(readdirSync(dataDir).filter((name) => name.includes('.new-'))).toEqual([]);
  });

  test('if the path of the data directory is too long for a socket, the socket is in the temporary directory', async () => {
    const dataDir = join(makeDir(), `it's "my", dir`.repeat(9));
    const server = await start(dataDir);
    expect(server.socketDir.startsWith(tmpdir())).toBe(true);
    expect(server.socketDir).toBe(chooseSocketDir(dataDir, 5432));
    expect(statSync(server.socketDir).mode & 0o777).toBe(0o700);
    expect(await ask(server, 'select 1')).toBe('1');
    directories.push(server.socketDir);
  });

  // In the quick run the one above has them, too.
  test.runIf(IS_LONG)(
    'a data directory with spaces, quotes and commas works, with the socket in it',
    async () => {
      const server = await start(join(makeDir(), `it's "my", dir`));
      expect(await ask(server, 'select 1')).toBe('1');
    },
  );
});

describe('refusing', () => {
  test('a database of another PostgreSQL version is refused in one sentence', async () => {
    const dataDir = makeDir();
    mkdirSync(join(dataDir, 'postgres'));
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
    await expect(start(dataDir)).rejects.toThrow(/was created by PostgreSQL 17, but this is PostgreSQL 18/);
  });

  test('a directory with something else in it is refused', async () => {
    const dataDir = makeDir();
    mkdirSync(join(dataDir, 'postgres'));
    writeFileSync(join(dataDir, 'postgres', 'holiday.jpg'), '');
    await expect(start(dataDir)).rejects.toThrow(/contains files but no PostgreSQL database/);
  });

  test('an unknown setting fails with the message of PostgreSQL', async () => {
    const settings = { no_such_setting: '1' };
    await expect(start(makePreparedDir(), { settings })).rejects.toThrow(
      /unrecognized configuration parameter/,
    );
  });

  test('the error for a missing package suggests DATABASE_URL', () => {
    expect(() => findPackageDir(resolveNothing)).toThrow(EmbeddedError);
    expect(() => findPackageDir(resolveNothing)).toThrow(/DATABASE_URL/);
  });

  test('the server user is postgres, or nobody; without both there is an error', () => {
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

describe('the programs', () => {
  // As root, the next test starts a server from such a package, too.
  test.runIf(IS_LONG || !isRoot)('symlinks are created if the install script was disabled', async () => {
    const packageDir = makePackage();
    expect(existsSync(join(packageDir, 'native/lib/libpq.so.5'))).toBe(process.platform !== 'linux');
    const server = await start(makeDir(), { packageDir });
    expect(await ask(server, 'select 1')).toBe('1');
  });

  test.runIf(isRoot)('programs that the server user cannot read are copied once', async () => {
    const packageDir = makePackage();
    chmodSync(join(packageDir, '..'), 0o700);
    // In the long run the copies create the database, too.
    const dataDir = IS_LONG ? makeDir() : makePreparedDir();
    const server = await start(dataDir, { packageDir });
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

  test('a data directory below an inaccessible parent is refused, with a suggestion', async () => {
    const parent = makeDir();
    chmodSync(parent, 0o700);
    const message = new RegExp(`FERRY_DATA_DIR.*chmod o\\+x ${parent}`);
    await expect(start(join(parent, 'data'))).rejects.toThrow(message);
  });
});

function resolveNothing(): never {
  throw new Error('Cannot find module');
}

/** The installed package without the symlinks of its install script, as `--ignore-scripts` leaves it. */
function makePackage(): string {
  const packageDir = join(makeDir(), 'package');
  cpSync(findPackageDir(), packageDir, { recursive: true, verbatimSymlinks: true });
  const text = readFileSync(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8');
  for (const { target } of JSON.parse(text)) rmSync(join(packageDir, target));
  return packageDir;
}

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectDatabase, type Database } from '../../src/database/database.ts';
import { findPackageDir, prepareBinaries } from '../../src/database/embedded/binaries.ts';
import { findServerUser } from '../../src/database/embedded/files.ts';
import { startEmbedded } from '../../src/database/embedded/server.ts';
import { makeDataDir, removeDataDir, runFerry, startFerry } from '../support/process.ts';
import { until } from '../support/until.ts';
import { blocksIn, ferryOnPath, guide, makeCertificate } from './guides.ts';

/** docs/postgresql-tls.md and docs/going-live.md, one after the other, on a PostgreSQL server that they configure. */
const folder = mkdtempSync(join(tmpdir(), 'ferry-tls-'));
const dataDir = makeDataDir();
chmodSync(dataDir, 0o711);
const cluster = join(dataDir, 'postgres');
const [SERVE, OWNER] = ['a long random one', 'another long random one'];
let server: ChildProcess;
let port: number;
let superuser: Database;

async function freePort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
  const { port: free } = listener.address() as { port: number };
  await new Promise((done) => listener.close(done));
  return free;
}

/** The programs of the sandbox, with a TCP port, which the sandbox does not have. */
async function startServer(socketDir: string): Promise<void> {
  const user = findServerUser(cluster);
  const { postgres } = await prepareBinaries(findPackageDir(), dataDir, user);
  const settings = ['listen_addresses=localhost', `port=${port}`, `unix_socket_directories=${socketDir}`];
  const flags = ['-D', cluster, ...settings.flatMap((setting) => ['-c', setting])];
  server = spawn(postgres, flags, {
    ...(user !== undefined && { uid: user.uid, gid: user.gid }),
    cwd: '/',
    stdio: 'ignore',
  });
}

const url = (role: string, password: string, host = 'localhost', ca = join(folder, 'ca.crt')): string =>
  `postgres://${role}:${encodeURIComponent(password)}@${host}:${port}/ferry?sslmode=verify-full&sslrootcert=${ca}`;

async function paste(command: string, env: Record<string, string>): Promise<string> {
  const { PATH = '' } = process.env;
  const { stdout } = await promisify(execFile)('bash', ['-c', `set -eu\n${command}`], {
    cwd: folder,
    env: { PATH: `${ferryOnPath(folder)}:${PATH}`, HOME: folder, ...env },
  });
  return stdout;
}

beforeAll(async () => {
  await paste(blocksIn('docs/postgresql-tls.md', 'bash')[0]!, { DB_HOST: 'localhost' });
  const embedded = await startEmbedded({ dataDir, log: () => undefined, supervise: false });
  await embedded.stop();
  // The settings of the guide, with the files in the data directory; the lines of pg_hba.conf without those of the sandbox.
  const { uid, gid } = statSync(cluster);
  for (const name of ['server.crt', 'server.key']) {
    copyFileSync(join(folder, name), join(cluster, name));
    chownSync(join(cluster, name), uid, gid);
    chmodSync(join(cluster, name), 0o600);
  }
  const [settings, hba] = blocksIn('docs/postgresql-tls.md', '');
  appendFileSync(join(cluster, 'postgresql.conf'), settings!);
  appendFileSync(join(cluster, 'pg_hba.conf'), hba!);
  port = await freePort();
  await startServer(embedded.socketDir);
  superuser = connectDatabase(
    { socketDir: embedded.socketDir, port, user: embedded.user, database: 'postgres' },
    2,
  );
  await until('the server answers', async () => (await superuser.query('select 1')).length === 1);
  const [roles] = blocksIn('docs/operations.md', 'sql');
  const statements = roles!
    .replace("'a long random one'", `'${OWNER}'`)
    .replace("'another long random one'", `'${SERVE}'`)
    .split(';')
    .filter((one) => one.replaceAll(/--.*$/gm, '').trim() !== '' && !one.includes('revoke'));
  for (const statement of statements) await superuser.query(statement);
});
afterAll(async () => {
  await superuser?.close();
  server?.kill('SIGINT');
  await until('the server has ended', () => server.exitCode !== null);
  await removeDataDir(dataDir);
  rmSync(folder, { recursive: true });
});

describe('production over TLS, by the guides', () => {
  let production: Record<string, string>;

  it('migrates, and creates customers and clients, with the commands of the list', async () => {
    const blocks = [...guide('docs/going-live.md').matchAll(/^ +```bash\n([\s\S]*?)^ +```$/gm)].map(
      (match) => match[1]!,
    );
    expect(blocks).toHaveLength(4);
    const printed = await paste(`${blocks.slice(0, 3).join('\n')}\nprintf 'key=%s\\n' "$FERRY_SECRET_KEY"`, {
      SERVE_DATABASE_URL: url('ferry_serve', SERVE),
      OWNER_DATABASE_URL: url('ferry_owner', OWNER),
    });
    expect(printed).toContain('ferry_serve');
    expect(printed.match(/client_secret|secret/gi)!.length).toBeGreaterThan(2);
    production = {
      FERRY_MODE: 'production',
      FERRY_PUBLIC_URL: 'https://pay.example',
      FERRY_SECRET_KEY: /^key=(.*)$/m.exec(printed)![1]!,
      DATABASE_URL: url('ferry_serve', SERVE),
      FERRY_DATA_DIR: join(folder, 'node'),
    };
    expect((await paste(blocks[3]!, production)).length).toBeGreaterThan(0);
  });

  it('serves over connections that are encrypted, all of them', async () => {
    const node = await startFerry(production);
    try {
      expect((await fetch(`${node.url}/health/ready`)).status).toBe(200);
      const rows = await superuser.query<{ ssl: boolean; version: string | null }>(
        `select s.ssl, s.version from pg_stat_ssl s join pg_stat_activity a using (pid) where a.usename = 'ferry_serve'`,
      );
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows)
        expect(row).toMatchObject({ ssl: true, version: expect.stringMatching(/^TLSv1/) });
    } finally {
      await node.end('SIGTERM');
    }
  });

  it('refuses a server with another name, and one of another authority', async () => {
    const verify = (address: string) => runFerry(['verify'], { ...production, DATABASE_URL: address });
    const otherName = await verify(url('ferry_serve', SERVE, '127.0.0.1'));
    expect(otherName.code).not.toBe(0);
    expect(otherName.stderr).toMatch(/127\.0\.0\.1|altnames|certificate/i);
    makeCertificate(folder, 'other.example');
    const otherAuthority = await verify(url('ferry_serve', SERVE, 'localhost', join(folder, 'cert.pem')));
    expect(otherAuthority.code).not.toBe(0);
    expect(otherAuthority.stderr).toMatch(/certificate/i);
  });
});

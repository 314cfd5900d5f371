// Creates the database cluster, once, and starts the server on it.
import { execFile, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.ts';
import { EmbeddedError, errorCode, giveTo, type ServerUser, scratchPath, syncPath } from './files.ts';
import { type Postmaster, processExists } from './process.ts';

export const superuser = 'ferry';

/** Everything that a start of the server needs. Created once, and used again for each restart. */
export type Site = {
  readonly dataDir: string;
  readonly clusterDir: string;
  readonly logFile: string;
  readonly socketDir: string;
  readonly port: number;
  readonly user: ServerUser | undefined;
  readonly binaries: Binaries;
  readonly settings: Readonly<Record<string, string>>;
};

// The caller's environment is not passed on: PGPORT, PGDATA or a locale that this machine does not have would change
// the outcome. PostgreSQL on macOS does not start without LC_ALL.
const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

function processOptions(user: ServerUser | undefined) {
  // Not the current working directory, which the server's user may not be allowed to enter.
  return { cwd: '/', env: environment, ...(user && { uid: user.uid, gid: user.gid }) };
}

/** Creates the cluster if there is none, and checks the version of an existing one. */
export async function ensureCluster(site: Site, log: (message: string) => void): Promise<void> {
  if (await isEmpty(site.clusterDir)) {
    log(`creating a database in ${site.clusterDir}`);
    await createCluster(site);
  }
  checkVersion(site);
}

async function isEmpty(directory: string): Promise<boolean> {
  try {
    return (await readdir(directory)).length === 0;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return true;
    throw new EmbeddedError(
      `The database in ${directory} cannot be opened by the user running Ferry (${errorCode(error)}): ` +
        'run Ferry as the user who created it, or set FERRY_DATA_DIR to another directory.',
    );
  }
}

function checkVersion(site: Site): void {
  const file = join(site.clusterDir, 'PG_VERSION');
  if (!existsSync(file)) {
    throw new EmbeddedError(
      `The directory ${site.clusterDir} contains files but no PostgreSQL database: move or delete it, ` +
        'or set FERRY_DATA_DIR to another directory.',
    );
  }
  const version = readFileSync(file, 'utf8').trim();
  if (version !== site.binaries.majorVersion) {
    throw new EmbeddedError(
      `The database in ${site.clusterDir} was created by PostgreSQL ${version}, but this is PostgreSQL ` +
        `${site.binaries.majorVersion}: transfer the data with pg_dump, or set FERRY_DATA_DIR to another directory.`,
    );
  }
}

/**
 * Created under another name, and renamed when it is complete and synced: so a cluster is either complete or absent.
 * initdb takes 0.7 s, of which its sync is at most 0.2 s, so --no-sync is not worth it.
 */
async function createCluster(site: Site): Promise<void> {
  const scratch = scratchPath(site.clusterDir);
  try {
    await mkdir(scratch, { mode: 0o700 });
    await giveTo(scratch, site.user);
    await runInitdb(site, scratch);
    await rename(scratch, site.clusterDir);
    await syncPath(site.dataDir);
  } catch (error) {
    await rm(scratch, { recursive: true, force: true });
    // Two processes may start on an empty directory at once: the second one uses the cluster of the first.
    if (!['ENOTEMPTY', 'EEXIST'].includes(errorCode(error))) throw error;
  }
}

async function runInitdb(site: Site, directory: string): Promise<void> {
  const flags = [
    `--pgdata=${directory}`,
    `--username=${superuser}`,
    // Access is controlled by the file permissions of the socket, which are 0700.
    '--auth=trust',
    '--encoding=UTF8',
    // The builtin provider sorts the same way on every machine. The order of libc changes between its versions,
    // which silently corrupts indexes.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-instructions',
  ];
  try {
    await promisify(execFile)(site.binaries.initdb, flags, processOptions(site.user));
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw cannotRun(site, said === '' ? errorCode(error) : said);
  }
}

function cannotRun(site: Site, reason: string): EmbeddedError {
  const as = site.user ? ` as the user ${site.user.name}` : '';
  return new EmbeddedError(
    `The embedded PostgreSQL in ${dirname(site.binaries.postgres)} does not run here${as}: set DATABASE_URL ` +
      `to your own PostgreSQL, or fix the cause: ${reason}`,
  );
}

async function serverSettings(site: Site): Promise<Record<string, string>> {
  return {
    max_connections: '200',
    shared_buffers: '256MB',
    // A ledger writes constantly: with rare checkpoints the WAL has fewer full page images.
    max_wal_size: '4GB',
    min_wal_size: '512MB',
    checkpoint_timeout: '15min',
    wal_compression: (await supportsLz4(site)) ? 'lz4' : 'off',
    // The statements are short; compiling them costs more than it saves.
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Errors of statements are logged by the service, which knows what may be logged. In this file they would
    // expose customers' data and grow without bound.
    log_min_messages: 'log',
    ...site.settings,
    // Callers cannot change these, because the returned handle depends on them.
    port: String(site.port),
    listen_addresses: '',
    unix_socket_directories: `"${site.socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    logging_collector: 'off',
  };
}

/** Builds differ: the one for Linux has only pglz, which is too slow. The check takes 7 ms. */
async function supportsLz4(site: Site): Promise<boolean> {
  const question = ['-D', site.clusterDir, '-c', 'wal_compression=lz4', '-C', 'wal_compression'];
  return promisify(execFile)(site.binaries.postgres, question, processOptions(site.user)).then(
    () => true,
    () => false,
  );
}

const logBytesMax = 8 * 1024 * 1024;

/** Detached and with its output in a file, so that it outlives this process and the next one can adopt it. */
export async function spawnServer(site: Site): Promise<Postmaster> {
  const settings = Object.entries(await serverSettings(site));
  const flags = ['-D', site.clusterDir, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  if (logSize(site) > logBytesMax) renameSync(site.logFile, `${site.logFile}.1`);
  const output = openSync(site.logFile, 'a', 0o600);
  try {
    await giveTo(site.logFile, site.user);
    const child = spawn(site.binaries.postgres, flags, {
      ...processOptions(site.user),
      detached: true,
      stdio: ['ignore', output, output],
    });
    // Waits only for the spawn itself; the caller notices a server that exits right away.
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    child.unref();
    const pid = child.pid ?? 0;
    // Both checks: Node learns of the exit a moment after the process is gone, and a pid may be reused later.
    const isRunning = () => child.exitCode === null && child.signalCode === null && processExists(pid);
    return { pid, port: site.port, socketDir: site.socketDir, isRunning };
  } catch (error) {
    throw error instanceof EmbeddedError ? error : cannotRun(site, errorCode(error));
  } finally {
    closeSync(output);
  }
}

export function logSize(site: Site): number {
  return statSync(site.logFile, { throwIfNoEntry: false })?.size ?? 0;
}

/** The last lines of the server's log, to quote in an error. */
export function logTail(site: Site, linesMax = 6): string {
  const text = existsSync(site.logFile) ? readFileSync(site.logFile, 'utf8') : '';
  return text.trimEnd().split('\n').slice(-linesMax).join('\n');
}

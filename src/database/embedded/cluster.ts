// Making the cluster, once, and starting the server on it.
import { execFile, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.ts';
import { EmbeddedError, errorCode, giveTo, type ServerUser, scratchPath, syncPath } from './files.ts';
import { type Postmaster, processExists } from './process.ts';

export const superuser = 'ferry';

/** Everything a start needs to know; made once, used again at each restart. */
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

// Nothing of the caller's environment: PGPORT, PGDATA or a locale this machine lacks would each change the
// outcome. PostgreSQL on macOS does not start without LC_ALL.
const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

function processOptions(user: ServerUser | undefined) {
  // Not our own working directory, which the server's user may be unable to enter.
  return { cwd: '/', env: environment, ...(user && { uid: user.uid, gid: user.gid }) };
}

/** Makes the cluster unless it is there, complete and of our version. */
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
      `The directory ${site.clusterDir} contains files but no PostgreSQL database: move it away, ` +
        'or set FERRY_DATA_DIR to another directory.',
    );
  }
  const version = readFileSync(file, 'utf8').trim();
  if (version !== site.binaries.majorVersion) {
    throw new EmbeddedError(
      `The database in ${site.clusterDir} was created by PostgreSQL ${version}, but this is PostgreSQL ` +
        `${site.binaries.majorVersion}: move it over with pg_dump, or set FERRY_DATA_DIR to another directory.`,
    );
  }
}

/**
 * Made under another name and renamed when complete and synced, so that a cluster is there whole or not at all.
 * initdb takes 0.7 s, of which its sync is at most 0.2 s: not worth saving with --no-sync.
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
    // Two processes may start on an empty directory at once: who comes second uses what is there.
    if (!['ENOTEMPTY', 'EEXIST'].includes(errorCode(error))) throw error;
  }
}

async function runInitdb(site: Site, directory: string): Promise<void> {
  const flags = [
    `--pgdata=${directory}`,
    `--username=${superuser}`,
    // Who may reach the socket is decided by file permissions, which are 0700.
    '--auth=trust',
    '--encoding=UTF8',
    // The builtin provider sorts alike on every machine; libc's order changes with its version and
    // would corrupt indexes behind our back.
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
      `to a PostgreSQL of your own, or look at the reason: ${reason}`,
  );
}

async function serverSettings(site: Site): Promise<Record<string, string>> {
  return {
    max_connections: '200',
    shared_buffers: '256MB',
    // A ledger writes all the time: rare checkpoints mean fewer full page images in the WAL.
    max_wal_size: '4GB',
    min_wal_size: '512MB',
    checkpoint_timeout: '15min',
    wal_compression: (await supportsLz4(site)) ? 'lz4' : 'off',
    // Our statements are short; compiling them costs more than it saves.
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Failed statements reach the service, which knows what may be logged; here they would put
    // customers' data into the file and let it grow without bound.
    log_min_messages: 'log',
    ...site.settings,
    // Not the caller's to change: the handle we return depends on them.
    port: String(site.port),
    listen_addresses: '',
    unix_socket_directories: `"${site.socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    logging_collector: 'off',
  };
}

/** The builds differ (the one for Linux has only pglz, which is too slow); asking takes 7 ms. */
async function supportsLz4(site: Site): Promise<boolean> {
  const question = ['-D', site.clusterDir, '-c', 'wal_compression=lz4', '-C', 'wal_compression'];
  return promisify(execFile)(site.binaries.postgres, question, processOptions(site.user)).then(
    () => true,
    () => false,
  );
}

const logBytesMax = 8 * 1024 * 1024;

/** Detached and with its output in a file, so that it outlives us and the next run can adopt it. */
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
    // Waits for the outcome of the spawn itself; a server that ends right away is noticed by the caller.
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    child.unref();
    const pid = child.pid ?? 0;
    // Both: Node learns of the end a moment after the process is gone, and a pid may be used again later.
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

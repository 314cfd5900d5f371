// A postmaster as the operating system sees it: its pid file, whether it is running, and how to stop it.
import { execFileSync } from 'node:child_process';
import { linkSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedError, socketPath } from './files.ts';

export const pollMs = 10;

export type PidFile = {
  readonly pid: number;
  readonly clusterDir: string;
  readonly port: number;
  readonly socketDir: string;
  /** `starting`, `ready`, `stopping`, or empty while the file is being written */
  readonly status: string;
};

export type Postmaster = {
  readonly pid: number;
  readonly port: number;
  readonly socketDir: string;
  isRunning(): boolean;
};

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function pidFilePath(clusterDir: string): string {
  return join(clusterDir, 'postmaster.pid');
}

/** Lines: pid, data directory, start time, port, socket directory, address, shared memory, status. */
export function readPidFile(clusterDir: string): PidFile | undefined {
  const lines = readText(pidFilePath(clusterDir))?.split('\n');
  const pid = Number(lines?.[0]);
  if (!lines || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return {
    pid,
    clusterDir: lines[1] ?? '',
    port: Number(lines[3]),
    socketDir: lines[4] ?? '',
    status: lines[7]?.trim() ?? '',
  };
}

/** Zombies do not count: in a container whose init process does not reap them, they would exist forever. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  const stat = process.platform === 'linux' ? readText(`/proc/${pid}/stat`) : undefined;
  return stat === undefined || stat[stat.lastIndexOf(')') + 2] !== 'Z';
}

/**
 * Whether this process is really the postmaster of this directory. The pid may have been reused by another program,
 * and the directory may be a copy whose pid file names the postmaster of the original.
 */
export function isPostmasterOf(pid: number, clusterDir: string): boolean {
  if (!processExists(pid)) return false;
  if (process.platform !== 'linux') {
    try {
      const command = execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
      return command.includes('postgres') && command.includes(clusterDir);
    } catch {
      return false;
    }
  }
  const words = readText(`/proc/${pid}/cmdline`)?.split('\0') ?? [];
  if (basename(words[0] ?? '') !== 'postgres') return false;
  if (words.includes(clusterDir)) return true;
  try {
    // It may have been started with another path to the same directory. The working directory of a postmaster is its
    // data directory.
    const [here, there] = [statSync(clusterDir), statSync(`/proc/${pid}/cwd`)];
    return here.dev === there.dev && here.ino === there.ino;
  } catch {
    return false;
  }
}

/** The postmaster that the pid file names, if it is running. It may not be ready yet. */
export function findPostmaster(clusterDir: string): Postmaster | undefined {
  const file = readPidFile(clusterDir);
  if (!file || !isPostmasterOf(file.pid, clusterDir)) return undefined;
  const { pid, port, socketDir } = file;
  return { pid, port, socketDir, isRunning: () => processExists(pid) };
}

/**
 * PostgreSQL removes the lock files of dead processes itself. But it takes any running process with the same pid and
 * user for a postmaster, and an empty file (after a power failure) for one that is just starting. Call this only if
 * `findPostmaster` found none.
 */
export async function removeStaleLocks(clusterDir: string, socketDir: string, port: number): Promise<void> {
  const file = readPidFile(clusterDir);
  if (file && (await acceptsConnections(socketPath(file.socketDir, file.port)))) {
    // A socket on a shared volume is visible in other containers, but pids and shared memory are not. PostgreSQL would
    // not notice the other server, and two servers on one directory destroy it.
    throw new EmbeddedError(
      `Another PostgreSQL, perhaps in another container, is using ${clusterDir}: stop it, ` +
        'set FERRY_DATA_DIR to another directory, or, if this one is a copy, delete its postmaster.pid.',
    );
  }
  for (const path of [pidFilePath(clusterDir), `${socketPath(socketDir, port)}.lock`]) {
    removeIfStale(path, clusterDir);
  }
}

const emptyFileAgeMsMax = 2_000;

function removeIfStale(path: string, clusterDir: string): void {
  const text = readText(path);
  if (text === undefined) return;
  const pid = Number(text.split('\n')[0]);
  if (pid > 0 ? isPostmasterOf(pid, clusterDir) : isYoung(path)) return;
  // Between the check and the removal, another process may have started a server, which wrote its own file here. So
  // rename the file, check it again, and put it back if it is not the one that was checked.
  const aside = `${path}.stale-${process.pid}`;
  try {
    renameSync(path, aside);
    if (readText(aside) !== text) linkSync(aside, path);
  } catch {
    // Another process removed or replaced it.
  }
  rmSync(aside, { force: true });
}

function isYoung(path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false });
  // A file from the future is not young: the wall clock was set back after it was written.
  return file !== undefined && Math.abs(Date.now() - file.mtimeMs) < emptyFileAgeMsMax;
}

export function acceptsConnections(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

// A fast shutdown writes a checkpoint and may take a while. An immediate shutdown leaves that to crash recovery, which
// loses nothing. PostgreSQL itself kills children that ignore an immediate shutdown after 5 s.
const shutdownSteps = [
  { signal: 'SIGINT', waitMs: 5_000 },
  { signal: 'SIGQUIT', waitMs: 7_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const;

export async function stopPostmaster(postmaster: Postmaster, log: (message: string) => void): Promise<void> {
  for (const { signal, waitMs } of shutdownSteps) {
    if (!postmaster.isRunning()) return;
    if (signal !== 'SIGINT') log(`the database server is slow to stop; sending ${signal}`);
    try {
      process.kill(postmaster.pid, signal);
    } catch (error) {
      if (!postmaster.isRunning()) return; // it has just ended
      throw error;
    }
    const deadline = performance.now() + waitMs;
    while (postmaster.isRunning() && performance.now() < deadline) await sleep(pollMs);
  }
  if (postmaster.isRunning()) {
    throw new EmbeddedError(`The database server (process ${postmaster.pid}) cannot be stopped.`);
  }
}

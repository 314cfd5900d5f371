// The user that the embedded server runs as, and the directories that this user must be able to reach.
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, type Stats, statSync } from 'node:fs';
import { chmod, chown, mkdir, open, readdir, realpath, rm, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';

/** An error of the embedded server. The message is a sentence for the operator. */
export class EmbeddedError extends Error {
  override readonly name = 'EmbeddedError';
}

/** The user that the server runs as if Ferry runs as root, because PostgreSQL refuses to. */
export type ServerUser = { readonly name: string; readonly uid: number; readonly gid: number };

export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

export function defaultDataDir(env: Readonly<Record<string, string | undefined>>): string {
  if (process.getuid?.() === 0) return '/var/lib/ferry';
  // The XDG specification tells programs to ignore a relative path here.
  const base = env.XDG_DATA_HOME;
  return base && isAbsolute(base)
    ? join(base, 'ferry')
    : join(env.HOME || homedir(), '.local', 'share', 'ferry');
}

/** `postgres`, or `nobody` where there is none, from the text of /etc/passwd. */
export function chooseServerUser(passwd: string): ServerUser {
  for (const name of ['postgres', 'nobody']) {
    const entry = passwd.split('\n').find((line) => line.startsWith(`${name}:`));
    const [, , uid, gid] = entry?.split(':') ?? [];
    if (uid && gid && /^[1-9]\d*$/.test(uid) && /^\d+$/.test(gid)) {
      return { name, uid: Number(uid), gid: Number(gid) };
    }
  }
  throw new EmbeddedError(
    'PostgreSQL refuses to run as root and /etc/passwd names neither a user "postgres" nor "nobody": ' +
      'run Ferry as an ordinary user, add one of the two, or set DATABASE_URL to your own PostgreSQL.',
  );
}

/** Undefined: the server runs as the user of this process. */
export function findServerUser(clusterDir: string): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  // PostgreSQL must own its files, so the owner of an existing cluster takes precedence over /etc/passwd. Otherwise
  // a `postgres` user that is created later (apt install postgresql) would make the existing data inaccessible.
  const owner = statSync(clusterDir, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { name: `with uid ${owner.uid}`, uid: owner.uid, gid: owner.gid };
  return chooseServerUser(existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8') : '');
}

/** Whether the mode bits of a file grant `bits` (4 read, 2 write, 1 execute or traverse) to a user. */
function grants(file: Stats, user: ServerUser, bits: number): boolean {
  const shift = file.uid === user.uid ? 6 : file.gid === user.gid ? 3 : 0;
  return ((file.mode >> shift) & bits) === bits;
}

/** The first directory from the root down to `path` that the user cannot pass through. */
function closedDirectory(path: string, user: ServerUser): string | undefined {
  const above = dirname(path);
  const closedAbove = above === path ? undefined : closedDirectory(above, user);
  return closedAbove ?? (grants(statSync(path), user, 1) ? undefined : path);
}

export function mayRead(path: string, user: ServerUser, bits = 4): boolean {
  return closedDirectory(dirname(path), user) === undefined && grants(statSync(path), user, bits);
}

export async function giveTo(path: string, user: ServerUser | undefined): Promise<void> {
  if (!user) return;
  await chown(path, user.uid, user.gid).catch((error: unknown) => {
    throw new EmbeddedError(
      `PostgreSQL has to run as the user ${user.name}, but ${path} cannot be given to it ` +
        `(${errorCode(error)}): run Ferry as an ordinary user or set DATABASE_URL to your own PostgreSQL.`,
    );
  });
}

/** Creates the data directory and returns its real path, which is the same for all processes. */
export async function prepareDataDir(path: string): Promise<string> {
  const asRoot = process.getuid?.() === 0;
  try {
    await mkdir(resolve(path), { recursive: true, mode: asRoot ? 0o711 : 0o700 });
    return await realpath(path);
  } catch (error) {
    throw new EmbeddedError(
      `The data directory ${path} cannot be created (${errorCode(error)}): ` +
        'set FERRY_DATA_DIR to a directory that the user running Ferry may write to.',
    );
  }
}

/** Lets the server's user traverse the data directory, which belongs to root. */
export async function openDataDirTo(dataDir: string, user: ServerUser | undefined): Promise<void> {
  if (!user) return;
  const closed = closedDirectory(dirname(dataDir), user);
  if (closed !== undefined) {
    throw new EmbeddedError(
      `PostgreSQL runs as the user ${user.name}, who cannot reach the data directory ${dataDir} because ` +
        `others have no access to ${closed}: set FERRY_DATA_DIR to another directory, such as ` +
        `/var/lib/ferry, or run: chmod o+x ${closed}`,
    );
  }
  const found = await stat(dataDir);
  // This discloses nothing: all files below that matter have mode 0700 or 0600.
  if (!grants(found, user, 1)) await chmod(dataDir, (found.mode & 0o7777) | 0o011);
}

// The path of a unix socket may have 107 bytes on Linux and 103 on macOS; the smaller limit is used for both.
const socketPathBytesMax = 103;

/** The directory of the socket. If the path of the data directory is too long, a derived name in the temporary directory. */
export function chooseSocketDir(dataDir: string, port: number): string {
  const inside = join(dataDir, 'socket');
  if (Buffer.byteLength(socketPath(inside, port)) <= socketPathBytesMax) return inside;
  const name = `ferry-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`;
  const outside = join(tmpdir(), name);
  return Buffer.byteLength(socketPath(outside, port)) <= socketPathBytesMax ? outside : join('/tmp', name);
}

export function socketPath(socketDir: string, port: number): string {
  return join(socketDir, `.s.PGSQL.${port}`);
}

export async function prepareSocketDir(socketDir: string, user: ServerUser | undefined): Promise<void> {
  await mkdir(socketDir, { mode: 0o700 }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
  // In the shared temporary directory another user may have created it first. The owner of the directory could put
  // a socket of their own into it and impersonate the database.
  const found = lstatSync(socketDir);
  const ours = found.uid === process.getuid?.() || found.uid === user?.uid;
  if (!found.isDirectory() || !ours) {
    throw new EmbeddedError(`The socket directory ${socketDir} belongs to another user: remove it.`);
  }
  await giveTo(socketDir, user);
  await chmod(socketDir, 0o700);
}

/** Syncs a file, or the entries of a directory, to disk. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

// Identifies one run of one process. The pid is not enough: in a container each run tends to get the same one.
const runToken = `${process.pid}-${Math.trunc(performance.timeOrigin).toString(36)}`;
const scratchAgeMsMax = 10 * 60_000;
let scratchCount = 0;

/** A temporary name, `<target>.new-<pid>-<run>-<n>`, for work that is renamed to `target` when it is complete. */
export function scratchPath(target: string): string {
  scratchCount += 1;
  return `${target}.new-${runToken}-${scratchCount}`;
}

/** Removes the unfinished work of killed runs, but not what another process is working on. */
export async function removeLeftovers(dataDir: string, isRunning: (pid: number) => boolean): Promise<void> {
  for (const name of await readdir(dataDir)) {
    const [, token, pid] = /\.new-((\d+)-[^-]+)-\d+$/.exec(name) ?? [];
    if (token === undefined || token === runToken) continue;
    const path = join(dataDir, name);
    const made = await stat(path).catch(() => undefined);
    const isOld = made !== undefined && Date.now() - made.mtimeMs > scratchAgeMsMax;
    const isInUse = Number(pid) !== process.pid && isRunning(Number(pid));
    if (isInUse && !isOld) continue;
    // An orphaned initdb may still be writing for a moment; what cannot be removed now is removed at the next start.
    await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

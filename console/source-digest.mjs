import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const FILES = ['index.html', 'package.json', 'vite.config.ts', 'build.mjs'];

/** A digest of everything that the console is built from; undefined where only the build is there, as in a release. */
export function sourceDigest(root) {
  if (!existsSync(join(root, 'src/main.tsx'))) return undefined;
  const folders = [join(root, 'src'), join(root, '../packages/client/src')];
  const inFolders = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const hash = createHash('sha256');
  for (const path of [...FILES.map((name) => join(root, name)), ...inFolders].sort())
    hash.update(relative(root, path)).update('\0').update(readFileSync(path)).update('\0');
  return hash.digest('hex');
}

import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** A whole run has half of it at once. */
const NEEDED_BYTES = 2 ** 31;
const NAME = 'ferry-data-';
const DAY_MS = 86_400_000;

function isThereRoomInMemory(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > NEEDED_BYTES;
  } catch {
    return false;
  }
}

/**
 * For a server of tests. In memory, where there is a file system for that: a run creates and deletes hundreds of databases of a thousand
 * files each, and ext4 does not reuse an inode soon after its file was deleted. To find another one took up to ten times the processor
 * time of the rest of `create database`.
 */
export function makeDirForData(): string {
  return mkdtempSync(join(isThereRoomInMemory() ? MEMORY : tmpdir(), NAME));
}

/** What runs that were killed left in memory. */
export function removeOldDirs(): void {
  for (const name of isThereRoomInMemory() ? readdirSync(MEMORY) : []) {
    const path = join(MEMORY, name);
    if (name.startsWith(NAME) && Date.now() - statSync(path).mtimeMs > DAY_MS)
      rmSync(path, { recursive: true });
  }
}

/** With the owners of the files: as root, another user runs the server. No server may run on `from`. */
export function copyDataDir(from: string, to: string): void {
  execFileSync('cp', ['-a', `${from}/.`, to]);
}

import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { BANK_LIMITS } from '../limits-banks.ts';
import { bounded, type Session, type Transport } from './transport.ts';

/** A directory of this machine, which another program exchanges with the bank. */
export function directoryTransport(root: string): Transport {
  const at = (path: string): string => resolve(root, path);
  const within = <Value>(what: string, work: Promise<Value>): Promise<Value> =>
    bounded(BANK_LIMITS.transportTimeoutMs, what, work);

  async function list(directory: string) {
    const found = await readdir(at(directory), { withFileTypes: true });
    const names = found.filter((one) => one.isFile()).map(({ name }) => name);
    const files = names.slice(0, BANK_LIMITS.listedFilesMax).map(async (name) => {
      const one = await stat(at(`${directory}/${name}`)).catch((error: NodeJS.ErrnoException) => {
        // A file can be gone since it was listed.
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
      return one === undefined ? [] : [{ name, bytes: one.size, modifiedMs: one.mtimeMs }];
    });
    return (await Promise.all(files)).flat();
  }

  /** On the disk before it counts. */
  async function write(path: string, bytes: Buffer): Promise<void> {
    const file = await open(at(path), 'w', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  const session: Session = {
    list: (directory) => within(`listing ${directory}`, list(directory)),
    read: (path) => within(`reading ${path}`, readFile(at(path))),
    write: (path, bytes) => within(`writing ${path}`, write(path, bytes)),
    rename: (from, to) => within(`renaming ${from}`, rename(at(from), at(to))),
    exists: (path) =>
      within(
        `looking for ${path}`,
        stat(at(path)).then(
          () => true,
          (error: NodeJS.ErrnoException) => {
            if (error.code === 'ENOENT') return false;
            throw error;
          },
        ),
      ),
    remove: (path) => within(`deleting ${path}`, rm(at(path), { force: true })),
    close: () => Promise.resolve(),
  };
  return { name: `directory ${root}`, connect: () => Promise.resolve(session) };
}

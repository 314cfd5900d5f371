import { cpSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

/** What `files` in package.json puts under node_modules, with the dependencies of the checkout. Returns the folder to remove. */
export function installFromCheckout(): { folder: string; ferry: string } {
  const folder = mkdtempSync(join(tmpdir(), 'ferry-installed-'));
  const ferry = join(folder, 'node_modules/ferry');
  mkdirSync(ferry, { recursive: true });
  for (const name of ['bin', 'src', 'migrations', 'package.json'])
    cpSync(join(ROOT, name), join(ferry, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(ferry, 'node_modules'));
  return { folder, ferry: join(ferry, 'bin/ferry.js') };
}

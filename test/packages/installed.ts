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

/** Which certificates and proxies this machine needs to reach the registry of npm. A new user has them in the environment, too. */
export const NETWORK: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|(https?|no)_proxy)$/i.test(entry[0]),
  ),
);

/** Installing from the registry takes minutes, and depends on it: `npm run test:packages` does. */
export const installs = process.env.FERRY_TEST_INSTALL !== undefined;

// Builds the console into console/dist: hashed files, each with a copy for brotli and gzip. Runs on Node 20 and later, needs no
// network, and replaces an older build at once, so that a service that serves it never sees half of one.
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { sourceDigest } from './source-digest.mjs';

const root = dirname(fileURLToPath(import.meta.url));
const made = join(root, `.dist-${process.pid}`);
const dist = join(root, 'dist');

/** Whether the build of another process, of the same sources, is there by now. */
function isThere() {
  try {
    return readFileSync(join(dist, 'source-digest'), 'utf8') === digest;
  } catch {
    return false;
  }
}

/** Several processes may build at the same time: one of them succeeds. */
function replace() {
  for (let attempt = 1; ; attempt += 1) {
    try {
      rmSync(dist, { recursive: true, force: true });
      renameSync(made, dist);
      return;
    } catch (error) {
      if (isThere()) return;
      if (attempt === 20) throw error;
    }
  }
}

// Whatever the environment of the caller says: otherwise React would be built for development, three times as large.
process.env.NODE_ENV = 'production';

const digest = sourceDigest(root);
try {
  await build({
    configFile: join(root, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: made, emptyOutDir: true },
  });
  for (const entry of readdirSync(made, { recursive: true, withFileTypes: true })) {
    // The service writes its path into the index, and compresses it then.
    if (!entry.isFile() || entry.name === 'index.html') continue;
    const path = join(entry.parentPath, entry.name);
    const content = readFileSync(path);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
    writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
    writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
  }
  writeFileSync(join(made, 'source-digest'), digest);
  replace();
} finally {
  rmSync(made, { recursive: true, force: true });
}

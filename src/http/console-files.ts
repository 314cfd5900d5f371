import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { lazily, type StaticContent } from './static.ts';

/** The built console. `npm ci` runs no scripts, so the service builds it when it is first requested; a release contains it. */
const CONSOLE = fileURLToPath(new URL('../../console/', import.meta.url));
const DIST = join(CONSOLE, 'dist');

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** The names of these files contain a digest of their content. */
const CACHE_FOREVER = 'public, max-age=31536000, immutable';

export type ConsoleFiles = {
  /** The page, without the path of the service in it. */
  readonly index: string;
  /** By their path below /console/. */
  readonly assets: ReadonlyMap<string, () => StaticContent>;
};

function assetOf(path: string): StaticContent {
  const name = relative(DIST, path);
  const variant = (ending: string, suffix: string) =>
    lazily(async () => ({ body: readFileSync(path + ending), etag: `"${name}${suffix}"` }));
  return {
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    policy: undefined,
    cacheControl: CACHE_FOREVER,
    variants: { identity: variant('', ''), br: variant('.br', '-br'), gzip: variant('.gz', '-gzip') },
  };
}

function kept<Value>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= make();
    return value;
  };
}

function readFiles(): ConsoleFiles {
  const names = readdirSync(join(DIST, 'assets')).filter((name) => !/\.(br|gz)$/.test(name));
  return {
    index: readFileSync(join(DIST, 'index.html'), 'utf8'),
    assets: new Map(names.map((name) => [`assets/${name}`, kept(() => assetOf(join(DIST, 'assets', name)))])),
  };
}

/** Whether there is a build of what the sources are now. Where there are no sources, every build is. */
async function isBuilt(): Promise<boolean> {
  if (!existsSync(join(DIST, 'index.html'))) return false;
  const script = join(CONSOLE, 'source-digest.mjs');
  if (!existsSync(script)) return true;
  const { sourceDigest } = (await import(pathToFileURL(script).href)) as {
    sourceDigest(root: string): string | undefined;
  };
  const digest = sourceDigest(CONSOLE);
  return digest === undefined || digest === readFileSync(join(DIST, 'source-digest'), 'utf8');
}

/** In a process of its own: building takes seconds of processor time, which requests must not wait for. */
function build(): Promise<void> {
  const child = spawn(process.execPath, [join(CONSOLE, 'build.mjs')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (data: Buffer) => {
    said = `${said}${data.toString('utf8')}`.slice(-2_000);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`building the console failed: ${said.trim()}`)),
    );
  });
}

export async function loadConsole(): Promise<ConsoleFiles> {
  if (!(await isBuilt())) await build();
  return readFiles();
}

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { createClient } from '../../src/auth/administration.ts';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { startTestService } from '../support/service.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CLIENT = join(ROOT, 'packages/client');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const { version } = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8')) as { version: string };
const folder = mkdtempSync(join(tmpdir(), 'ferry-client-'));
const service = await startTestService();
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
});

/** The first example of the README, with the two profiles that it takes as given. */
function example(): string {
  const [, code] = /```ts\n(.*?)```/s.exec(readFileSync(join(CLIENT, 'README.md'), 'utf8'))!;
  return code!
    .replace('http://127.0.0.1:8080', service.url)
    .replace('\n\n', `\n\nconst [fromProfile, toProfile] = process.argv.slice(2) as [string, string];\n`);
}

/** Not synchronous: the service that the program calls runs in this process. */
async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd, env: { ...process.env, ...env } });
  return stdout;
}

it('installs from its tarball into an empty folder, type-checks there, and makes a transfer', async () => {
  const [source, user] = [join(folder, 'copy/packages/client'), join(folder, 'user')];
  mkdirSync(join(folder, 'copy'));
  cpSync(join(ROOT, 'tsconfig.json'), join(folder, 'copy/tsconfig.json'));
  cpSync(CLIENT, source, { recursive: true, filter: (path) => !/\/(node_modules|dist)$/.test(path) });
  await run(process.execPath, [TSC, '-p', source], source);
  await run('npm', ['pack', '--pack-destination', folder], source);
  mkdirSync(user);
  writeFileSync(join(user, 'package.json'), '{"type":"module"}');
  await run(
    'npm',
    ['install', '--offline', '--no-audit', '--no-fund', join(folder, `ferry-client-${version}.tgz`)],
    user,
  );

  writeFileSync(join(user, 'pay.ts'), example());
  const options = [
    '--module',
    'nodenext',
    '--strict',
    '--target',
    'es2022',
    '--lib',
    'es2023,dom',
    '--types',
    'node',
  ];
  await run(
    process.execPath,
    [TSC, ...options, '--typeRoots', join(ROOT, 'node_modules/@types'), 'pay.ts'],
    user,
  );

  const customer = await service.createCustomer();
  const { clientId, clientSecret } = await createClient(service.database, service.vault, {
    customer: customer.id,
    name: 'example',
    scopes: SCOPE_NAMES,
  });
  const poor = await service.createProfile(customer);
  const rich = await service.createProfile(customer, { USD: '100' });
  const env = { FERRY_CLIENT_ID: clientId, FERRY_CLIENT_SECRET: clientSecret };
  expect(await run(process.execPath, ['pay.js', poor, rich], user, env)).toMatch(
    /has 0 USD available, 25.5 USD are needed/,
  );
  expect(await run(process.execPath, ['pay.js', rich, poor], user, env)).toBe('COMPLETED\n');
});

it('has no dependencies and less than 500 lines that run', async () => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'));
  expect({ dependencies, peerDependencies }).toEqual({});
  const out = join(folder, 'dist');
  await run(
    process.execPath,
    [TSC, '-p', CLIENT, '--outDir', out, '--declaration', 'false', '--removeComments'],
    CLIENT,
  );
  const lines = ['amounts', 'bulk', 'client', 'index', 'problems', 'token', 'transport', 'webhooks'].flatMap(
    (name) =>
      readFileSync(join(out, `${name}.js`), 'utf8')
        .split('\n')
        .filter((line) => line.trim() !== ''),
  );
  expect(lines.length).toBeGreaterThan(200);
  expect(lines.length).toBeLessThan(500);
});

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathWithCurl } from '../support/curl.ts';
import { removeDataDir } from '../support/process.ts';
import { until } from '../support/until.ts';
import { blocksIn } from './guides.ts';
import { installs, NETWORK, ROOT } from './installed.ts';

/** A new user with the two tarballs in an empty directory, and the quickstart. Nothing of the checkout is used. */
const folder = mkdtempSync(join(tmpdir(), 'ferry-new-user-'));
// PostgreSQL, which does not run as root, reaches the data below it.
chmodSync(folder, 0o755);
const home = join(folder, 'home');
const prefix = join(folder, 'prefix');
const env = {
  ...NETWORK,
  PATH: `${join(prefix, 'bin')}:${pathWithCurl()}`,
  HOME: home,
  FERRY_DATA_DIR: join(folder, 'data'),
  PORT: '0',
  npm_config_prefix: prefix,
};
const [install, login, transfer, client] = blocksIn('docs/quickstart.md', 'bash');
const seconds = (since: number): string => ((performance.now() - since) / 1_000).toFixed(1);

async function paste(...commands: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-c', ['set -eu', ...commands].join('\n')], {
    cwd: home,
    env,
    maxBuffer: 100_000_000,
  });
  return stdout;
}

let service: ChildProcess;
let output = '';
beforeAll(async () => {
  if (!installs) return;
  execFileSync('npm', ['run', 'pack', '--', home], { cwd: ROOT, stdio: 'ignore' });
  mkdirSync(join(prefix, 'lib'), { recursive: true });
});
afterAll(async () => {
  if (service?.exitCode === null) {
    service.kill('SIGKILL');
  }
  await removeDataDir(env.FERRY_DATA_DIR);
  rmSync(folder, { recursive: true });
});

describe.runIf(installs)('a new user, with the tarballs in an empty directory', () => {
  it('makes the first transfer with the commands of the quickstart', async () => {
    const begin = performance.now();
    const [installation, start] = install!.trim().split('\n');
    await paste(installation!);
    const installed = seconds(begin);

    const [command, ...args] = start!.split(' ');
    service = spawn(command!, args, { cwd: home, env });
    service.stdout!.on('data', (chunk) => {
      output += chunk;
    });
    service.stderr!.on('data', (chunk) => {
      output += chunk;
    });
    await until('the sandbox listens', () => output.includes('listens on') || service.exitCode !== null);
    expect(service.exitCode, output).toBeNull();
    const listens = seconds(begin);
    expect(JSON.parse(await paste(login!, transfer!))).toMatchObject({ status: 'COMPLETED', amount: '25' });
    console.log(
      `a new user: installed after ${installed} s, the sandbox listens after ${listens} s, the first transfer after ${seconds(begin)} s`,
    );
    expect(output).not.toMatch(/warning/i);
  });

  it('runs the program of the quickstart with the client', async () => {
    writeFileSync(join(home, 'package.json'), '{"type":"module"}');
    await paste(client!.replace('npm install', 'npm install --offline --no-audit --no-fund'));
    writeFileSync(join(home, 'pay.ts'), blocksIn('docs/quickstart.md', 'ts')[0]!);
    const printed = await paste(login!, `"${process.execPath}" pay.ts`);
    expect(printed).toContain('transfer.wire_withdrawal.completed\ninsufficient-funds USD\n');
  });

  it('has exactly the packages of the lock file, and no developer tools', () => {
    const installed = join(prefix, 'lib/node_modules/ferry');
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    const manifests = globSync('**/node_modules/{*,@*/*}/package.json', { cwd: installed });
    expect(manifests.length).toBeGreaterThan(80);
    for (const path of manifests) {
      const place = dirname(path);
      const { name, version } = JSON.parse(readFileSync(join(installed, path), 'utf8'));
      expect({ name, version }).toEqual({ name, version: packages[place]?.version });
      expect(packages[place].dev).not.toBe(true);
    }
    expect(manifests.some((path) => /surfpool|anvil/.test(path))).toBe(false);
    expect(JSON.parse(readFileSync(join(installed, 'sbom.json'), 'utf8')).bomFormat).toBe('CycloneDX');
  });

  it('stops with Ctrl-C, and starts again with the same data', async () => {
    service.kill('SIGINT');
    await until('it has ended', () => service.exitCode !== null || service.signalCode !== null);
    const before = await paste('ferry demo --json');
    output = '';
    service = spawn('ferry', ['serve'], { cwd: home, env });
    service.stdout!.on('data', (chunk) => {
      output += chunk;
    });
    await until('the sandbox listens again', () => output.includes('listens on'));
    const [one, other] = [JSON.parse(before), JSON.parse(await paste('ferry demo --json'))];
    expect(other.customers).toEqual(one.customers);
    service.kill('SIGTERM');
    await until('it has ended', () => service.exitCode !== null || service.signalCode !== null);
  });
});

describe('npm run release', () => {
  it('sets the version everywhere, dates the CHANGELOG, and makes tarballs, SBOM and hashes', () => {
    const copy = join(folder, 'release-copy');
    const git = (...args: string[]): string =>
      execFileSync('git', args, { cwd: copy, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    cpSync(ROOT, copy, {
      recursive: true,
      filter: (path) => !/\/(\.git|release|dist|node_modules)$/.test(path.slice(ROOT.length)),
    });
    for (const path of ['node_modules', 'packages/client/node_modules'])
      symlinkSync(join(ROOT, path), join(copy, path));
    git('init', '-q');
    git('add', '-A');
    git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '-qm', 'all');
    const printed = execFileSync('npm', ['run', '--silent', 'release', '--', '9.8.7'], {
      cwd: copy,
      encoding: 'utf8',
    });
    expect(printed).toContain('git tag v9.8.7');
    const read = (path: string): string => readFileSync(join(copy, path), 'utf8');
    for (const path of ['package.json', 'packages/client/package.json', 'console/package.json'])
      expect(JSON.parse(read(path)).version).toBe('9.8.7');
    expect(JSON.parse(read('package-lock.json')).packages[''].version).toBe('9.8.7');
    expect(read('CHANGELOG.md')).toMatch(/^## Unreleased\n\n## 9\.8\.7 \(\d{4}-\d\d-\d\d\)\n\n- /m);
    expect(read('deploy/helm/ferry/Chart.yaml')).toContain('appVersion: "9.8.7"');
    expect(readdirSync(join(copy, 'release/9.8.7')).sort()).toEqual([
      'SHA256SUMS',
      'ferry-9.8.7.sbom.json',
      'ferry-9.8.7.tgz',
      'ferry-client-9.8.7.tgz',
    ]);
    execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: join(copy, 'release/9.8.7') });
    // What it changed is exactly what the commit of the release has.
    expect(git('diff', '--name-only').trim().split('\n')).toEqual([
      'CHANGELOG.md',
      'console/package.json',
      'deploy/helm/ferry/Chart.yaml',
      'package-lock.json',
      'package.json',
      'packages/client/package.json',
    ]);
    expect(git('ls-files', '--others', '--exclude-standard')).toBe('');
  });
});

import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePreparedDataDir } from '../support/prepared-data-dir.ts';
import { removeDataDir, startFerry } from '../support/process.ts';
import { installFromCheckout, ROOT } from './installed.ts';

describe('npm pack', () => {
  let packed: string[];
  beforeAll(() => {
    const [{ files }] = JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--json'], {
        cwd: ROOT,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    );
    packed = files.map(({ path }: { path: string }) => path);
  });

  it('packs every source and migration, and no test', () => {
    const sources = globSync('{src,migrations,bin}/**/*.*', { cwd: ROOT }).filter(
      (path) => !path.endsWith('.test.ts'),
    );
    expect(sources.length).toBeGreaterThan(700);
    expect(packed).toEqual(expect.arrayContaining(sources));
    expect(
      packed.filter((path) => /\.test\.ts$|^(test|scripts)\/|^(bench|packages)\/.*\.ts$/.test(path)),
    ).toEqual([]);
  });

  it('packs the guides, the examples and what deploys it', () => {
    for (const path of [
      'README.md',
      'LICENSE',
      'CHANGELOG.md',
      'docs/operations.md',
      'deploy/Dockerfile',
      'deploy/systemd/ferry.service',
      'deploy/helm/ferry/Chart.yaml',
      'examples/adapter-python/adapter.py',
    ])
      expect(packed).toContain(path);
  });

  it('packs what the links of the guides lead to', () => {
    const broken = packed
      .filter((path) => path.endsWith('.md'))
      .flatMap((path) =>
        [...readFileSync(join(ROOT, path), 'utf8').matchAll(/\]\(([^)\s#:]+)(?:#[^)]*)?\)/g)]
          .map((match) => join(dirname(path), match[1]!))
          .filter((target) => !packed.some((one) => one === target || one.startsWith(`${target}/`)))
          .map((target) => `${path}: ${target}`),
      );
    expect(broken).toEqual([]);
  });
});

describe('ferry under node_modules, where Node strips no types', () => {
  const { folder, ferry } = installFromCheckout();
  const dataDir = makePreparedDataDir();
  afterAll(async () => {
    await removeDataDir(dataDir);
    rmSync(folder, { recursive: true });
  });

  it('runs its commands without a warning', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const printed = execFileSync(process.execPath, [ferry, '--version'], { encoding: 'utf8' });
    expect(printed.trim()).toMatch(new RegExp(`${version.replaceAll('.', '\\.')}$`));
  });

  // Types are stripped at every start: that takes seven seconds.
  it('serves, with the workers that make the API reference', async () => {
    const process = await startFerry({ FERRY_DATA_DIR: dataDir }, [ferry, 'serve']);
    try {
      const reference = await fetch(`${process.url}/docs/js/scalar.js`);
      expect(reference.status).toBe(200);
      expect((await reference.text()).length).toBeGreaterThan(100_000);
      expect(process.output()).not.toContain('Warning');
    } finally {
      expect(await process.end('SIGTERM')).toEqual({ code: 0 });
    }
  });
});

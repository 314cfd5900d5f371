import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, sources } from './sources.ts';

describe('an installation without development dependencies', () => {
  type Manifest = Record<'dependencies' | 'optionalDependencies', Record<string, string>>;
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; dependencies?: Record<string, string> }>;
  };

  it('has every package that the service imports, and the Node that runs it', () => {
    const imports = /^(?:import|export)\b[^;']*?from '([^'.][^']*)'|\bimport\('([^'.][^']*)'\)/gm;
    const imported = sources
      .flatMap((file) => [...file.text.matchAll(imports)].map((match) => (match[1] ?? match[2])!))
      .filter((one) => !one.startsWith('node:'))
      .map((one) => /^(@[^/]+\/)?[^/]+/.exec(one)![0]);
    expect(imported).toContain('fastify');
    const missing = [...new Set(imported)].filter((one) => !(one in manifest.dependencies));
    expect(missing).toEqual([]);
  });

  it('has everything that those packages need', () => {
    const needed = Object.keys(manifest.dependencies);
    for (const name of needed) {
      const more = Object.keys(packages[`node_modules/${name}`]?.dependencies ?? {});
      needed.push(...more.filter((one) => !needed.includes(one)));
    }
    expect(needed.filter((name) => packages[`node_modules/${name}`]?.dev === true)).toEqual([]);
  });
});

describe('the lock file', () => {
  type Locked = { optionalDependencies?: Record<string, string>; resolved?: string };
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };

  it('names the optional packages of every platform, or npm ci refuses it (npm run lock makes it whole)', () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
      ),
    );
    expect(missing).toEqual([]);
  });

  it('holds no download addresses', () => {
    expect(Object.values(packages).filter((one) => one.resolved?.includes(':') === true)).toEqual([]);
  });
});

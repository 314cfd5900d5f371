// Makes the tarballs of Ferry and of its client: npm run pack [-- <folder>]. The one of Ferry has what `npm pack` puts into it, and
//   npm-shrinkwrap.json  the production part of the lock file: an installation has exactly these packages, checked by their hashes
//   sbom.json            the software bill of materials (CycloneDX)
//   dist/                the sources without types, so that no start has to strip them (bin/types.js)
// It is built in a folder of its own, because npm would use a shrinkwrap in the checkout instead of the lock file.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const target = resolve(process.argv[2] ?? ROOT);
const stage = mkdtempSync(join(tmpdir(), 'ferry-pack-'));

const read = (name) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
const write = (name, content) => {
  mkdirSync(dirname(join(stage, name)), { recursive: true });
  writeFileSync(join(stage, name), content);
};
const writeJson = (name, value) => write(name, `${JSON.stringify(value, null, 2)}\n`);
const npm = (args, cwd = ROOT) =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

/** Where Node finds a dependency of the package at `path`: next to it, or in a folder further up. */
function find(packages, path, dependency) {
  for (let from = path; ; from = from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/')))) {
    const found = `${from === '' ? '' : `${from}/`}node_modules/${dependency}`;
    if (found in packages) return found;
    if (from === '') return undefined;
  }
}

/**
 * What an installation needs: what the dependencies of the service lead to. The packages of the console are not among them, because
 * the tarball contains the built console.
 */
function neededBy(manifest, packages) {
  const needed = new Set(['']);
  for (const path of needed) {
    const { dependencies, optionalDependencies, peerDependencies } = path === '' ? manifest : packages[path];
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const found = find(packages, path, name);
      if (found !== undefined) needed.add(found);
    }
  }
  return needed;
}

function shrinkwrap(manifest) {
  const { packages, ...head } = read('package-lock.json');
  const needed = neededBy(manifest, packages);
  const kept = Object.entries(packages).filter(([path]) => path !== '' && needed.has(path));
  return { ...head, packages: { '': manifest, ...Object.fromEntries(kept) } };
}

/** In an installation there is nothing to build, test or develop. */
function manifestOfPackage() {
  const manifest = read('package.json');
  for (const name of ['devDependencies', 'workspaces', 'scripts', 'files']) delete manifest[name];
  return manifest;
}

try {
  npm(['run', 'prepack']);
  const [{ files }] = JSON.parse(npm(['pack', '--dry-run', '--json', '--ignore-scripts']));
  for (const { path } of files) {
    cpSync(join(ROOT, path), join(stage, path));
    if (!/^src\/.*\.ts$/.test(path)) continue;
    write(path.replace('src/', 'dist/'), stripTypeScriptTypes(readFileSync(join(ROOT, path), 'utf8')));
  }
  const manifest = manifestOfPackage();
  writeJson('package.json', manifest);
  writeJson('npm-shrinkwrap.json', shrinkwrap(manifest));
  write('sbom.json', npm(['run', '--silent', 'sbom']));
  mkdirSync(target, { recursive: true });
  npm(['pack', '--silent', '--ignore-scripts', '--pack-destination', target], stage);
  npm(['pack', '--silent', '--ignore-scripts', '--pack-destination', target, '--workspace', '@ferry/client']);
  for (const { name, version } of [manifest, read('packages/client/package.json')])
    console.log(join(target, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`));
} finally {
  rmSync(stage, { recursive: true });
}

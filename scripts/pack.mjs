// Makes the tarballs of Ferry and of its client: npm run pack [-- <folder>]. The one of Ferry has what `npm pack` puts into it, and
//   node_modules/        the packages that it needs, as the lock file names them: npm follows no lock file in a tarball, so an
//                        installation would otherwise have newer ones that nobody has tested. What depends on the kind of
//                        machine (Node, the PostgreSQL of the sandbox) comes from the registry, in exactly one version
//   sbom.json            the software bill of materials (CycloneDX)
//   dist/                the sources without types, so that no start has to strip them (bin/types.js)
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPackage } from './find-package.mjs';

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
  execFileSync('npm', args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  });

/** The folders of the packages that the dependencies of the service lead to, those for one kind of machine apart. */
function neededBy(manifest) {
  const { packages } = read('package-lock.json');
  const needed = new Set(['']);
  for (const path of needed) {
    const {
      dependencies,
      peerDependencies = {},
      peerDependenciesMeta = {},
    } = path ? packages[path] : manifest;
    const peers = Object.keys(peerDependencies).filter(
      (name) => peerDependenciesMeta[name]?.optional !== true,
    );
    for (const name of [...Object.keys({ ...dependencies }), ...peers]) {
      const found = findPackage(packages, path, name);
      if (found !== undefined) needed.add(found);
    }
  }
  return [...needed].filter((path) => path !== '' && packages[path].os === undefined);
}

/** Half of the files of all packages, which nothing reads when it runs. */
const FOR_EDITORS = /\.d\.[cm]?ts$|\.map$/;

/** Nodes of chains, which are only for tests. */
const TEST_NODES = /^@foundry-rs\/|^@solana\/surfpool/;

/** In an installation there is nothing to build, test or develop. */
function manifestOfPackage() {
  const manifest = read('package.json');
  for (const name of ['devDependencies', 'workspaces', 'scripts', 'files']) delete manifest[name];
  for (const name of Object.keys(manifest.optionalDependencies))
    if (TEST_NODES.test(name)) delete manifest.optionalDependencies[name];
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
  const needed = neededBy(manifest);
  for (const path of needed)
    cpSync(join(ROOT, path), join(stage, path), {
      recursive: true,
      filter: (file) => !FOR_EDITORS.test(file),
    });
  const bundled = needed.filter((path) => path.lastIndexOf('node_modules/') === 0);
  writeJson('package.json', {
    ...manifest,
    bundleDependencies: bundled.map((path) => path.slice('node_modules/'.length)),
  });
  write('sbom.json', npm(['run', '--silent', 'sbom']));
  mkdirSync(target, { recursive: true });
  npm(['pack', '--silent', '--ignore-scripts', '--pack-destination', target], stage);
  npm(['pack', '--silent', '--ignore-scripts', '--pack-destination', target, '--workspace', '@ferry/client']);
  for (const { name, version } of [manifest, read('packages/client/package.json')])
    console.log(join(target, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`));
} finally {
  rmSync(stage, { recursive: true });
}

// Adds to package-lock.json what npm leaves out of it: optional packages of other platforms that the registry in use
// does not have. Without them `npm ci` calls the lock file out of step with package.json. Run after every change of
// the dependencies: npm run lock
import { readFileSync, writeFileSync } from 'node:fs';

const path = process.argv[2] ?? 'package-lock.json';
const lock = JSON.parse(readFileSync(path, 'utf8'));
const { packages } = lock;

const SYSTEMS = [
  'darwin',
  'linux',
  'win32',
  'android',
  'freebsd',
  'openharmony',
  'sunos',
  'openbsd',
  'netbsd',
  'aix',
];
const PROCESSORS = [
  'arm64',
  'x64',
  'arm',
  'ia32',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'loong64',
  'mips64el',
];

/** The platform is in the name, as in cli-linux-x64-musl. */
function platformOf(name) {
  const parts = name.split('/').pop().split('-');
  const os = SYSTEMS.filter((one) => parts.includes(one));
  const cpu = PROCESSORS.filter((one) => parts.includes(one));
  if (os.length === 0 && cpu.length === 0) throw new Error(`no platform in the name of ${name}`);
  return {
    ...(cpu.length > 0 ? { cpu } : {}),
    ...(os.length > 0 ? { os } : {}),
    ...(parts.includes('musl') ? { libc: ['musl'] } : {}),
  };
}

let added = 0;
for (const [parentPath, parent] of Object.entries({ ...packages })) {
  if (parentPath === '') continue;
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const nested = `${parentPath}/node_modules/${name}`;
    const hoisted = `node_modules/${name}`;
    if (nested in packages || hoisted in packages) continue;
    packages[hoisted] = {
      version: version.replace(/^[\^~]/, ''),
      ...platformOf(name),
      ...(parent.dev ? { dev: true } : {}),
      optional: true,
    };
    added += 1;
  }
}

const sorted = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify({ ...lock, packages: sorted }, null, 2)}\n`);
console.log(`${added} packages of other platforms added to ${path}`);

// Removes from package-lock.json every optional package that has no hash: the registry in use does not have it, because it
// is a developer tool's binary for another platform. `npm ci` would install it unverified on that platform; now it does not
// install it. With a registry that has all of them, nothing is removed. Run after every change of the dependencies:
// npm run lock
import { readFileSync, writeFileSync } from 'node:fs';

const path = process.argv[2] ?? 'package-lock.json';
const lock = JSON.parse(readFileSync(path, 'utf8'));
const { packages } = lock;
const hasHash = (key) => packages[key]?.integrity !== undefined;

let removed = 0;
for (const [parentPath, parent] of Object.entries(packages)) {
  const optional = parent.optionalDependencies;
  if (parentPath === '' || optional === undefined) continue;
  for (const name of Object.keys(optional)) {
    if (hasHash(`${parentPath}/node_modules/${name}`) || hasHash(`node_modules/${name}`)) continue;
    delete optional[name];
    removed += 1;
  }
}
for (const key of Object.keys(packages)) {
  if (key !== '' && packages[key].optional === true && !hasHash(key)) delete packages[key];
}

writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${removed} packages without a hash removed from ${path}`);

// Makes a release: npm run release -- <version>. Sets the version everywhere, dates the section "Unreleased" of the CHANGELOG,
// and writes the tarballs, the software bill of materials and the hashes of all three into release/<version>.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const [version] = process.argv.slice(2);
const text = (path) => readFileSync(path, 'utf8');

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}

const edits = [];
/** Nothing is written before all edits are known to fit. */
function edit(path, pattern, replacement) {
  const pending = edits.find((one) => one.path === path);
  const before = pending?.after ?? text(path);
  const after = before.replace(pattern, replacement);
  if (after === before) fail(`${path} has no ${pattern}, or it is the version already. Nothing was changed.`);
  if (pending === undefined) edits.push({ path, after });
  else pending.after = after;
}

if (!/^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(version ?? ''))
  fail('Usage: npm run release -- <version>, such as 1.2.0 or 1.2.0-rc.1');
if (execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' }) !== '')
  fail('There are uncommitted changes. Commit them first: a release is made of a commit.');
const { version: current } = JSON.parse(text('package.json'));
const [, notes] = /^## Unreleased\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(text('CHANGELOG.md')) ?? [];
if (!notes?.trim()) fail('The section "Unreleased" of CHANGELOG.md is empty. Nothing was changed.');

const workspaces = ['packages/client/package.json', 'console/package.json'].filter((path) =>
  execFileSync('git', ['ls-files', path], { encoding: 'utf8' }).trim(),
);
const own = new RegExp(`("version": )"${current.replaceAll('.', '\\.')}"`);
for (const path of ['package.json', ...workspaces]) edit(path, own, `$1"${version}"`);
const today = new Date().toISOString().slice(0, 10);
edit('CHANGELOG.md', /^## Unreleased\n/m, `## Unreleased\n\n## ${version} (${today})\n`);
edit('deploy/helm/ferry/Chart.yaml', /^version: .*$/m, `version: ${version}`);
edit('deploy/helm/ferry/Chart.yaml', /^appVersion: .*$/m, `appVersion: "${version}"`);
for (const { path, after } of edits) writeFileSync(path, after);

// The lock file has the versions of the packages of this repository.
const lock = JSON.parse(text('package-lock.json'));
lock.version = version;
for (const path of ['package.json', ...workspaces])
  lock.packages[path.replace(/\/?package\.json$/, '')].version = version;
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);

const folder = `release/${version}`;
mkdirSync(folder, { recursive: true });
const npm = (...args) =>
  execFileSync('npm', ['run', '--silent', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
npm('pack', '--', folder);
writeFileSync(`${folder}/ferry-${version}.sbom.json`, npm('sbom'));
const sums = readdirSync(folder)
  .filter((name) => name !== 'SHA256SUMS')
  .sort()
  .map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(`${folder}/${name}`))
        .digest('hex')}  ${name}\n`,
  );
writeFileSync(`${folder}/SHA256SUMS`, sums.join(''));

console.log(`${sums.join('')}
Release ${version} is in ${folder}. Now: git commit -am "release: ${version}" && git tag v${version}`);

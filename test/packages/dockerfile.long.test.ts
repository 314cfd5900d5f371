import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { installs, NETWORK, ROOT } from './installed.ts';

/**
 * The steps of the Dockerfile in their order, in a copy of this machine's root instead of the base image: a mount namespace with an
 * overlay, and chroot. It needs root on Linux. Only what the base image brings (Node, npm, a shell) comes from this machine.
 */
const folder = mkdtempSync(join(tmpdir(), 'ferry-image-'));
const context = join(folder, 'context');
const rootDir = join(folder, 'root');

/** A tmpfs, because an overlay does not work on every file system. */
const MOUNT = `set -eu
mount -t tmpfs -o size=4g tmpfs ${rootDir}
mkdir ${rootDir}/upper ${rootDir}/work ${rootDir}/merged
mount -t overlay overlay -o lowerdir=/,upperdir=${rootDir}/upper,workdir=${rootDir}/work ${rootDir}/merged
mount -t proc proc ${rootDir}/merged/proc
mount --rbind /dev ${rootDir}/merged/dev
mount -t tmpfs tmpfs ${rootDir}/merged/tmp
rm -rf ${rootDir}/merged/var/lib/ferry # Data of a sandbox on this machine, which stays below the overlay.
`;
mkdirSync(rootDir);
const canMount =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['--mount', '--pid', '--fork', 'sh', '-c', MOUNT]).status === 0;
const missing = canMount ? '' : ' (not run: this machine allows no mounts)';

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

type Image = { script: string; entry: string[]; command: string[] };

/** The instructions as a shell script that runs outside of the new root; USER, ENV and WORKDIR hold for what follows them. */
function translate(dockerfile: string): Image {
  const lines: string[] = [];
  const env: string[] = [];
  let user = '0:0';
  let directory = '/';
  let entry: string[] = [];
  let command: string[] = [];
  const inside = (what: string): string =>
    `chroot --userspec=${user} ${rootDir}/merged env ${env.join(' ')} sh -c ${quote(`cd ${directory} && ${what}`)}`;
  for (const instruction of DockerfileParser.parse(dockerfile).getInstructions()) {
    const words = instruction.getArgumentsContent() ?? '';
    switch (instruction.getKeyword()) {
      case 'RUN':
        lines.push(inside(words.replaceAll('\\\n', ' ')));
        break;
      case 'COPY': {
        const [from, to] = words.split(' ');
        lines.push(`mkdir -p ${rootDir}/merged${to} && cp ${context}/${from} ${rootDir}/merged${to}`);
        break;
      }
      case 'ENV':
        env.push(...words.split(' '));
        break;
      case 'WORKDIR':
        directory = words;
        break;
      case 'USER':
        user = words;
        break;
      case 'ENTRYPOINT':
        entry = JSON.parse(words) as string[];
        break;
      case 'CMD':
        command = JSON.parse(words) as string[];
        break;
      case 'FROM':
      case 'EXPOSE':
      case 'VOLUME':
      case 'STOPSIGNAL':
      case 'HEALTHCHECK':
        break;
      default:
        throw new Error(`the Dockerfile has ${instruction.getKeyword()}, which this test does not know`);
    }
  }
  // As docker runs it: replaced by the process, which so gets the signals.
  const words = [...entry, ...command].map(quote).join(' ');
  lines.push(
    `exec chroot --userspec=${user} ${rootDir}/merged env -i PATH="$PATH" HOME=/var/lib/ferry ${env.join(' ')} PORT=0 sh -c ${quote(`cd ${directory} && exec ${words}`)}`,
  );
  return { script: MOUNT + lines.join('\n'), entry, command };
}

const pathOfMachine = (): string =>
  process.env
    .PATH!.split(':')
    .filter((one) => !one.includes('/node_modules/'))
    .join(':');

/** The process in the namespace, by its number outside of it. */
function servingPid(): number {
  const found = execFileSync('ps', ['-eo', 'pid,uid,args'], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find(([, uid, ...args]) => uid === '10001' && args.join(' ').includes('ferry serve'));
  return Number(found![0]);
}

describe.runIf(canMount && installs)(`the steps of the Dockerfile, in a namespace${missing}`, () => {
  it('install the tarball, and run the sandbox as a user without rights until SIGTERM', async () => {
    execFileSync('npm', ['run', 'pack', '--', context], { cwd: ROOT, stdio: 'ignore' });
    const { script, entry, command } = translate(readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8'));
    expect([...entry, ...command]).toEqual(['ferry', 'serve']);
    writeFileSync(join(folder, 'build.sh'), script);
    const image = spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', 'build.sh'], {
      cwd: folder,
      // npm installs next to the Node that runs it: that of the machine, not that of this checkout.
      env: { ...NETWORK, PATH: pathOfMachine(), HOME: '/root' },
    });
    let output = '';
    for (const stream of [image.stdout, image.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    const url = (): string | undefined => /listens on http:\/\/0\.0\.0\.0:(\d+)/.exec(output)?.[1];
    const deadline = performance.now() + 1_800_000;
    while (url() === undefined && image.exitCode === null && performance.now() < deadline)
      await new Promise((done) => setTimeout(done, 200));
    expect(output).toContain('Ferry sandbox listens');
    const ready = await fetch(`http://127.0.0.1:${url()}/health/ready`);
    expect(ready.status).toBe(200);
    const pid = servingPid();
    expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^Uid:\t10001\t10001/m);
    process.kill(pid, 'SIGTERM');
    await until('it has ended', () => image.exitCode !== null || image.signalCode !== null);
    expect({ code: image.exitCode, output: output.slice(-2_000) }).toMatchObject({ code: 0 });
  });
});

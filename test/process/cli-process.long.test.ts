import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePreparedDataDir } from '../support/prepared-data-dir.ts';
import {
  type Finished,
  isRunning,
  nodeEnvironment,
  removeDataDir,
  runFerry,
  serverPid,
  startFerry,
} from '../support/process.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');
const FERRY = join(ROOT, 'bin/ferry.js');

const dataDir = makePreparedDataDir();
const env = { FERRY_DATA_DIR: dataDir };
afterAll(() => removeDataDir(dataDir));

const ferry = (...args: string[]): Promise<Finished> => runFerry(args, env);

/** A Node that is too old to run TypeScript, if the machine has one; else the current one, which has to work as well. */
function findOldNode(): string {
  const found = ['/usr/bin/node', '/usr/local/bin/node', '/opt/homebrew/bin/node'].find((path) =>
    existsSync(path),
  );
  return found ?? process.execPath;
}

describe("on the machine's own node", () => {
  const node = findOldNode();
  let isOld: boolean;
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    const { stdout } = await run(node, ['--version']);
    isOld = Number(/^v(\d+)/.exec(stdout)![1]) < 24;
  });
  afterAll(() => {
    for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
  });

  function start(...args: string[]): {
    child: ChildProcess;
    ended: Promise<number | null>;
    output: () => string;
  } {
    const child = spawn(node, [FERRY, ...args], {
      env: nodeEnvironment(env),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    children.push(child);
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    return { child, ended: new Promise((done) => child.once('close', done)), output: () => output };
  }

  /** The process that does the work: the one that was started, or its child if that Node is too old. */
  function worker(pid: number): number {
    if (!isOld) return pid;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
  }

  it('ferry passes on the output and the exit code', async () => {
    const help = start('--help');
    expect(await help.ended).toBe(0);
    expect(help.output()).toBe((await ferry('--help')).stdout);
    const codes = [start('demo', 'now').ended, start('client', 'disable', 'nobody').ended];
    expect(await Promise.all(codes)).toEqual([2, 1]);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ferry serve runs on the pinned Node and exits with 0 on %s',
    async (signal) => {
      const { child, ended, output } = start('serve');
      await expect.poll(output).toContain('listens on http');
      const pid = worker(child.pid!);
      const pinned = realpathSync(
        join(ROOT, `node_modules/node-${process.platform}-${process.arch}/bin/node`),
      );
      expect(readlinkSync(`/proc/${pid}/exe`)).toBe(isOld ? pinned : realpathSync(node));
      child.kill(signal);
      expect(await ended).toBe(0);
      expect(isRunning(pid)).toBe(false);
      expect(serverPid(dataDir)).toBeUndefined();
    },
  );

  it('a killed ferry serve exits with the code that a shell would report', async () => {
    const { child, ended, output } = start('serve');
    await expect.poll(output).toContain('listens on http');
    process.kill(worker(child.pid!), 'SIGKILL');
    // Without a parent process there is no exit code, only the signal.
    expect(await ended).toBe(isOld ? 137 : null);
    expect(await start('verify').ended).toBe(0);
  });

  it('npx finds ferry from the root of the project', async () => {
    const { PATH = '', HOME = dataDir } = process.env;
    // With any node first in the path, as on a machine where only npm is installed.
    const machine = PATH.split(':').filter((part) => !part.includes('node_modules'));
    const options = { cwd: ROOT, env: { PATH: machine.join(':'), HOME, ...env } };
    const { stdout } = await run('npx', ['--no-install', 'ferry', '--help'], options);
    expect(stdout).toBe((await ferry('--help')).stdout);
  });
});

describe('the end of ferry serve', () => {
  it('is not cut short by a second SIGINT: at Ctrl-C the terminal sends one, and npm another', async () => {
    const service = await startFerry({ ...env, LOG_LEVEL: 'info' });
    const ended = service.end('SIGINT');
    // Sent after the first one has arrived, because the system merges pending signals.
    await expect.poll(service.output, { interval: 1 }).toContain('"msg":"stopping"');
    service.child.kill('SIGINT');
    expect((await ended).code).toBe(0);
    expect(serverPid(dataDir)).toBeUndefined();
  });

  it('may be requested while it starts: nothing is left behind', async () => {
    const child = spawn(process.execPath, [FERRY, 'serve'], { env: nodeEnvironment(env), stdio: 'ignore' });
    const ended = new Promise((done) => child.once('exit', (code, signal) => done(signal ?? code)));
    await expect.poll(() => serverPid(dataDir), { interval: 1 }).toBeDefined();
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(serverPid(dataDir)).toBeUndefined();
  });
});

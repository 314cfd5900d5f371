import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runCommand } from '../../src/cli/run.ts';
import { connectDatabase, type Database, type DatabaseAddress } from '../../src/database/database.ts';
import type { SandboxFile } from '../../src/sandbox/demo.ts';
import { makeDirForData } from './data-dir.ts';
import { until } from './until.ts';

/** The service as its users run it: a separate process with its own embedded server. */
const FERRY = resolve(import.meta.dirname, '../../bin/ferry.js');
const PATIENT_NODE = resolve(import.meta.dirname, 'patient-node.mjs');

export type FerryProcess = {
  readonly child: ChildProcess;
  readonly url: string;
  output(): string;
  /** Resolves with the exit code. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null }>;
};

export type Finished = { code: number; stdout: string; stderr: string };

/** Empty: a service that starts on it creates a database first. */
export function makeDataDir(): string {
  return makeDirForData();
}

/** Only the search path of this process's environment, the password of the test server, and any free port. */
function environment(env: Record<string, string>): Record<string, string> {
  const { PATH = '', PGPASSWORD } = process.env;
  // Of a server that the tests were given.
  return { PATH, PORT: '0', ...(PGPASSWORD !== undefined && { PGPASSWORD }), ...env };
}

/** As `bin/ferry.js` enables it, for start scripts too: without it, a start of the service took 2.4 s of processor time instead of 1.7. */
const COMPILE_CACHE = join(tmpdir(), 'node-compile-cache');

/** The same for a process that serves until it is stopped. With `NODE_OPTIONS: ''`, it has the limits of production. */
export function nodeEnvironment(env: Record<string, string>): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${PATIENT_NODE}`,
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    ...environment(env),
  };
}

/** Commands that run until a signal. The first one takes no argument: with one it ends at once. */
const NEEDS_A_PROCESS = /^(serve|sandbox( --.*)?|sandbox-bank( --.*)?|signer)$/s;

/** A command that ends by itself. Where it can, it runs in this process: that is ten times cheaper than to start one for it. */
export async function runFerry(args: readonly string[], env: Record<string, string>): Promise<Finished> {
  const isHelp = args.includes('--help');
  return NEEDS_A_PROCESS.test(args.join(' ')) && !isHelp ? spawnFerry(args, env) : runHere(args, env);
}

/**
 * The same function that the process of the command calls. `serve` may run here if it is refused before it opens the database:
 * from then on it listens for signals.
 */
export async function runHere(args: readonly string[], env: Record<string, string>): Promise<Finished> {
  const output = { stdout: '', stderr: '' };
  // `serve` sets it for its process.
  const { poolSize } = Buffer;
  const code = await runCommand(args, {
    env: environment(env),
    stdout(text) {
      output.stdout += text;
    },
    stderr(text) {
      output.stderr += text;
    },
  });
  Buffer.poolSize = poolSize;
  return { code, ...output };
}

/** The command as users run it. */
export function spawnFerry(args: readonly string[], env: Record<string, string>): Promise<Finished> {
  return new Promise((done) => {
    execFile(process.execPath, [FERRY, ...args], { env: environment(env) }, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** Starts the service and waits until it logs its address. */
export async function startFerry(
  env: Record<string, string>,
  command: readonly string[] = [FERRY, 'serve'],
): Promise<FerryProcess> {
  const child = spawn(process.execPath, command, {
    env: nodeEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A test that fails before it can stop the service leaves none behind.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const exited = new Promise<number | null>((done) => child.once('exit', done));
  const url = (): string | undefined => /listens on (http:\/\/\S+)/.exec(output)?.[1];
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  await until('ferry listens or has ended', () => url() !== undefined || hasEnded()).catch(
    (cause: unknown) => {
      child.kill('SIGKILL');
      throw new Error(`ferry did not start: ${output}`, { cause });
    },
  );
  const found = url();
  if (found === undefined) {
    throw new Error(`ferry ended with ${child.exitCode ?? child.signalCode}: ${output}`);
  }
  return {
    child,
    url: found,
    output: () => output,
    async end(signal) {
      child.kill(signal);
      return { code: await exited };
    },
  };
}

/** One of them has audited the ledger. During an audit `ferry verify` waits, but only as long as for any lock. */
export const audited = (...nodes: readonly FerryProcess[]): Promise<void> =>
  until('a node has audited the ledger', async () => {
    const metrics = await Promise.all(nodes.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()));
    return metrics.some((text) => /^ferry_audit_violations \d/m.test(text));
  });

export function sandboxOf(dataDir: string): SandboxFile {
  return JSON.parse(readFileSync(join(dataDir, 'sandbox.json'), 'utf8')) as SandboxFile;
}

/** A direct connection to the embedded database, beside the service. */
export function databaseOf(dataDir: string): Database {
  return connectDatabase(
    { socketDir: join(dataDir, 'socket'), port: 5432, user: 'ferry', database: 'ferry' },
    2,
  );
}

export function postmasterOf(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** Stops a server that a killed service left running, and removes the directory. */
export async function removeDataDir(dataDir: string): Promise<void> {
  const pid = serverPid(dataDir);
  if (pid !== undefined && send(pid, 'SIGINT')) await until('the server is gone', () => !isRunning(pid));
  rmSync(dataDir, { recursive: true, force: true });
}

export async function tokenFrom(url: string, customer: SandboxFile['customers'][number]): Promise<string> {
  const response = await fetch(`${url}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${customer.client_id}:${customer.client_secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  return access_token;
}

/** False when there is no such process. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

export const isRunning = (pid: number): boolean => send(pid, 0);

/** The server of the data directory, when there is one. */
export function serverPid(dataDir: string): number | undefined {
  if (!existsSync(join(dataDir, 'postgres', 'postmaster.pid'))) return undefined;
  const pid = postmasterOf(dataDir);
  return isRunning(pid) ? pid : undefined;
}

/** As a DATABASE_URL, with the directory of the socket as the host. */
export function urlOf(address: DatabaseAddress): string {
  if ('url' in address) return address.url;
  const { socketDir, port, user, database } = address;
  return `postgres://${user}@${encodeURIComponent(socketDir)}:${port}/${database}`;
}

/** What a node has logged. */
export function logOf(node: Pick<FerryProcess, 'output'>): { level: number; msg: string }[] {
  const lines = node.output().split('\n');
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
}

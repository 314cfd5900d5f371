import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectDatabase, type Database, type DatabaseAddress } from '../../src/database/database.ts';
import type { SandboxFile } from '../../src/sandbox/demo.ts';

/** The service as its users run it: a process of its own, with an embedded server of its own. */
const FERRY = resolve(import.meta.dirname, '../../bin/ferry.js');

export type FerryProcess = {
  readonly child: ChildProcess;
  readonly url: string;
  output(): string;
  /** Resolves with the exit code and how long it took. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; milliseconds: number }>;
};

export type Finished = { code: number; stdout: string; stderr: string };

export function makeDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'ferry-process-'));
}

function environment(env: Record<string, string>): Record<string, string> {
  const { PATH = '' } = process.env;
  return { PATH, PORT: '0', ...env };
}

/** A command that ends by itself. */
export function runFerry(args: readonly string[], env: Record<string, string>): Promise<Finished> {
  return new Promise((done) => {
    execFile(process.execPath, [FERRY, ...args], { env: environment(env) }, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** Starts the service and waits until it says where it listens. */
export async function startFerry(
  env: Record<string, string>,
  command: readonly string[] = [FERRY, 'serve'],
): Promise<FerryProcess> {
  const child = spawn(process.execPath, command, {
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const exited = new Promise<number | null>((done) => child.once('exit', done));
  const deadline = Date.now() + 90_000;
  let match: RegExpExecArray | null = null;
  while (match === null) {
    match = /listens on (http:\/\/\S+)/.exec(output);
    if (child.exitCode !== null) throw new Error(`ferry ended with ${child.exitCode}: ${output}`);
    if (Date.now() > deadline) throw new Error(`ferry did not start: ${output}`);
    await sleep(10);
  }
  return {
    child,
    url: match[1]!,
    output: () => output,
    async end(signal) {
      const started = performance.now();
      child.kill(signal);
      const code = await exited;
      return { code, milliseconds: performance.now() - started };
    },
  };
}

export function sandboxOf(dataDir: string): SandboxFile {
  return JSON.parse(readFileSync(join(dataDir, 'sandbox.json'), 'utf8')) as SandboxFile;
}

/** Straight into the embedded database, beside the service. */
export function databaseOf(dataDir: string): Database {
  return connectDatabase(
    { socketDir: join(dataDir, 'socket'), port: 5432, user: 'ferry', database: 'ferry' },
    2,
  );
}

export function postmasterOf(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** Stops the server that a killed service left behind, and removes the directory. */
export async function removeDataDir(dataDir: string): Promise<void> {
  try {
    const pid = postmasterOf(dataDir);
    process.kill(pid, 'SIGINT');
    for (let waited = 0; waited < 1_000; waited += 1) {
      process.kill(pid, 0);
      await sleep(10);
    }
  } catch {
    // There is none, or it is gone.
  }
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

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The server of the data directory, when there is one. */
export function serverPid(dataDir: string): number | undefined {
  if (!existsSync(join(dataDir, 'postgres', 'postmaster.pid'))) return undefined;
  const pid = postmasterOf(dataDir);
  return isRunning(pid) ? pid : undefined;
}

/** As DATABASE_URL, with the directory of the socket in the place of a host. */
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

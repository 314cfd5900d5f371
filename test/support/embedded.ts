import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, inject, vi } from 'vitest';
import { connectDatabase } from '../../src/database/database.ts';
import { processExists, readPidFile } from '../../src/database/embedded/process.ts';
import {
  type EmbeddedOptions,
  type EmbeddedServer,
  startEmbedded,
} from '../../src/database/embedded/server.ts';
import { copyDataDir, makeDirForData } from './data-dir.ts';

/** Real embedded servers, each stopped after its test. */

export const isRoot = process.getuid?.() === 0;
const moduleUrl = new URL('../../src/database/embedded/server.ts', import.meta.url).href;
export const directories: string[] = [];
const servers: EmbeddedServer[] = [];
export const owners: ChildProcess[] = [];
export const logged: string[] = [];

export function makeDir(): string {
  const path = makeDirForData();
  chmodSync(path, 0o711); // the server's user has to pass through when we are root
  directories.push(path);
  return path;
}

/** With a database, unless the tests were given a server. */
export function makePreparedDir(): string {
  const path = makeDir();
  const prepared = inject('preparedDataDir');
  if (prepared !== undefined) copyDataDir(prepared, path);
  return path;
}

export async function start(dataDir: string, more: Partial<EmbeddedOptions> = {}): Promise<EmbeddedServer> {
  const server = await startEmbedded({ dataDir, log: (message) => logged.push(message), ...more });
  servers.push(server);
  return server;
}

export async function ask(server: EmbeddedServer, text: string): Promise<string> {
  const { socketDir, port, user } = server;
  const database = connectDatabase({ socketDir, port, user, database: 'postgres' }, 1);
  try {
    const [row] = await database.query(text);
    return String(Object.values(row ?? {})[0]);
  } finally {
    await database.close();
  }
}

/** Another process that starts a server on the directory, reports it, and keeps running. */
export function startOwner(dataDir: string): Promise<{ child: ChildProcess; pid: number; adopted: boolean }> {
  const program = `
    import { startEmbedded } from ${JSON.stringify(moduleUrl)};
    const server = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log: () => {} });
    console.log(JSON.stringify({ pid: server.pid, adopted: server.adopted }));
    setInterval(() => {}, 1000);`;
  const flags = ['--no-warnings', '--input-type=module', '-e', program];
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  owners.push(child);
  return new Promise((resolve, reject) => {
    child.stdout?.once('data', (data: Buffer) => resolve({ child, ...JSON.parse(data.toString()) }));
    child.once('exit', () => reject(new Error('the owner ended before its server was ready')));
  });
}

export async function killOwner(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

export async function until(condition: () => boolean): Promise<void> {
  await vi.waitFor(() => expect(condition()).toBe(true), { timeout: 60_000, interval: 10 });
}

async function cleanUp(): Promise<void> {
  for (const owner of owners.splice(0)) {
    if (owner.exitCode === null && owner.signalCode === null) await killOwner(owner);
  }
  const started = servers.splice(0);
  for (const server of started) await server.stop();
  expect(started.filter((server) => processExists(server.pid))).toEqual([]);
  for (const path of directories.splice(0)) {
    // A server on this directory that no test took over would be left behind.
    const left = readPidFile(join(path, 'postgres'));
    expect(left && processExists(left.pid)).toBeFalsy();
    rmSync(path, { recursive: true, force: true });
  }
  logged.length = 0;
}

/** To be called once by each test file. */
export function useEmbeddedServers(): void {
  afterEach(cleanUp);
}

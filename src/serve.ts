import { createServer } from 'node:net';
import { type Logger, pino } from 'pino';
import { type Config, ConfigError, checkDataDir } from './config/config.ts';
import { installationFault } from './database/installation.ts';
import { type OpenDatabase, openForService } from './database/open.ts';
import { LIMITS } from './limits.ts';
import { assemble } from './main.ts';
import type { Rails } from './rails/rail.ts';
import { isSeeded, seedSandbox } from './sandbox/demo.ts';
import { welcome } from './sandbox/welcome.ts';
import { checkSecretKey, type WrappingKeys } from './vault.ts';

type Address = { readonly host: string; readonly port: number };

/** Listens for a moment. Rejects with what is wrong, as a sentence. */
async function tryAddress({ host, port }: Address, sentence: (code: string, message: string) => string) {
  await new Promise<void>((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) =>
      reject(new ConfigError(sentence(error.code ?? '', error.message))),
    );
    probe.listen({ host, port }, () => probe.close(() => resolve()));
  });
}

/** Checked before anything is started: a port in use is the most common reason why a start fails. */
async function checkPorts({ host, port, nodeLink }: Config): Promise<void> {
  await tryAddress({ host, port }, (code, message) => {
    const reasons: Record<string, string> = {
      EADDRINUSE: `PORT ${port} is in use on ${host}: set PORT to a free port.`,
      EACCES: `The user running Ferry may not listen on PORT ${port}: set PORT to a port above 1023.`,
      EADDRNOTAVAIL: `HOST ${host} is not an address of this machine: set HOST to one of its addresses.`,
      ENOTFOUND: `HOST ${host} cannot be resolved: set HOST to an address of this machine.`,
    };
    return reasons[code] ?? `HOST ${host}, PORT ${port}: ${message}.`;
  });
  if (nodeLink === undefined) return;
  const named = `${nodeLink.host}:${nodeLink.port}`;
  await tryAddress(nodeLink, (code, message) =>
    code === 'EADDRINUSE'
      ? `FERRY_NODE_LINK ${named} is in use: set it to a free port of this machine.`
      : `FERRY_NODE_LINK ${named} must be an address of this machine: ${message}.`,
  );
}

/**
 * Node allocates small buffers from a shared pool, and one small buffer that is kept keeps the whole pool in memory: 64 KB
 * by default, of which the service would hold hundreds.
 */
const BUFFER_POOL_BYTES = 8 * 1024;

/** Settings that production can run without, but that are nearly always missing by mistake: logged once. */
function lackingIn(config: Config, rails: Rails | undefined): string[] {
  if (config.mode !== 'production') return [];
  return (rails?.list ?? config.rails).length === 0
    ? ['no rails are configured: withdrawals and deposit addresses are rejected; see docs/operations.md']
    : [];
}

/**
 * Runs the service until a signal ends it. Resolves when everything is closed. An operator with rails, or with a key
 * management service, calls this function from a start script of their own. Without rails the sandbox simulates them, and
 * production has none; without wrapping keys FERRY_SECRET_KEY is the one.
 */
export async function serve(
  config: Config,
  print: (text: string) => void,
  rails?: Rails,
  wrappingKeys?: WrappingKeys,
): Promise<void> {
  Buffer.poolSize = BUFFER_POOL_BYTES;
  if (config.mode === 'sandbox') checkDataDir(config.dataDir);
  checkSecretKey(config, wrappingKeys);
  await checkPorts(config);
  const logger = pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime });
  const stopping = stopSignal(config, logger);
  try {
    const opened = await openForService(config, { log: logger, signal: stopping.signal });
    try {
      await run(
        config,
        opened,
        { logger, print, ...(rails && { rails }), ...(wrappingKeys && { wrappingKeys }) },
        stopping.signalled,
      );
    } finally {
      stopping.endInTime();
      await opened.close();
    }
  } catch (error) {
    // A signal came while it waited for the database: there was nothing to close.
    if ((error as Error).name !== 'AbortError') throw error;
  } finally {
    stopping.ended();
  }
}

type Stopping = {
  /** Why the service stops: the name of the signal. */
  readonly signalled: Promise<string>;
  /** Aborted at the same time. */
  readonly signal: AbortSignal;
  /** From now on the process ends within a bound, whatever hangs: everything that was acknowledged is in the database. */
  endInTime(): void;
  /** Everything of the service is closed. Handles that a rail left open can keep the process until the bound. */
  ended(): void;
};

/** Registered before anything is started, so that no signal can leave something running. */
function stopSignal({ startedByNpm }: Config, logger: Logger): Stopping {
  const stopped = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const endInTime = (): void => {
    // Not unref'ed: otherwise the process could exit before the database is closed, and not with 0.
    timer ??= setTimeout(() => {
      logger.error('stopping took too long; the process exits now');
      process.exit(0);
    }, LIMITS.shutdownMs);
  };
  const signalled = new Promise<string>((resolve) => {
    const stop = (reason: string): void => {
      endInTime();
      stopped.abort();
      resolve(reason);
    };
    // `on`, not `once`: at Ctrl-C the terminal and npm both send a SIGINT, and the second one must not end the process
    // while it stops.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));
    if (startedByNpm) onceOrphaned(() => stop('npm has ended'));
  });
  return { signalled, signal: stopped.signal, endInTime, ended: () => timer?.unref() };
}

/**
 * npx runs a command through a shell. When npx is stopped it ends that shell, which does not forward the signal: the
 * service would keep running unnoticed.
 */
function onceOrphaned(orphaned: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    orphaned();
  }, LIMITS.parentLookMs);
  timer.unref();
}

type Parts = {
  readonly logger: Logger;
  readonly print: (text: string) => void;
  readonly rails?: Rails;
  readonly wrappingKeys?: WrappingKeys;
};

async function run(
  config: Config,
  { database, writeDatabase, healthDatabase }: OpenDatabase,
  { logger, print, ...own }: Parts,
  signalled: Promise<string>,
): Promise<void> {
  const fault = await installationFault(database, config.mode, config.assets);
  if (fault !== undefined) throw new ConfigError(fault);
  if (config.mode === 'sandbox' && config.externalIssuer !== undefined && !(await isSeeded(database))) {
    throw new ConfigError(
      "FERRY_CONFIG: creating the demo data requires the sandbox's own tokens: start the sandbox once without external_issuer.",
    );
  }
  const service = await assemble({ config, database, writeDatabase, healthDatabase, logger, ...own });
  try {
    await service.start();
    const { assets, dataDir } = config;
    if (config.mode === 'sandbox') await seedSandbox({ service, database, assets, dataDir });
    for (const warning of lackingIn(config, own.rails)) logger.warn(warning);
    service.setReady();
    print(welcome(config, service.url()));
    logger.info({ signal: await signalled }, 'stopping');
  } finally {
    await service.stop();
  }
}

import { createServer } from 'node:net';
import { pino } from 'pino';
import { type Config, ConfigError, checkDataDir } from './config.ts';
import { installationFault } from './database/installation.ts';
import { migrate } from './database/migrate.ts';
import { openDatabase } from './database/open.ts';
import { LIMITS } from './limits.ts';
import { assemble } from './main.ts';
import type { Rails } from './rails/rail.ts';
import { demoFault, isSeeded, seedSandbox } from './sandbox/demo.ts';
import { welcome } from './sandbox/welcome.ts';

/** Tried before anything is started: a port in use is the commonest reason not to start. */
async function checkPort({ host, port }: Config): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const reasons: Record<string, string> = {
        EADDRINUSE: `PORT ${port} is in use on ${host}: set PORT to another one.`,
        EACCES: `PORT ${port} may not be used by this user: set PORT to one above 1023.`,
        EADDRNOTAVAIL: `HOST ${host} is not an address of this machine.`,
        ENOTFOUND: `HOST ${host} is not known.`,
      };
      reject(new ConfigError(reasons[error.code ?? ''] ?? `HOST ${host}, PORT ${port}: ${error.message}.`));
    });
    probe.listen({ host, port }, () => probe.close(() => resolve()));
  });
}

/**
 * Small buffers are pieces of larger ones, and one piece that is kept for long keeps all of it: by default 64 KB, of which
 * the service would have hundreds.
 */
const BUFFER_POOL_BYTES = 8 * 1024;

/** What production can do without, but hardly ever wants to: said once, so that nobody wonders later. */
function lackingIn(config: Config, rails: Rails | undefined): string[] {
  if (config.mode !== 'production') return [];
  return [
    ...(rails === undefined || rails.list.length === 0
      ? ['there are no rails: withdrawals and deposit addresses are refused; see docs/operations.md']
      : []),
    ...(config.secretKey === undefined
      ? ['FERRY_SECRET_KEY is not set: webhooks are switched off; see docs/operations.md']
      : []),
  ];
}

/**
 * Runs the service until a signal ends it. Resolves when everything is closed. Whoever has rails calls this with them,
 * from a start of their own; without them the sandbox has simulated ones, and production none.
 */
export async function serve(config: Config, print: (text: string) => void, rails?: Rails): Promise<void> {
  Buffer.poolSize = BUFFER_POOL_BYTES;
  const unfit = config.mode === 'sandbox' ? demoFault(config.assets) : undefined;
  if (unfit !== undefined) throw new ConfigError(unfit);
  if (config.mode === 'sandbox') checkDataDir(config.dataDir);
  await checkPort(config);
  const logger = pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime });
  // Whatever hangs, the process ends in time: all that was acknowledged is in the database.
  const endInTime = (): void => {
    setTimeout(() => {
      logger.error('stopping took too long, the process ends now');
      process.exit(0);
    }, LIMITS.shutdownMs).unref();
  };
  // Before anything is started, so that nothing is left behind; and each time, not once: at Ctrl-C the terminal and
  // npm both send a SIGINT, and the second one must not end the process in the middle of its stopping.
  const signalled = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal));
  });
  void signalled.then(endInTime);
  const opened = await openDatabase({ ...config, log: (message) => logger.info(message) }, true);
  let service: Awaited<ReturnType<typeof assemble>> | undefined;
  try {
    for (const name of await migrate(opened.database)) logger.info({ migration: name }, 'migration applied');
    const fault = await installationFault(opened.database, config.mode, config.assets);
    if (fault !== undefined) throw new ConfigError(fault);
    if (
      config.mode === 'sandbox' &&
      config.externalIssuer !== undefined &&
      !(await isSeeded(opened.database))
    ) {
      throw new ConfigError(
        "FERRY_CONFIG: the demo data is made with the sandbox's own tokens: start it once without external_issuer.",
      );
    }
    const { database, writeDatabase } = opened;
    service = await assemble({ config, database, writeDatabase, logger, ...(rails && { rails }) });
    await service.start();
    if (config.mode === 'sandbox') {
      await seedSandbox({ service, database: opened.database, dataDir: config.dataDir });
    }
    for (const warning of lackingIn(config, rails)) logger.warn(warning);
    service.setReady();
    print(welcome(config, service.url()));
    const signal = await signalled;
    logger.info({ signal }, 'stopping');
  } finally {
    endInTime();
    await service?.stop();
    await opened.close();
  }
}

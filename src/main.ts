import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createAuth } from './auth/auth.ts';
import { authenticationPaths } from './auth/openapi.ts';
import type { Config } from './config.ts';
import type { Database } from './database/database.ts';
import { createNews } from './events/news.ts';
import { eventRoutes } from './events/routes.ts';
import { createSequencer } from './events/sequencer.ts';
import { disableEndpointCommand } from './events/webhooks/commands.ts';
import { deliveryRoutes } from './events/webhooks/delivery-routes.ts';
import { createDispatcher, type Dispatcher } from './events/webhooks/dispatcher.ts';
import { webhookRoutes } from './events/webhooks/routes.ts';
import { createSealer } from './events/webhooks/secrets.ts';
import { createSender } from './events/webhooks/sender.ts';
import { feeRoutes } from './fees/routes.ts';
import { guaranteedFeeTable } from './fees/store.ts';
import { fiatAccountRoutes } from './fiat-accounts/routes.ts';
import { fiatAccountTable } from './fiat-accounts/store.ts';
import { createApp } from './http/app.ts';
import { idleConnections } from './http/connections.ts';
import { documentationExtension } from './http/documentation.ts';
import { createMetrics } from './http/metrics.ts';
import { operationsExtension } from './http/operations.ts';
import { actorTable } from './identity/actor-store.ts';
import { identityRoutes } from './identity/routes.ts';
import { repeat } from './kernel/repeat.ts';
import type { Route } from './kernel/route.ts';
import { audit } from './ledger/audit.ts';
import { rollUpSystemBalances } from './ledger/balances.ts';
import { createWritePath, type WritePath } from './ledger/write-path.ts';
import { LIMITS } from './limits.ts';
import { profileRoutes } from './profiles/routes.ts';
import { newProfiles, profileTable } from './profiles/store.ts';
import { sandboxDepositRoutes } from './sandbox/deposits.ts';
import { sandboxSecretKey } from './sandbox/secret-key.ts';
import { settlementRoutes } from './settlement/routes.ts';
import { transferRoutes } from './transfers/routes.ts';
import { newTransfers } from './transfers/store.ts';
import { VERSION } from './version.ts';

/** The composition root: everything is made here, once, and handed to whoever needs it. */
export type Service = {
  readonly app: FastifyInstance;
  readonly writePath: WritePath;
  /** Base URL, without a slash at the end. */
  url(): string;
  /** Ready: what a start has to do first is done. Until then /health/ready says no. */
  setReady(): void;
  start(): Promise<void>;
  /** Stops accepting, finishes what is in flight. The database stays open: it belongs to the caller. */
  stop(): Promise<void>;
};

export async function assemble(parts: {
  config: Config;
  database: Database;
  logger: Logger;
}): Promise<Service> {
  const { config, database, logger } = parts;
  const { assets } = config;
  const metrics = createMetrics();
  let ready = false;
  let stopping = false;
  let app: FastifyInstance;

  const news = createNews();
  let dispatcher: Dispatcher | undefined;
  const sequencer = createSequencer({
    database,
    log: logger,
    grown(customerIds) {
      news.tell(customerIds);
      dispatcher?.wake(customerIds);
    },
  });
  const writePath = createWritePath({
    database,
    assets,
    observer: {
      ...metrics.writePath,
      committed: () => sequencer.wake(),
      trouble(what, error) {
        metrics.writePath.trouble(what);
        logger.warn({ err: error, what }, 'trouble in the write path');
      },
    },
  });

  const secretKey =
    config.secretKey ?? (config.mode === 'sandbox' ? await sandboxSecretKey(database) : undefined);
  const reach = config.mode === 'production' ? 'public' : 'anywhere';
  const sender = createSender({ reach });
  const sealer = secretKey === undefined ? undefined : createSealer(secretKey);
  if (sealer !== undefined) {
    dispatcher = createDispatcher({
      database,
      sender,
      sealer,
      log: logger,
      async disable({ id, customerId }, reason) {
        logger.info({ endpoint: id, reason }, 'a webhook endpoint is disabled');
        await writePath.submit(disableEndpointCommand(customerId, id, reason));
      },
    });
  }
  const webhooks = {
    database,
    writePath,
    sealer,
    sender,
    reach,
    changed: (customerId: string) => dispatcher?.wake([customerId]),
  } as const;

  const url = (): string => {
    const address = app.server.address();
    const port = address !== null && typeof address === 'object' ? address.port : config.port;
    return `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
  };
  const publicUrl = (): string => config.publicUrl ?? url();

  const auth = createAuth({ database, publicUrl, externalIssuer: config.externalIssuer, log: logger });
  const shared = { database, writePath, assets, profiles: profileTable, actors: actorTable };
  const transfers = {
    ...shared,
    fiatAccounts: fiatAccountTable,
    guaranteedFees: guaranteedFeeTable,
    schedule: config.fees,
    prices: config.prices,
    // Simulated rails reach every network.
    hasRail: () => config.mode === 'sandbox',
  };
  const everyRoute: Route[] = [
    ...transferRoutes(transfers),
    ...feeRoutes(transfers),
    ...sandboxDepositRoutes({ ...transfers, newTransfers }),
    ...fiatAccountRoutes({ ...shared, approvesAutomatically: config.mode === 'sandbox' }),
    ...profileRoutes(shared),
    ...identityRoutes({ ...shared, newProfiles }),
    ...settlementRoutes(shared),
    ...eventRoutes({ database, news }),
    ...webhookRoutes(webhooks),
    ...deliveryRoutes(webhooks),
  ];
  // What is only there to simulate is not there at all in production.
  const routes = everyRoute.filter((route) => config.mode === 'sandbox' || route.sandboxOnly !== true);
  app = await createApp({
    logger,
    publicUrl,
    authenticate: auth.authenticate,
    routes,
    extensions: [
      operationsExtension({ database, registry: metrics.registry, isReady: () => ready && !stopping }),
      (fastify) => auth.extension(fastify),
      documentationExtension({
        routes,
        version: VERSION,
        // With an external issuer the own token endpoint is not there.
        extraPaths: config.externalIssuer === undefined ? authenticationPaths() : {},
        publicUrl,
      }),
    ],
    observe: metrics.request,
  });
  const connections = idleConnections(app.server);

  const rollUp = repeat(
    LIMITS.rollupIntervalMs,
    async () => {
      const folded = await rollUpSystemBalances(database, LIMITS.rollupDeltasMax);
      return folded === LIMITS.rollupDeltasMax ? 'again' : 'wait';
    },
    (error) => logger.warn({ err: error }, 'rolling up system balances failed'),
  );
  const audits = repeat(
    LIMITS.auditIntervalMs,
    async () => {
      const started = performance.now();
      const report = await audit(database, assets);
      metrics.audited(report, (performance.now() - started) / 1000);
      for (const { rule, line } of report.violations) logger.fatal({ rule }, line);
      return 'wait';
    },
    (error) => logger.warn({ err: error }, 'the audit could not run'),
  );

  return {
    app,
    writePath,
    url,
    setReady: () => {
      ready = true;
    },
    async start() {
      await auth.start();
      await sequencer.start();
      await app.listen({ host: config.host, port: config.port });
      rollUp.start();
      audits.start(LIMITS.auditFirstMs);
      dispatcher?.start();
    },
    async stop() {
      stopping = true;
      // Who waits for events would keep the connections open; and so would a client that keeps one for later.
      news.close();
      await connections.closeDuring(app.close());
      // An audit may take minutes; it only reads, and ends with its connection.
      void audits.stop();
      await Promise.all([rollUp.stop(), auth.stop(), dispatcher?.stop()]);
      await writePath.stop();
      await sequencer.stop();
    },
  };
}

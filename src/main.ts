import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createAuth } from './auth/auth.ts';
import { authenticationPaths } from './auth/openapi.ts';
import type { Config } from './config/config.ts';
import type { Database } from './database/database.ts';
import { createOutageLog } from './database/outage.ts';
import { createServerClock } from './database/server-clock.ts';
import { arrivals as arrivalTable } from './deposits/arrival-store.ts';
import { createArrivals } from './deposits/arrivals.ts';
import { suspenseBacklog } from './deposits/backlog-store.ts';
import { depositRoutes } from './deposits/routes.ts';
import { suspenseDeposits } from './deposits/store.ts';
import { feedBacklog } from './events/backlog-store.ts';
import { createNews } from './events/news.ts';
import { eventRoutes } from './events/routes.ts';
import { createSequencer } from './events/sequencer.ts';
import { feeRoutes } from './fees/routes.ts';
import { guaranteedFeeTable } from './fees/store.ts';
import { reviewBacklog } from './fiat-accounts/backlog-store.ts';
import { fiatAccountRoutes } from './fiat-accounts/routes.ts';
import { fiatAccountTable } from './fiat-accounts/store.ts';
import { createApp } from './http/app.ts';
import { registerBacklogs } from './http/backlogs.ts';
import { idleConnections } from './http/connections.ts';
import { documentationExtension } from './http/documentation.ts';
import { createMetrics } from './http/metrics.ts';
import { operationsExtension } from './http/operations.ts';
import { actorTable } from './identity/actor-store.ts';
import { identityRoutes } from './identity/routes.ts';
import { repeat } from './kernel/repeat.ts';
import type { Route } from './kernel/route.ts';
import { auditUnlessRunning } from './ledger/audit.ts';
import { rollUpSystemBalances } from './ledger/balances.ts';
import { createWritePath, type WritePath } from './ledger/write-path.ts';
import { LIMITS } from './limits.ts';
import { profileRoutes } from './profiles/routes.ts';
import { disabledProfiles, heldProfiles, newProfiles, profileTable } from './profiles/store.ts';
import { createRails, type Rails } from './rails/rail.ts';
import { sandboxArrivalRoutes } from './sandbox/arrivals.ts';
import { sandboxDepositRoutes } from './sandbox/deposits.ts';
import { createJournal } from './sandbox/journal-store.ts';
import { sandboxOutcomeRoutes } from './sandbox/outcomes.ts';
import { sandboxSecretKey } from './sandbox/secret-key.ts';
import { createSimulatedRails } from './sandbox/simulated.ts';
import { settlementBacklog } from './settlement/backlog-store.ts';
import { waitTable } from './settlement/engine-store.ts';
import { settlementRoutes } from './settlement/routes.ts';
import { settlements } from './settlement/store.ts';
import { createSettlementWorker, type SettlementWorker } from './settlement/worker.ts';
import { transferRoutes } from './transfers/routes.ts';
import { changedTransfers, findTransfer, newTransfers, transferById } from './transfers/store.ts';
import { VERSION } from './version.ts';
import { webhookBacklogs } from './webhooks/backlog-store.ts';
import { disableEndpointCommand } from './webhooks/commands.ts';
import { deliveryRoutes } from './webhooks/delivery-routes.ts';
import { createDispatcher, type Dispatcher } from './webhooks/dispatcher.ts';
import { checkSecretKey } from './webhooks/key-check.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { createSealer } from './webhooks/secrets.ts';
import { createSender } from './webhooks/sender.ts';
import { withdrawalBacklogs } from './withdrawals/backlog-store.ts';
import { createNoticeWorker } from './withdrawals/notices.ts';
import { operatorTransferRoutes } from './withdrawals/operator-routes.ts';
import { contradictions, rents } from './withdrawals/payout-store.ts';
import { railOf, withdrawalWakes, works } from './withdrawals/store.ts';
import { createWithdrawalWorker, PAYOUT_TIMING } from './withdrawals/worker.ts';

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

/** Resolves when the work has ended, or the time is over. */
async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  await Promise.race([work, sleep(milliseconds, undefined, { signal: ended.signal })]);
  ended.abort();
}

export async function assemble(parts: {
  config: Config;
  database: Database;
  /** Connections of the write path alone; the same ones unless given. */
  writeDatabase?: Database;
  logger: Logger;
  /** An operator's own; without them the sandbox has simulated ones, and production none. */
  rails?: Rails;
}): Promise<Service> {
  const { config, database, writeDatabase = database, logger } = parts;
  const { assets, networks } = config;
  const metrics = createMetrics();
  // For all that goes on in the background, and fails in each round while the database is away.
  const log = createOutageLog(database, logger);
  const clock = await createServerClock(database, (error) =>
    log.warn({ err: error }, 'the clock of the database could not be read'),
  );
  let ready = false;
  let stopping = false;
  let app: FastifyInstance;
  let settling: SettlementWorker | undefined;

  const news = createNews();
  let dispatcher: Dispatcher | undefined;
  const sequencer = createSequencer({
    database,
    log,
    grown(customerIds) {
      news.tell(customerIds);
      dispatcher?.wake(customerIds);
    },
  });
  const writePath = createWritePath({
    database: writeDatabase,
    assets,
    observer: {
      ...metrics.writePath,
      committed(changed) {
        settling?.changed(changed);
        sequencer.wake();
      },
      trouble(what, error) {
        metrics.writePath.trouble(what);
        const facts = { err: error, what };
        // A stale cache is normal where nodes share balances, and a lost connection is replaced: neither needs anybody.
        if (what === 'stale-cache') logger.debug(facts, 'a batch is decided again on locked balances');
        else if (what === 'connection-lost') logger.info(facts, 'a batch is retried on another connection');
        // A commit in doubt is always worth a line, even during an outage of the database.
        else (what === 'in-doubt' ? logger : log).warn(facts, 'trouble in the write path');
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
      clock,
      sender,
      sealer,
      log,
      async disable({ id, customerId }, reason) {
        logger.info({ endpoint: id, reason }, 'a webhook endpoint is disabled');
        await writePath.submit(disableEndpointCommand(customerId, id, reason));
      },
      attempted: metrics.webhookAttempted,
    });
  }
  const webhooks = {
    database,
    writePath,
    sealer,
    sender,
    reach,
    clock,
    changed: (customerId: string) => dispatcher?.wake([customerId]),
  } as const;

  const url = (): string => {
    const address = app.server.address();
    const port = address !== null && typeof address === 'object' ? address.port : config.port;
    return `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
  };
  const publicUrl = (): string => config.publicUrl ?? url();

  const settlement = createSettlementWorker({
    database,
    writePath,
    tables: { assets, profiles: profileTable, heldProfiles, settlements, waits: waitTable },
    disabledProfiles,
    clock,
    failed: (error, what) => log.warn({ err: error }, what),
  });
  settling = settlement;

  const simulates = config.mode === 'sandbox';
  const auth = createAuth({
    database,
    clock,
    publicUrl,
    externalIssuer: config.externalIssuer,
    log,
    simulates,
  });
  const shared = { database, writePath, assets, networks, profiles: profileTable, actors: actorTable };
  const simulated =
    config.mode === 'sandbox'
      ? createSimulatedRails({
          networks,
          journal: createJournal(database),
          now: clock.now,
          speed: config.sandboxSpeed,
        })
      : undefined;
  const rails = parts.rails ?? simulated ?? createRails([]);
  const transfers = {
    ...shared,
    fiatAccounts: fiatAccountTable,
    guaranteedFees: guaranteedFeeTable,
    schedule: config.fees,
    prices: config.prices,
    hasRail: (name: string) => rails.find(name) !== undefined,
    rails,
  };
  const payouts = {
    assets,
    transfers: changedTransfers,
    works,
    contradictions,
    rents,
    fiatAccounts: fiatAccountTable,
    rentLamportsPerDayMax: config.rentLamportsPerDayMax,
  };
  const arrivalTables = { ...transfers, newTransfers, suspenseDeposits, arrivals: arrivalTable };
  const arrivals = createArrivals({ database, writePath, tables: arrivalTables, transferById });
  const everyRoute: Route[] = [
    ...transferRoutes(transfers),
    ...feeRoutes(transfers),
    ...operatorTransferRoutes(shared),
    ...depositRoutes(arrivalTables),
    ...sandboxDepositRoutes({ ...transfers, newTransfers }),
    ...sandboxArrivalRoutes({ arrivals, assets, networks }),
    ...(simulated === undefined
      ? []
      : sandboxOutcomeRoutes({ ...shared, rails: simulated, tables: payouts, findTransfer, railOf })),
    ...fiatAccountRoutes({ ...shared, withdrawalWakes, approvesAutomatically: config.mode === 'sandbox' }),
    ...profileRoutes(shared),
    ...identityRoutes({ ...shared, newProfiles }),
    ...settlementRoutes({ ...shared, disabledProfiles, affirmed: settlement.affirmed }),
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
    recall: auth.recall,
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
    refusal: () => database.refusal(),
  });
  const connections = idleConnections(app.server);
  registerBacklogs(
    metrics.registry,
    database,
    [
      ...withdrawalBacklogs(rails.list.map(({ name }) => name)),
      suspenseBacklog,
      reviewBacklog,
      settlementBacklog,
      feedBacklog,
      ...webhookBacklogs,
    ],
    (error) => log.warn({ err: error }, 'a backlog could not be read'),
  );

  const worker = {
    database,
    writePath,
    rails,
    tables: payouts,
    trouble: (what: string, facts: object) => logger.error(facts, what),
    failed: (error: unknown) => log.warn({ err: error }, 'a withdrawal could not be brought further'),
  };
  const withdrawals = createWithdrawalWorker({
    ...worker,
    timing: PAYOUT_TIMING,
    called: metrics.railCalled,
  });
  const notices = createNoticeWorker({
    ...worker,
    deposit: arrivals.arrive,
    failed: (error) => log.warn({ err: error }, 'what a rail said could not be taken down'),
  });

  const rollUp = repeat(
    LIMITS.rollupIntervalMs,
    async () => {
      const folded = await rollUpSystemBalances(database, LIMITS.rollupDeltasMax);
      return folded === LIMITS.rollupDeltasMax ? 'again' : 'wait';
    },
    (error) => log.warn({ err: error }, 'rolling up system balances failed'),
  );
  const audits = repeat(
    LIMITS.auditIntervalMs,
    async () => {
      const started = performance.now();
      const report = await auditUnlessRunning(database, assets);
      if (report === undefined) return 'wait';
      metrics.audited(report, (performance.now() - started) / 1000);
      for (const { rule, line } of report.violations) logger.fatal({ rule }, line);
      return 'wait';
    },
    (error) => log.warn({ err: error }, 'the audit could not run'),
  );

  return {
    app,
    writePath,
    url,
    setReady: () => {
      ready = true;
    },
    async start() {
      clock.start();
      await auth.start();
      await sequencer.start();
      if (sealer !== undefined) await checkSecretKey(database, sealer, logger);
      await app.listen({ host: config.host, port: config.port });
      rollUp.start();
      settlement.start();
      audits.start(LIMITS.auditFirstMs);
      dispatcher?.start();
      if (!config.workers) return;
      withdrawals.start();
      notices.start();
    },
    async stop() {
      stopping = true;
      // Beside the requests, which may take as long: a rail that does not answer is not waited for any longer.
      const railWorkers = atMost(LIMITS.workerStopMs, Promise.all([withdrawals.stop(), notices.stop()]));
      // Who waits for events would keep the connections open; and so would a client that keeps one for later.
      news.close();
      // Requests in flight are finished; a sender that dawdles is not waited for.
      const cut = setTimeout(() => app.server.closeAllConnections(), LIMITS.requestsFinishMs);
      await connections.closeDuring(app.close());
      clearTimeout(cut);
      // An audit may take minutes; it only reads, and ends with its connection.
      void audits.stop();
      const others = [rollUp, auth, clock, settlement, dispatcher];
      await Promise.all([...others.map((one) => one?.stop()), railWorkers]);
      await writePath.stop();
      await sequencer.stop();
      log.stop();
    },
  };
}

import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Database } from './database/database.ts';
import { createApp } from './http/app.ts';
import { createMetrics } from './http/metrics.ts';
import { operationsExtension } from './http/operations.ts';
import { actorTable } from './identity/actor-store.ts';
import { Problem } from './kernel/problem.ts';
import { repeat } from './kernel/repeat.ts';
import type { Caller } from './kernel/route.ts';
import { audit } from './ledger/audit.ts';
import { rollUpSystemBalances } from './ledger/balances.ts';
import { createWritePath, type WritePath } from './ledger/write-path.ts';
import { LIMITS } from './limits.ts';
import { profileTable } from './profiles/store.ts';
import { transferRoutes } from './transfers/routes.ts';

/** The composition root: everything is made here, once, and handed to whoever needs it. */
export type Service = {
  readonly app: FastifyInstance;
  readonly writePath: WritePath;
  /** Base URL, without a slash at the end. */
  url(): string;
  issueTestToken(customerId: string, scopes?: readonly string[]): Promise<string>;
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
  let stopping = false;
  let app: FastifyInstance;

  const writePath = createWritePath({
    database,
    assets,
    observer: {
      ...metrics.writePath,
      trouble(what, error) {
        metrics.writePath.trouble(what);
        logger.warn({ err: error, what }, 'trouble in the write path');
      },
    },
  });

  const url = (): string => {
    const address = app.server.address();
    const port = address !== null && typeof address === 'object' ? address.port : config.port;
    return `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
  };
  const publicUrl = (): string => config.publicUrl ?? url();

  const tokens = new Map<string, Caller>();
  const shared = { database, writePath, assets, profiles: profileTable, actors: actorTable };
  app = await createApp({
    logger,
    publicUrl,
    authenticate: async (authorization) => {
      const caller = tokens.get(authorization?.slice(7) ?? '');
      if (caller === undefined) throw new Problem('unauthenticated', 'no');
      return caller;
    },
    routes: [...transferRoutes(shared)],
    extensions: [operationsExtension({ database, registry: metrics.registry, isStopping: () => stopping })],
    observe: metrics.request,
  });

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
    async issueTestToken(customerId, scopes) {
      const [row] = await database.query<{ integration: Caller['integration'] }>(
        'select integration from customers where id = $1',
        [customerId],
      );
      tokens.set(customerId, {
        customerId,
        clientId: 'test',
        integration: row!.integration,
        scopes: {
          has: (scope: string) => scopes === undefined || scopes.includes(scope),
          [Symbol.iterator]: () => (scopes ?? [])[Symbol.iterator](),
        } as unknown as Set<string>,
      });
      return customerId;
    },
    async start() {
      await app.listen({ host: config.host, port: config.port });
      rollUp.start();
      audits.start();
    },
    async stop() {
      stopping = true;
      await app.close();
      await Promise.all([rollUp.stop(), audits.stop()]);
      await writePath.stop();
    },
  };
}

import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type Approvals, createApprovals } from './approvals/capability.ts';
import type { Refusal } from './audit-log/refusals.ts';
import { type Authentication, createAuthentication } from './auth/capability.ts';
import { createCapabilities } from './capabilities.ts';
import type { Config } from './config/config.ts';
import type { Database } from './database/database.ts';
import { createOutageLog } from './database/outage.ts';
import { createServerClock } from './database/server-clock.ts';
import { createAdmission } from './http/admission.ts';
import { createApp } from './http/app.ts';
import { registerBacklogs } from './http/backlogs.ts';
import { createBrokenHttp } from './http/broken-http.ts';
import { consoleExtension } from './http/console.ts';
import { documentationExtension } from './http/documentation.ts';
import { healthExtension } from './http/health.ts';
import { landingExtension } from './http/landing.ts';
import { createMetrics } from './http/metrics.ts';
import { createPaths } from './http/paths.ts';
import { createHttpServer } from './http/server.ts';
import { signedExtension } from './http/signed-routes.ts';
import { createTurns } from './http/turns.ts';
import { createUsage } from './http/usage.ts';
import type { Capability } from './kernel/capability.ts';
import { createPatience, type Patience } from './kernel/patience.ts';
import { sumOf } from './kernel/queue.ts';
import { createSignal } from './kernel/signal.ts';
import { createSourceOf } from './kernel/source-address.ts';
import type { Vault } from './kernel/vault.ts';
import { startWorkers, stopWorkers, type Worker } from './kernel/worker.ts';
import { createLedger } from './ledger/capability.ts';
import type { BalanceKey } from './ledger/command.ts';
import type { WritePath } from './ledger/write-path.ts';
import { createNodes } from './nodes/capability.ts';
import { createPeople, type People } from './people/capability.ts';
import { openRails } from './rails/open.ts';
import type { Rails } from './rails/rail.ts';
import { olderRowsWorker } from './sealing/older-rows.ts';
import { vaultOf, type WrappingKeys } from './vault.ts';
import { VERSION } from './version.ts';

/** The composition root: everything is created here, once, and handed to whatever depends on it. */
export type Service = {
  readonly app: FastifyInstance;
  readonly writePath: WritePath;
  readonly vault: Vault;
  /** Base URL, without a slash at the end. */
  url(): string;
  /** From now on /health/ready answers 200. */
  setReady(): void;
  start(): Promise<void>;
  /** Stops accepting requests and finishes those in flight. The database stays open: it belongs to the caller. */
  stop(): Promise<void>;
};

export type Parts = {
  readonly config: Config;
  readonly database: Database;
  /** Connections of the write path alone; the same ones unless given. */
  readonly writeDatabase?: Database;
  /** A connection of readiness alone; the same ones unless given. */
  readonly healthDatabase?: Database;
  readonly logger: Logger;
  /** The operator's own. Without them the sandbox has simulated ones, and production none. */
  readonly rails?: Rails;
  /** The operator's own, of a key management service: instead of FERRY_SECRET_KEY. */
  readonly wrappingKeys?: WrappingKeys;
};

type Node = Awaited<ReturnType<typeof createNode>>;

async function createNode({ config, database, writeDatabase, logger, wrappingKeys }: Parts) {
  const vault = await vaultOf(config, database, wrappingKeys);
  writeDatabase?.unlock(vault);
  const log = createOutageLog(database, logger);
  const clock = await createServerClock(database, (error) =>
    log.warn({ err: error }, 'could not read the clock of the database'),
  );
  return {
    config,
    assets: config.assets,
    networks: config.networks,
    database,
    vault,
    logger,
    log,
    clock,
    sourceOf: createSourceOf(config.trustedProxies),
    committed: createSignal<readonly BalanceKey[]>(),
    feedGrown: createSignal<readonly string[]>(),
    refused: createSignal<Refusal>(),
    metrics: createMetrics(),
  };
}

/** What all requests pass, whatever they ask for. */
const createEntrance = ({ sourceOf, refused }: Node) => ({
  usage: createUsage(),
  turns: createTurns(),
  patience: createPatience(),
  sourceOf,
  refused: refused.send,
});

/** Who calls: clients with tokens, and people with sessions. */
function createCallers(
  node: Node & Pick<Approvals, 'declare'>,
  publicUrl: () => string,
  { patience }: { patience: Patience },
) {
  const { externalIssuer, openIdProvider, mode, docs: hasDocs } = node.config;
  const isSandbox = mode === 'sandbox';
  const auth = createAuthentication({
    ...node,
    publicUrl,
    externalIssuer,
    simulates: isSandbox,
    hasDocs,
    patience,
  });
  const { authenticate, revokeToken } = auth;
  const people = createPeople({ ...node, publicUrl, isSandbox, openIdProvider, authenticate, revokeToken });
  return { auth, people };
}

function workersOf({ clock, database, log }: Node, capabilities: readonly Capability[]): Worker[] {
  const ofClock: Worker = {
    name: 'server clock',
    stage: 'core',
    start: () => clock.start(),
    stop: clock.stop,
  };
  const olderRows = capabilities.flatMap((one) => one.olderRows ?? []);
  return [
    ofClock,
    ...capabilities.flatMap((one) => one.workers ?? []),
    olderRowsWorker(database, olderRows, log),
  ];
}

const backlogsOf = (capabilities: readonly Capability[]) => capabilities.flatMap((one) => one.backlogs ?? []);

const documentationOf = (
  config: Config,
  capabilities: readonly Capability[],
  { scopes, paths: extraPaths }: Authentication,
  { sessionCookie }: People,
  publicUrl: () => string,
) =>
  documentationExtension({
    isOn: config.docs,
    capabilities,
    scopes,
    extraPaths,
    sessionCookie,
    version: VERSION,
    publicUrl,
    // Loaded when it is requested: few do.
    documents: {
      '/docs/adapter-openapi.json': async () => (await import('./http-rail/openapi.ts')).adapterOpenApi(),
    },
  });

/** For people: the page at the root, and the console. */
const pagesOf = ({ config, logger }: Node, publicUrl: () => string, isReady: () => boolean) => [
  landingExtension({
    version: VERSION,
    mode: config.mode,
    hasDocs: config.docs,
    networks: [
      ...config.networks.cryptoNetworks,
      ...config.networks.fiatKinds.map((kind) => kind.toUpperCase()),
    ],
    rails: config.rails.map(({ name }) => name),
    isReady,
    publicUrl,
  }),
  consoleExtension({ publicUrl, mode: config.mode, logger }),
];

/** The ledger, and the other nodes that write to it. */
function createCore(node: Node, writeDatabase: Database) {
  const ledger = createLedger({ ...node, writeDatabase });
  const { writePath } = ledger;
  const { nodeLink } = node.config;
  const nodes = createNodes({ ...node, nodeLink, forgetBalances: writePath.forgetBalances });
  const { handOver, handedOver } = nodes;
  return { core: [ledger, nodes], writePath, handOver, writes: sumOf(writePath.queue, handedOver) };
}

export async function assemble(parts: Parts): Promise<Service> {
  const node = await createNode(parts);
  const { config, database, writeDatabase = database, healthDatabase = database, logger } = parts;
  const { log, metrics } = node;
  const { core, writePath, handOver, writes } = createCore(node, writeDatabase);
  const entrance = createEntrance(node);
  const publicUrl = (): string => config.publicUrl ?? server.url();
  const paths = createPaths({ hasDocs: config.docs });
  const server = createHttpServer(
    config,
    createBrokenHttp({ publicUrl, paths, logger, observe: metrics.request }),
    createAdmission({ ...entrance, writes, publicUrl, logger, metrics }),
  );
  const approvals = createApprovals({ ...node, writePath, fourEyes: config.fourEyes });
  const { auth, people } = createCallers({ ...node, declare: approvals.declare }, publicUrl, entrance);
  const opened = await openRails(config.rails, { ...node, writePath });
  const capabilities = [
    ...core,
    auth,
    people,
    ...createCapabilities({ ...node, handOver }, writePath, { ownRails: parts.rails, opened, approvals }),
  ];

  let isReady = false;
  const app = await createApp({
    logger,
    publicUrl,
    authenticate: auth.authenticate,
    recall: auth.recall,
    signedIn: people.signedIn,
    ...entrance,
    routes: capabilities.flatMap((one) => one.routes ?? []),
    extensions: [
      healthExtension({ database: healthDatabase, registry: metrics.registry, isReady: () => isReady }),
      auth.extension,
      people.extension,
      signedExtension(capabilities),
      documentationOf(config, capabilities, auth, people, publicUrl),
      ...pagesOf(node, publicUrl, () => isReady && database.refusal() === undefined),
    ],
    paths,
    serverFactory: server.factory,
    observe: metrics.request,
    refusal: () => database.refusal(),
  });
  server.attach(app);
  registerBacklogs(metrics.registry, backlogsOf(capabilities), (error) =>
    log.warn({ err: error }, 'could not read a backlog'),
  );

  const workers = [...workersOf(node, capabilities), server];
  return {
    app,
    writePath,
    vault: node.vault,
    url: server.url,
    setReady() {
      isReady = true;
    },
    start: () => startWorkers(workers),
    async stop() {
      isReady = false;
      await stopWorkers(workers);
      log.stop();
    },
  };
}

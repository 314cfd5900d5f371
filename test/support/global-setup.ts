import { rm } from 'node:fs/promises';
import type { TestProject } from 'vitest/node';
import { connectDatabase } from '../../src/database/database.ts';
import { startEmbedded } from '../../src/database/embedded/server.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openForService } from '../../src/database/open.ts';
import { NO_LOG } from '../../src/database/reach.ts';
import { administer, type Server } from './administer.ts';
import { addressOf, type Cluster, createOnCluster, findCluster, makeTemplate, on } from './cluster.ts';
import { copyDataDir, makeDirForData, removeOldDirs } from './data-dir.ts';
import { CONNECTIONS_MIN, forwardTo } from './given-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: { socketDir: string; port: number; user: string };
    /** The role that the services of tests connect as. It has only the rights that serving needs. */
    servingRole: string;
    /** The servers of the cluster that the tests run on; empty for a single server. The first is the coordinator. */
    servers: readonly string[];
    /** A data directory with a migrated database, to be copied; undefined on a server that the tests were given. */
    preparedDataDir: string | undefined;
  }
}

// The data directory is deleted after the run, so nothing has to survive a crash of the machine. Tests about durability start
// servers of their own. Several test files with several nodes each are connected at once. Databases live for seconds, so there is
// nothing to vacuum; tests of plans analyze their tables themselves.
const settings = { fsync: 'off', full_page_writes: 'off', max_connections: '500', autovacuum: 'off' };

const servingRole = 'ferry_serve';

/** A busy machine may need longer than the few seconds that a service waits for a connection. */
const PATIENT = { connectTimeoutMs: 60_000 };

/**
 * `hasRole`: an earlier run on the same server has left the role, to which databases of failed tests may refer. `template`: a migrated
 * database that the server has already.
 */
type RunningServer = Server & {
  readonly hasRole?: boolean;
  readonly cluster?: Cluster;
  readonly template?: string;
  readonly preparedDataDir?: string;
  stop(): Promise<void>;
};

/** As the first start of a service makes it: that takes five seconds of processor time, so the run does it once. */
async function prepareDataDir(): Promise<string> {
  const dataDir = makeDirForData();
  const opened = await openForService({ databaseUrl: undefined, dataDir }, { log: NO_LOG });
  await opened.close();
  return dataDir;
}

async function startOwn(): Promise<RunningServer> {
  removeOldDirs();
  const preparedDataDir = await prepareDataDir();
  const dataDir = makeDirForData();
  copyDataDir(preparedDataDir, dataDir);
  const { socketDir, port, user, stop } = await startEmbedded({ dataDir, log: () => undefined, settings });
  return {
    socketDir,
    port,
    user,
    hasRole: true,
    template: 'ferry',
    preparedDataDir,
    async stop() {
      await stop();
      for (const path of [dataDir, preparedDataDir]) await rm(path, { recursive: true, force: true });
    },
  };
}

/** What an earlier run on the same server left. */
async function cleanUp(server: Server, cluster: Cluster | undefined): Promise<void> {
  const drop = 'drop database if exists template_ferry with (force)';
  if (cluster === undefined) return administer(server, drop);
  for (const one of cluster.servers) await on(addressOf(one, 'postgres'), drop);
}

/** Databases are copied from it. */
async function createTemplate(
  postgres: Server,
  { cluster, template: source = 'template1' }: RunningServer,
): Promise<void> {
  if (cluster === undefined) await administer(postgres, `create database template_ferry template ${source}`);
  else await createOnCluster(cluster, 'template_ferry');
  const template = connectDatabase({ ...postgres, database: 'template_ferry' }, 2, PATIENT);
  await migrate(template, undefined, undefined, { servingRole });
  await template.close();
  if (cluster !== undefined) await makeTemplate(cluster, 'template_ferry');
}

async function useGiven(url: string): Promise<RunningServer> {
  const server = await forwardTo(url);
  const cluster = await findCluster({ ...server, database: 'postgres' });
  await cleanUp(server, cluster);
  const postgres = connectDatabase({ ...server, database: 'postgres' }, 1, PATIENT);
  const [row] = await postgres.query<{ connections: number; isSuperuser: boolean; hasRole: boolean }>(
    `select current_setting('max_connections')::integer as connections,
            (select rolsuper from pg_roles where rolname = current_user) as "isSuperuser",
            exists (select from pg_roles where rolname = $1) as "hasRole"`,
    [servingRole],
  );
  await postgres.close();
  if (!row!.isSuperuser) throw new Error('FERRY_TEST_DATABASE_URL must connect as a superuser.');
  if (row!.connections < CONNECTIONS_MIN)
    throw new Error(`max_connections of the server must be at least ${CONNECTIONS_MIN}.`);
  return {
    ...server,
    hasRole: row!.hasRole,
    ...(cluster && { cluster }),
    async stop() {
      await cleanUp(server, cluster);
      await server.stop();
    },
  };
}

/** The embedded server has no passwords; on others the role has that of the URL. */
function roleStatement({ hasRole = false }: RunningServer, { PGPASSWORD: password }: NodeJS.ProcessEnv) {
  const quoted = password === undefined ? '' : ` password '${password.replaceAll("'", "''")}'`;
  return `${hasRole ? 'alter' : 'create'} role ${servingRole} login${quoted}`;
}

/**
 * One real server for the whole run: an embedded one, or that of FERRY_TEST_DATABASE_URL. Databases are copied from a template that is
 * migrated once.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { FERRY_TEST_DATABASE_URL: url } = process.env;
  const server = url === undefined || url === '' ? await startOwn() : await useGiven(url);
  const postgres = { socketDir: server.socketDir, port: server.port, user: server.user };
  await administer(postgres, roleStatement(server, process.env));
  await createTemplate(postgres, server);
  project.provide('postgres', postgres);
  project.provide('servers', server.cluster?.servers ?? []);
  project.provide('servingRole', servingRole);
  project.provide('preparedDataDir', server.preparedDataDir);
  return server.stop;
}

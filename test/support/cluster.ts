import { connectDatabase, type DatabaseAddress } from '../../src/database/database.ts';

/**
 * The servers of FERRY_TEST_DATABASE_URL, if that is the coordinator of a Citus cluster. Each has a database of the same name, with its part
 * of the tables. So a database is copied by copying it on every server: what the servers know of each other is the same for all databases.
 */
export type Cluster = { readonly servers: readonly string[] };

/** A busy machine may need longer than the few seconds that a service waits for a connection. */
const PATIENT = { connectTimeoutMs: 60_000 };

export const addressOf = (server: string, database: string): DatabaseAddress => ({
  url: `postgres://postgres@${server}/${database}`,
});

export async function on(address: DatabaseAddress, ...statements: readonly string[]): Promise<object[]> {
  const database = connectDatabase(address, 1, PATIENT);
  try {
    const connection = await database.reserve({ patient: true });
    try {
      await connection.query('set statement_timeout = 0');
      let rows: object[] = [];
      for (const statement of statements) rows = await connection.query(statement);
      return rows;
    } finally {
      connection.release();
    }
  } finally {
    await database.close();
  }
}

/** The coordinator is the first. Undefined if the server has no cluster. */
export async function findCluster(postgres: DatabaseAddress): Promise<Cluster | undefined> {
  const [extension] = await on(postgres, `select from pg_extension where extname = 'citus'`);
  if (extension === undefined) return undefined;
  const rows = await on(
    postgres,
    `select nodename || ':' || nodeport as server from pg_dist_node order by groupid`,
  );
  return { servers: rows.map((row) => (row as { server: string }).server) };
}

const hostAndPort = (server: string): string => {
  const [host, port] = server.split(':');
  return `'${host}', ${port}`;
};

async function createOn(server: string, name: string): Promise<void> {
  await on(addressOf(server, 'postgres'), `create database ${name}`);
  await on(addressOf(server, name), 'create extension citus');
}

/** An empty database on every server, which know each other. */
export async function createOnCluster(cluster: Cluster, name: string): Promise<void> {
  for (const server of cluster.servers) await createOn(server, name);
  await introduce(cluster, name);
}

/** Makes a database of the coordinator that of the cluster, as its operator does. */
export async function spreadOverCluster(cluster: Cluster, name: string): Promise<void> {
  const [coordinator, ...workers] = cluster.servers;
  await on(addressOf(coordinator!, name), 'create extension citus');
  for (const worker of workers) await createOn(worker, name);
  await introduce(cluster, name);
}

async function introduce({ servers }: Cluster, name: string): Promise<void> {
  const [coordinator, ...workers] = servers;
  await on(
    addressOf(coordinator!, name),
    `select citus_set_coordinator_host(${hostAndPort(coordinator!)})`,
    ...workers.map((worker) => `select citus_add_node(${hostAndPort(worker)})`),
  );
}

/** The same for a server more, while the database is used. */
export async function addToCluster(coordinator: string, server: string, name: string): Promise<void> {
  await createOn(server, name);
  await on(addressOf(coordinator, name), `select citus_add_node(${hostAndPort(server)})`);
}

/** Its maintenance process would keep it from being copied. */
export async function makeTemplate({ servers }: Cluster, name: string): Promise<void> {
  for (const server of servers) {
    await on(
      addressOf(server, 'postgres'),
      `alter database ${name} allow_connections false`,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
    );
  }
}

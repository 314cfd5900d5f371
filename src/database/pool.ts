import pg from 'pg';
import { LIMITS } from '../limits.ts';
import { DatabaseUnavailable } from './failure.ts';
import type { Cluster, Views } from './queryable.ts';
import { createShards, PLACES, type Shards } from './shards.ts';

/** How connections are created: their settings, their admission, and when they must no longer be used. */

/** Decides which connections a pool may use: see `admission.ts`. */
export type Admission = {
  /** `application_name` of the sessions of this pool. */
  readonly applicationName: string;
  /** Checks a new connection before it is used, and throws to refuse it. */
  admit(ask: (text: string) => Promise<object[]>): Promise<void>;
  /** While this returns an error, no connection is handed out. */
  refusal(): DatabaseUnavailable | undefined;
};

/** For code that prepares a database, and for tests. */
export const ANY_CONNECTION: Admission = {
  applicationName: 'ferry',
  admit: async () => undefined,
  refusal: () => undefined,
};

export type DatabaseAddress =
  | { readonly url: string }
  | { readonly socketDir: string; readonly port: number; readonly user: string; readonly database: string };

const INT8 = 20;
const NUMERIC = 1700;
const TIMESTAMPTZ = 1184;
const NUMERIC_ARRAY = 1231;

/** Amounts and instants are parsed to bigint. A numeric with a fraction throws: no column has one. */
export const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): unknown {
    if (oid === INT8 || oid === NUMERIC) return BigInt;
    if (oid === TIMESTAMPTZ) return String;
    // The driver's own parser would convert the elements to floats.
    if (oid === NUMERIC_ARRAY) return refuseNumericArray;
    return (pg.types.getTypeParser as (oid: number, format: string) => unknown)(oid, format ?? 'text');
  },
};

function refuseNumericArray(): never {
  throw new TypeError('numeric[] cannot be read without loss: select its elements as rows');
}

/**
 * No sequential scans where there is an index: plans are cached, and a plan that was made for an empty table would keep
 * scanning it after it has grown (the lookup of 256 idempotency keys took 380 ms instead of 1 ms). No JIT compilation: it
 * takes longer than any of these statements.
 */
export const PLANNER = '-c enable_seqscan=off -c jit=off';

/**
 * Each statement of the write path has one good plan, whatever its arrays contain. Planning them for every batch costs
 * the server 330 µs, more than all the rows of a single transfer. Not for reads: good plans for lists depend on the values.
 */
export const WRITE_PATH_PLANNER = `${PLANNER} -c plan_cache_mode=force_generic_plan`;

/**
 * On a cluster. A batch touches most shards of a server, and one connection for all of them is cheaper than one for each. Citus plans a
 * statement for its values, so there is no generic plan.
 */
const CLUSTER_SETTINGS = `set plan_cache_mode = auto; set citus.multi_shard_modify_mode = 'sequential';
  set citus.max_adaptive_executor_pool_size = 1`;

/**
 * Each statement sees what was committed before it, whatever the role or the database says: transactions lock something, and then read or
 * confirm what it protects.
 */
const ISOLATION = '-c default_transaction_isolation=read\\ committed';

/** Connections to a database whose tables are distributed. */
const clusters = new WeakMap<pg.ClientBase, Cluster>();
export const clusterOf = (client: pg.ClientBase): Cluster | undefined => clusters.get(client);

/** Connections that must no longer be used. */
export const lost = new WeakSet<pg.ClientBase>();
/** When each connection was opened. */
export const connectedMs = new WeakMap<pg.ClientBase, number>();

/**
 * The source file of the server's warning that a commit did not wait for the synchronous standby, because the wait was
 * cancelled. The warning can only be recognized by this file: its text is translated, and its code is that of every
 * warning. The connection is then closed, and its commits are in doubt.
 */
const SYNCHRONOUS_REPLICATION = 'syncrep.c';

/** Closes a connection at once; the driver's `end` would wait for the running statement. */
export function destroy(client: pg.ClientBase): void {
  (client as unknown as { connection: pg.Connection }).connection.stream.destroy();
}

const askerOf =
  (client: pg.ClientBase) =>
  async (text: string): Promise<object[]> => {
    const question = { text, query_timeout: LIMITS.databaseConnectTimeoutMs };
    return (await client.query<object>(question as pg.QueryConfig)).rows;
  };

/** Citus cannot collect the rows of a subquery without columns, as in `exists (select from …)`. */
function asPart(definition: string): string {
  return definition.replaceAll(/\bSELECT\s+FROM\b/g, 'SELECT 1 FROM').replace(/;\s*$/, '');
}

/** For statements that have the definitions of views as parts. */
export async function readViews(ask: (text: string) => Promise<object[]>): Promise<Views> {
  const rows = await ask(
    `select viewname as name, definition from pg_views where schemaname = current_schema()`,
  );
  const views = rows as { name: string; definition: string }[];
  return new Map(views.map(({ name, definition }) => [name, asPart(definition)]));
}

/** Balances, entries and transfers have the same shards. */
async function readShards(
  ask: (text: string) => Promise<object[]>,
  known: Shards | undefined,
): Promise<Shards | undefined> {
  const [row] = (await ask(`select (${PLACES}) as places`)) as { places: string | null }[];
  const { places } = row!;
  if (places === null) return undefined;
  return places === known?.places ? known : createShards(places);
}

/**
 * Undefined unless the server is one of a cluster. Asked on every connection: a node keeps its pools while a migration that distributes
 * the tables locks it out.
 */
async function enterCluster(client: pg.ClientBase, known: Cluster | undefined): Promise<Cluster | undefined> {
  const ask = askerOf(client);
  try {
    const [extension] = await ask(`select from pg_extension where extname = 'citus'`);
    if (extension === undefined) return undefined;
    await ask(CLUSTER_SETTINGS);
    return { views: known?.views ?? (await readViews(ask)), shards: await readShards(ask, known?.shards) };
  } catch (error) {
    destroy(client);
    throw error;
  }
}

/** With a timeout, because a server may accept a connection and then never answer. */
async function admitted(client: pg.ClientBase, admission: Admission): Promise<void> {
  const ask = askerOf(client);
  try {
    await admission.admit(ask);
  } catch (error) {
    // The driver's `end` would wait for the server, which may not answer.
    if (!(error instanceof DatabaseUnavailable)) destroy(client);
    throw error;
  }
}

export type PoolOptions = {
  readonly planner?: string;
  /** How long a session may be idle inside a transaction before the server ends it. */
  readonly idleInTransactionMs?: number;
  /** How long a caller waits for a connection, new or returned by another caller. */
  readonly connectTimeoutMs?: number;
  readonly admission?: Admission;
};

export function createPool(
  address: DatabaseAddress,
  connectionsMax: number,
  { planner, idleInTransactionMs, connectTimeoutMs, admission }: Required<PoolOptions>,
): pg.Pool {
  const where =
    'url' in address
      ? { connectionString: address.url }
      : { host: address.socketDir, port: address.port, user: address.user, database: address.database };
  let cluster: Cluster | undefined;
  const options = {
    ...where,
    max: connectionsMax,
    pipeline: true,
    types,
    application_name: admission.applicationName,
    options: `${planner} ${ISOLATION}`,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: LIMITS.statementTimeoutMs,
    lock_timeout: LIMITS.lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    idleTimeoutMillis: 60_000,
    async onConnect(client: pg.ClientBase) {
      connectedMs.set(client, performance.now());
      // Without a listener, a lost connection would end the process. Its users get the error from their statements.
      client.on('error', () => lost.add(client));
      client.on('end', () => lost.add(client));
      client.on('notice', (notice) => {
        if (notice.file === SYNCHRONOUS_REPLICATION) lost.add(client);
      });
      cluster = await enterCluster(client, cluster);
      if (cluster !== undefined) clusters.set(client, cluster);
      await admitted(client, admission);
    },
  };
  const pool = new pg.Pool(options);
  pool.on('error', () => undefined);
  return pool;
}

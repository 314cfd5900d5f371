import pg from 'pg';
import { LIMITS } from '../limits.ts';
import { DatabaseUnavailable } from './failure.ts';

/** How connections are made: their settings, who may use them, and when one is not to be used any more. */

/** Decides which connections a pool may use: see `admission.ts`. */
export type Admission = {
  /** What the server calls the sessions of this pool. */
  readonly applicationName: string;
  /** Looks at a new connection before anybody uses it, and throws to refuse it. */
  admit(ask: (text: string) => Promise<object[]>): Promise<void>;
  /** While there is one, no connection is handed out. */
  refusal(): DatabaseUnavailable | undefined;
};

/** For who prepares a database, or has one to itself. */
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

/** Amounts and instants are bigint from the wire on; a numeric with a fraction has no place here and throws. */
export const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): unknown {
    if (oid === INT8 || oid === NUMERIC) return BigInt;
    if (oid === TIMESTAMPTZ) return String;
    // The driver's own parser would make floats of these.
    if (oid === NUMERIC_ARRAY) return refuseNumericArray;
    return (pg.types.getTypeParser as (oid: number, format: string) => unknown)(oid, format ?? 'text');
  },
};

function refuseNumericArray(): never {
  throw new TypeError('numeric[] is not read: select its elements as rows');
}

/**
 * No sequential scan where there is an index: plans are kept, and one that was made while a table was still empty would
 * go on reading all of it when it has grown (the lookup of 256 idempotency keys took 380 ms instead of one). No
 * compilation of plans: it takes longer than any of these statements.
 */
export const PLANNER = '-c enable_seqscan=off -c jit=off';

/**
 * Statements of the write path have one good plan each, whatever their arrays hold. Planning them for every batch costs
 * the server 330 µs, more than all the rows of a single transfer. Plans for pages of lists depend on their values.
 */
export const WRITE_PATH_PLANNER = `${PLANNER} -c plan_cache_mode=force_generic_plan`;

/** Connections that must not be used any more. */
export const lost = new WeakSet<pg.ClientBase>();
/** When each was made. */
export const connectedMs = new WeakMap<pg.ClientBase, number>();

/**
 * Where the server warns that a commit was made without the synchronous standby, since somebody cancelled the wait for it.
 * Neither the words nor the code tell: words are translated, and the code is that of any warning. Such a connection is
 * given up, and its commits are in doubt.
 */
const SYNCHRONOUS_REPLICATION = 'syncrep.c';

/** Ends a connection at once: an orderly end would wait for the statement that is running. */
export function destroy(client: pg.ClientBase): void {
  (client as unknown as { connection: pg.Connection }).connection.stream.destroy();
}

/** Bounded: a server may accept a connection and then never answer. */
async function admitted(client: pg.ClientBase, admission: Admission): Promise<void> {
  const ask = async (text: string): Promise<object[]> => {
    const question = { text, query_timeout: LIMITS.databaseConnectTimeoutMs };
    return (await client.query<object>(question as pg.QueryConfig)).rows;
  };
  try {
    await admission.admit(ask);
  } catch (error) {
    // An orderly end would wait for the server once more.
    if (!(error instanceof DatabaseUnavailable)) destroy(client);
    throw error;
  }
}

export type PoolOptions = {
  readonly planner?: string;
  /** How long a session may stand still inside a transaction before the server ends it. */
  readonly idleInTransactionMs?: number;
  readonly admission?: Admission;
};

export function createPool(
  address: DatabaseAddress,
  connectionsMax: number,
  { planner, idleInTransactionMs, admission }: Required<PoolOptions>,
): pg.Pool {
  const where =
    'url' in address
      ? { connectionString: address.url }
      : { host: address.socketDir, port: address.port, user: address.user, database: address.database };
  const options = {
    ...where,
    max: connectionsMax,
    pipeline: true,
    types,
    application_name: admission.applicationName,
    options: planner,
    connectionTimeoutMillis: LIMITS.databaseConnectTimeoutMs,
    statement_timeout: LIMITS.statementTimeoutMs,
    lock_timeout: LIMITS.lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    idleTimeoutMillis: 60_000,
    async onConnect(client: pg.ClientBase) {
      connectedMs.set(client, performance.now());
      // Without a listener the loss of a connection would end the process. Its users learn of it from their statements.
      client.on('error', () => lost.add(client));
      client.on('end', () => lost.add(client));
      client.on('notice', (notice) => {
        if (notice.file === SYNCHRONOUS_REPLICATION) lost.add(client);
      });
      await admitted(client, admission);
    },
  };
  const pool = new pg.Pool(options);
  pool.on('error', () => undefined);
  return pool;
}

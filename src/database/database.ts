import postgres from 'postgres';
import { LIMITS } from '../limits.ts';

/** What goes to the server as a parameter. Arrays go as literals, see `array.ts`. */
export type Parameter = string | number | bigint | boolean | null;

export type Queryable = {
  /** Prepared, set-wise, positional. Rows come back with int8 and numeric as bigint, json parsed. */
  query<Row extends object>(text: string, parameters?: readonly Parameter[]): Promise<Row[]>;
};

/** Statements that are not awaited one by one go to the server in one write and answer in order. */
export type Transaction = Queryable;

/** One connection, for those who need several statements on the same one outside a plain transaction. */
export type Connection = Queryable & {
  /** Several statements in one text, without parameters: migrations. */
  script(text: string): Promise<void>;
  release(): void;
};

export type Database = Queryable & {
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** A consistent look at the whole database, without the time limit of ordinary statements. */
  snapshot<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  reserve(): Promise<Connection>;
  close(): Promise<void>;
};

export type DatabaseAddress = { url: string } | { socketPath: string; user: string; database: string };

const INT8 = 20;
const NUMERIC = 1700;

/** Amounts and instants are bigint from the wire on; a numeric with a fraction has no place here and throws. */
const types = {
  int8: { to: INT8, from: [INT8], serialize: String, parse: BigInt },
  numeric: { to: NUMERIC, from: [NUMERIC], serialize: String, parse: BigInt },
  // Json is handed over as text and comes back parsed. (The driver's own serializer would quote the text again.)
  json: { to: 114, from: [114, 3802], serialize: String, parse: (text: string): unknown => JSON.parse(text) },
};

function asQueryable(sql: postgres.Sql | postgres.ReservedSql | postgres.TransactionSql): Queryable {
  return {
    async query<Row extends object>(text: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
      return sql.unsafe<Row[]>(text, parameters as never[], { prepare: true });
    },
  };
}

function optionsFor(
  address: DatabaseAddress,
  connectionsMax: number,
): postgres.Options<Record<string, postgres.PostgresType>> {
  return {
    max: connectionsMax,
    types,
    prepare: true,
    connect_timeout: LIMITS.databaseConnectTimeoutMs / 1000,
    // The driver would otherwise wait longer and longer between attempts; requests are to fail at once instead.
    backoff: false,
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => undefined,
    connection: {
      application_name: 'ferry',
      statement_timeout: LIMITS.statementTimeoutMs,
      lock_timeout: LIMITS.lockTimeoutMs,
      idle_in_transaction_session_timeout: LIMITS.idleInTransactionTimeoutMs,
    },
    ...('url' in address
      ? {}
      : { path: address.socketPath, username: address.user, database: address.database }),
  } as postgres.Options<Record<string, postgres.PostgresType>>;
}

export function connectDatabase(
  address: DatabaseAddress,
  connectionsMax: number = LIMITS.databaseConnectionsMax,
): Database {
  const options = optionsFor(address, connectionsMax);
  const sql = 'url' in address ? postgres(address.url, options) : postgres(options);
  return {
    ...asQueryable(sql),
    transaction: async (work) => (await sql.begin((tx) => work(asQueryable(tx)))) as never,
    snapshot: async (work) =>
      (await sql.begin('isolation level repeatable read read only', async (tx) => {
        await tx`set local statement_timeout = 0`;
        return work(asQueryable(tx));
      })) as never,
    async reserve() {
      const reserved = await sql.reserve();
      return {
        ...asQueryable(reserved),
        script: async (text) => void (await reserved.unsafe(text)),
        release: () => reserved.release(),
      };
    },
    close: () => sql.end({ timeout: 5 }),
  };
}

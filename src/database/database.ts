import pg from 'pg';
import { LIMITS } from '../limits.ts';
import type { CopyMessages } from './binary.ts';
import { DatabaseUnavailable } from './failure.ts';
import { type Part, PipelineQuery, type Prepared, wireValue } from './pipeline.ts';
import {
  type Admission,
  ANY_CONNECTION,
  connectedMs,
  createPool,
  type DatabaseAddress,
  destroy,
  lost,
  PLANNER,
  type PoolOptions,
  types,
  WRITE_PATH_PLANNER,
} from './pool.ts';

export { type Admission, ANY_CONNECTION, type DatabaseAddress } from './pool.ts';

/** What goes to the server as a parameter. Arrays go as literals (`array.ts`) or, where speed counts, in binary (`binary.ts`). */
export type Parameter = string | number | bigint | boolean | Buffer | null;

export type Queryable = {
  /** Prepared and positional. Rows come back with int8 and numeric as bigint, json parsed, times as text. */
  query<Row extends object>(text: string, parameters?: readonly Parameter[]): Promise<Row[]>;
};

/** Statements that are not awaited one by one go to the server together and answer in order. */
export type Transaction = Queryable & {
  /** A COPY with its rows, see `appendTo`. */
  copy(messages: CopyMessages): Promise<void>;
};

/** One connection, for those who need several statements on the same one. */
export type Connection = Transaction & {
  /** The same object for all who use this connection one after the other. */
  readonly session: object;
  /** False once it is closed, or brought a commit that the standby has not confirmed, as far as that is known here. */
  isOpen(): boolean;
  /** Several statements in one text, without parameters: migrations. */
  script(text: string): Promise<void>;
  /**
   * Fails when the server rolled back instead, as it silently does when a statement before had failed, and when the
   * synchronous standby has not confirmed the commit.
   */
  commit(): Promise<void>;
  /** A connection that is inside a transaction, or broken, is closed instead of being used again. */
  release(): void;
  /** Closes it for good, with all locks and settings of its session; inside a transaction at once, whatever is running. */
  discard(): void;
};

export type Database = Queryable & {
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** A consistent look at the whole database, without the time limits of ordinary statements. */
  snapshot<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** `patient` connections have no time limits: migrations, audits. */
  reserve(options?: { patient?: boolean }): Promise<Connection>;
  /** Why the database may not be used now, as a sentence for users; undefined when it may. */
  refusal(): string | undefined;
  /** Gives every connection back: idle ones now, those in use when they are released, at the latest after a bound. */
  dropConnections(): void;
  /** Fails unless a connection made after the last drop is admitted, also while the database may not be used. */
  tryConnection(): Promise<void>;
  close(): Promise<void>;
};

/** Statements keep one name for ever. Texts are few, since values are parameters; beyond the bound they go unnamed. */
const STATEMENT_NAMES_MAX = 1_000;
const statementNames = new Map<string, string>();

function statementName(text: string): string | undefined {
  let name = statementNames.get(text);
  if (name === undefined && statementNames.size < STATEMENT_NAMES_MAX) {
    name = `ferry_${statementNames.size}`;
    statementNames.set(text, name);
  }
  return name;
}

/** Codes of errors that end the connection. Its severity would tell as well, but in the server's language. */
const ENDS_CONNECTION = /^(08|28|3D|53300|57P0|25P0[34])/;

/**
 * An error of the statement is passed on, and so is a fault in a value that cannot be sent or read, which the language
 * itself throws. Anything else means that the connection is lost.
 */
function translate(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  if (error instanceof pg.DatabaseError && !ENDS_CONNECTION.test(error.code ?? '08')) return error;
  const isFaultOfValue =
    error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError;
  return isFaultOfValue ? error : new DatabaseUnavailable(error);
}

type WithTypes = pg.PoolClient & {
  getTypeParser(oid: number, format: 'text'): (text: string | null) => unknown;
};

/** What each connection has prepared. */
const preparedBy = new WeakMap<pg.PoolClient, Prepared>();

function preparedOf(client: pg.PoolClient): Prepared {
  let prepared = preparedBy.get(client);
  if (prepared === undefined) {
    const { getTypeParser } = types as unknown as WithTypes;
    prepared = {
      shapes: new Map(),
      uncertain: new Set(),
      getTypeParser: (oid) => getTypeParser(oid, 'text'),
    };
    preparedBy.set(client, prepared);
  }
  return prepared;
}

/** Statements that are sent in the same turn of the event loop make one flight. */
function queryableOn(client: pg.PoolClient, patient: boolean, silent: () => void): Transaction {
  const prepared = preparedOf(client);
  const timeoutMs = patient ? LIMITS.patientStatementTimeoutMs : LIMITS.answerTimeoutMs;
  let waiting: Part[] = [];
  function send(): void {
    const query = new PipelineQuery(waiting, prepared, timeoutMs, translate, silent);
    waiting = [];
    client.query(query);
  }
  function add(text: string, parameters: readonly Parameter[], copy?: CopyMessages): Promise<object[]> {
    return new Promise((resolve, reject) => {
      const statement = { name: statementName(text), text, values: parameters.map(wireValue) };
      if (waiting.length === 0) process.nextTick(send);
      waiting.push({ ...statement, ...(copy && { copy }), resolve, reject });
    });
  }
  return {
    query: <Row extends object>(text: string, parameters: readonly Parameter[] = []) =>
      add(text, parameters) as Promise<Row[]>,
    async copy(copy) {
      await add(copy.statement, [], copy);
    },
  };
}

function isOutsideTransaction(client: pg.PoolClient): boolean {
  return (client as unknown as { getTransactionStatus(): string | null }).getTransactionStatus() === 'I';
}

export function connectDatabase(
  address: DatabaseAddress,
  connectionsMax: number = LIMITS.databaseConnectionsMax,
  {
    planner = PLANNER,
    idleInTransactionMs = LIMITS.idleInTransactionTimeoutMs,
    admission = ANY_CONNECTION,
  }: PoolOptions = {},
): Database {
  const pool = createPool(address, connectionsMax, { planner, idleInTransactionMs, admission });
  const inUse = new Set<pg.PoolClient>();
  /**
   * Where one connection fell silent, those that lay idle meanwhile may have died with it, and each would be found out
   * only by waiting as long again: from then on only new ones are used.
   */
  let trustedFromMs = Number.NEGATIVE_INFINITY;
  const silent = (): void => {
    trustedFromMs = performance.now();
  };
  const isTrusted = (client: pg.PoolClient): boolean => (connectedMs.get(client) ?? 0) >= trustedFromMs;

  async function connect(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await pool.connect().catch((error: unknown) => {
        throw translate(error);
      });
      if (isTrusted(client)) return client;
      client.release(true);
    }
  }

  async function reserve({ patient = false } = {}): Promise<Connection> {
    const refusal = admission.refusal();
    if (refusal !== undefined) throw refusal;
    const client = await connect();
    inUse.add(client);
    return {
      ...queryableOn(client, patient, silent),
      session: client,
      isOpen: () => !lost.has(client),
      async script(text) {
        await client.query({ text, query_timeout: LIMITS.patientStatementTimeoutMs } as pg.QueryConfig);
      },
      async commit() {
        const query_timeout = patient ? LIMITS.patientStatementTimeoutMs : LIMITS.answerTimeoutMs;
        const commit = { text: 'commit', query_timeout };
        const { command } = await client.query(commit as pg.QueryConfig).catch((error: unknown) => {
          // Whatever is not an answer of the server leaves it open whether it committed.
          throw error instanceof pg.DatabaseError ? translate(error) : new DatabaseUnavailable(error);
        });
        if (command !== 'COMMIT') throw new Error(`the transaction ended with ${command}`);
        if (lost.has(client))
          throw new DatabaseUnavailable(new Error('the standby has not confirmed the commit'));
      },
      release() {
        if (!inUse.delete(client)) return;
        client.release(!isOutsideTransaction(client) || lost.has(client) || !isTrusted(client));
      },
      discard() {
        if (!inUse.delete(client)) return;
        client.release(true);
        if (!isOutsideTransaction(client)) destroy(client);
      },
    };
  }

  /** Ends connections in use. The driver lets a statement under way finish first; a process that stops cannot wait. */
  function cut(concerned: (client: pg.PoolClient) => boolean, atOnce: boolean): void {
    for (const client of inUse) {
      if (!concerned(client)) continue;
      inUse.delete(client);
      client.release(true);
      if (atOnce) destroy(client);
    }
  }

  async function within<T>(
    begin: readonly string[],
    patient: boolean,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    const connection = await reserve({ patient });
    try {
      for (const statement of begin) await connection.query(statement);
      const result = await work(connection);
      await connection.commit();
      return result;
    } catch (error) {
      await connection.query('rollback').catch(() => undefined);
      throw error;
    } finally {
      connection.release();
    }
  }

  return {
    async query<Row extends object>(text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
      const connection = await reserve();
      try {
        return await connection.query<Row>(text, parameters);
      } finally {
        connection.release();
      }
    },
    transaction: (work) => within(['begin'], false, work),
    snapshot: (work) =>
      within(
        [
          'begin isolation level repeatable read read only',
          'set local statement_timeout = 0',
          'set local enable_seqscan = on',
        ],
        true,
        work,
      ),
    reserve,
    refusal: () => admission.refusal()?.message,
    dropConnections() {
      trustedFromMs = performance.now();
      for (let idle = pool.idleCount; idle > 0; idle -= 1)
        pool.connect().then(
          (client) => client.release(!isTrusted(client)),
          () => undefined,
        );
      setTimeout(cut, LIMITS.databaseCloseMs, (client: pg.PoolClient) => !isTrusted(client), false).unref();
    },
    async tryConnection() {
      (await connect()).release();
    },
    async close() {
      const ended = pool.end();
      // The pool would wait for ever for a connection that is not given back.
      const timer = setTimeout(cut, LIMITS.databaseCloseMs, () => true, true);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** The connections of a write path: their own number, plans and patience. */
export function connectWritePath(address: DatabaseAddress, admission: Admission = ANY_CONNECTION): Database {
  return connectDatabase(address, LIMITS.writePathConnectionsMax, {
    planner: WRITE_PATH_PLANNER,
    idleInTransactionMs: LIMITS.batchIdleTimeoutMs,
    admission,
  });
}

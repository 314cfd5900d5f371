import type { Connection, Database, Parameter, Queryable, Statement } from '../../src/database/database.ts';
import { until } from './until.ts';

/** Points at which tests stop sessions of the database, so that a race happens in the same way every time. */

export async function pidOf(session: Queryable): Promise<number> {
  const [row] = await session.query<{ pid: number }>('select pg_backend_pid() as pid');
  return row!.pid;
}

const BLOCKED_HERE = `select pid from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and $1::integer = any (pg_blocking_pids(pid))`;
const BLOCKED: Statement = {
  plain: BLOCKED_HERE,
  distributed: `${BLOCKED_HERE} union all
    select citus_pid_for_gpid(waiting_gpid) from citus_lock_waits where citus_pid_for_gpid(blocking_gpid) = $1::integer`,
};

/** Waits until a session waits for a lock of this one, and returns its pid. */
export async function untilBlockedBy(database: Queryable, pid: number): Promise<number> {
  let blocked: { pid: number } | undefined;
  await until(`a session waits for a lock of ${pid}`, async () => {
    [blocked] = await database.query<{ pid: number }>(BLOCKED, [pid]);
    return blocked !== undefined;
  });
  return blocked!.pid;
}

/** Waits for locks without a timeout: on a busy machine a test may hold them for longer than the service would wait. */
export function patient(database: Database): Database {
  return {
    ...database,
    transaction: (work) =>
      database.transaction(async (tx) => {
        await tx.query('set local lock_timeout = 0');
        return work(tx);
      }),
    async reserve(options) {
      const connection = await database.reserve(options);
      await connection.query('set lock_timeout = 0');
      return connection;
    },
  };
}

/** A session that holds the locks of the statement until `release`. */
export async function hold(database: Database, statement: string, parameters: readonly Parameter[] = []) {
  const connection = await database.reserve();
  await connection.query('begin');
  await connection.query(statement, parameters);
  const pid = await pidOf(connection);
  return {
    pid,
    async release(): Promise<void> {
      await connection.commit();
      connection.release();
    },
  };
}

function withCommit(database: Database, commit: (connection: Connection) => Promise<void>): Database {
  return {
    ...database,
    async reserve(options) {
      const connection = await database.reserve(options);
      return { ...connection, commit: () => commit(connection) };
    },
  };
}

/** Stops the first transaction before its commit, with all its locks, until `go`. */
export function stopAtCommit(database: Database) {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<number>();
  const { promise: gone, resolve: go } = Promise.withResolvers<void>();
  let isFirst = true;
  async function stand(session: Queryable): Promise<void> {
    if (!isFirst) return;
    isFirst = false;
    stop(await pidOf(session));
    await gone;
  }
  const through = withCommit(database, async (connection) => {
    await stand(connection);
    await connection.commit();
  });
  return {
    database: {
      ...through,
      transaction: (work) =>
        database.transaction(async (tx) => {
          const result = await work(tx);
          await stand(tx);
          return result;
        }),
    } satisfies Database as Database,
    /** Resolves with the pid of the stopped session. */
    stopped,
    go,
  };
}

/** A process that is killed at its first commit: its connection ends, and it executes nothing more. */
export function dieAtCommit(database: Database, side: 'before' | 'after') {
  const { promise: died, resolve: die } = Promise.withResolvers<void>();
  const dying = withCommit(database, async (connection) => {
    if (side === 'after') await connection.commit();
    connection.discard();
    die();
    await new Promise<never>(() => undefined);
  });
  return { database: dying, died };
}

/** Passes the answers to statements through `hear`, which can delay or change them. */
export function hearing(
  database: Database,
  hear: (text: string, rows: readonly object[]) => Promise<readonly object[]>,
): Database {
  return {
    ...database,
    async reserve(options) {
      const connection = await database.reserve(options);
      return {
        ...connection,
        async query<Row extends object>(text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
          return (await hear(text, await connection.query<Row>(text, parameters))) as Row[];
        },
      };
    },
  };
}

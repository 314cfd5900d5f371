import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '../limits.ts';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import {
  type Connection,
  connectDatabase,
  type Database,
  type DatabaseAddress,
  WRITE_PATH_PLANNER,
} from './database.ts';
import { type EmbeddedServer, startEmbedded } from './embedded.ts';
import { DatabaseAway } from './failure.ts';

/** The database that the configuration names: the embedded server in the data directory, or your own. */
export type OpenDatabase = {
  readonly database: Database;
  /** A pool of its own for the write path. */
  readonly writeDatabase: Database;
  /** Closes the connections, and stops the embedded server when nobody else uses it. */
  close(): Promise<void>;
};

export class OpenError extends Error {}

type Where = {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly log: (message: string) => void;
};

const DATABASE = 'ferry';
/** A service that was just killed may hold the lock until the server has noticed. */
const OWNER_WAIT_MS = 3_000;
/** Times the server is started anew because its last user of before was just stopping it. */
const JOIN_ATTEMPTS_MAX = 5;

async function createDatabase(server: EmbeddedServer): Promise<void> {
  const { socketDir, port, user } = server;
  const administration = connectDatabase({ socketDir, port, user, database: 'postgres' }, 1);
  try {
    const found = await administration.query('select from pg_database where datname = $1', [DATABASE]);
    if (found.length === 0) await administration.query(`create database ${DATABASE}`);
  } catch (error) {
    // Another process was first, or is at the same moment.
    if (!['42P04', '23505'].includes((error as { code?: string }).code ?? '')) throw error;
  } finally {
    await administration.close();
  }
}

async function tryLock(connection: Connection, lock: number): Promise<boolean> {
  const [row] = await connection.query<{ locked: boolean }>(`select pg_try_advisory_lock(${lock}) as locked`);
  return row!.locked;
}

const tryOwn = (connection: Connection): Promise<boolean> =>
  tryLock(connection, ADVISORY_LOCKS.dataDirectory);

/** One of the users of the server from now on, until the connection is released. */
async function join(users: Database): Promise<Connection> {
  const connection = await users.reserve();
  await connection.query(`select pg_advisory_lock_shared(${ADVISORY_LOCKS.embeddedUsers})`);
  return connection;
}

/** True for the last user, and then nobody can join any more. A server that cannot be asked is not ours to stop. */
async function leave(connection: Connection): Promise<boolean> {
  try {
    await connection.query(`select pg_advisory_unlock_shared(${ADVISORY_LOCKS.embeddedUsers})`);
    return (await tryLock(connection, ADVISORY_LOCKS.embeddedUsers)) && (await tryOwn(connection));
  } catch {
    return false;
  }
}

/**
 * Keeps the claim on the data directory on a connection of its own, and takes it again when the server was restarted.
 */
async function own(users: Database, first: Connection, dataDir: string): Promise<() => void> {
  let connection = first;
  const deadline = performance.now() + OWNER_WAIT_MS;
  while (!(await tryOwn(connection))) {
    if (performance.now() > deadline) {
      connection.release();
      throw new OpenError(
        `Another Ferry runs on ${dataDir}: stop it, or set FERRY_DATA_DIR to another directory (and PORT to another port).`,
      );
    }
    await sleep(100);
  }
  const timer = setInterval(() => {
    connection.query('select 1').catch(async () => {
      connection.release();
      const next = await join(users).catch(() => undefined);
      if (next === undefined) return;
      connection = next;
      await tryOwn(connection).catch(() => false);
    });
  }, 1_000);
  timer.unref();
  return () => {
    clearInterval(timer);
    connection.release();
  };
}

/** A host with several addresses fails with one error for each, and no message of its own. */
function reasonOf(error: unknown): string {
  const reason = (error as Error).cause ?? error;
  const reasons = reason instanceof AggregateError ? (reason.errors as Error[]) : [reason as Error];
  return reasons.map(({ message }) => message).join(', ');
}

async function openOwnServer(url: string): Promise<OpenDatabase> {
  const database = connectDatabase({ url });
  try {
    await database.query('select 1');
  } catch (error) {
    await database.close();
    throw new OpenError(`DATABASE_URL: the database does not answer: ${reasonOf(error)}.`);
  }
  const writeDatabase = connectDatabase({ url }, LIMITS.writePathConnectionsMax, WRITE_PATH_PLANNER);
  const close = async (): Promise<void> =>
    void (await Promise.all([database.close(), writeDatabase.close()]));
  return { database, writeDatabase, close };
}

type Joined = { server: EmbeddedServer; address: DatabaseAddress; users: Database; connection: Connection };

/** The embedded server, started or found running, with us among its users. */
async function joinEmbedded({ dataDir, log }: Where, supervise: boolean): Promise<Joined> {
  for (let attempt = 1; ; attempt += 1) {
    const server = await startEmbedded({ dataDir, log, supervise });
    const { socketDir, port, user } = server;
    const address = { socketDir, port, user, database: DATABASE };
    const users = connectDatabase(address, 1);
    try {
      await createDatabase(server);
      return { server, address, users, connection: await join(users) };
    } catch (error) {
      server.release();
      await users.close();
      if (!(error instanceof DatabaseAway) || attempt === JOIN_ATTEMPTS_MAX) throw error;
    }
  }
}

/** `asService` claims the data directory: one service at a time. Tools may work beside it, and beside each other. */
export async function openDatabase(where: Where, asService: boolean): Promise<OpenDatabase> {
  if (where.databaseUrl !== undefined) return openOwnServer(where.databaseUrl);
  const { server, address, users, connection } = await joinEmbedded(where, asService);
  if (asService) {
    try {
      const disown = await own(users, connection, where.dataDir);
      const database = connectDatabase(address);
      const writeDatabase = connectDatabase(address, LIMITS.writePathConnectionsMax, WRITE_PATH_PLANNER);
      return {
        database,
        writeDatabase,
        async close() {
          await Promise.all([database.close(), writeDatabase.close()]);
          disown();
          await users.close();
          await server.stop();
        },
      };
    } catch (error) {
      server.release();
      await users.close();
      throw error;
    }
  }
  const database = connectDatabase(address);
  return {
    database,
    writeDatabase: database,
    async close() {
      await database.close();
      const isLast = await leave(connection);
      // Nobody can join while the lock is held: it goes with the server.
      if (isLast) await server.stop();
      else server.release();
      connection.release();
      await users.close();
    },
  };
}

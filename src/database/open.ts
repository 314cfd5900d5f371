import { setTimeout as sleep } from 'node:timers/promises';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { type Connection, connectDatabase, type Database } from './database.ts';
import { type EmbeddedServer, startEmbedded } from './embedded.ts';

/** The database that the configuration names: the embedded server in the data directory, or your own. */
export type OpenDatabase = {
  readonly database: Database;
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

async function createDatabase(server: EmbeddedServer): Promise<void> {
  const { socketDir, port, user } = server;
  const administration = connectDatabase({ socketDir, port, user, database: 'postgres' }, 1);
  try {
    const found = await administration.query('select from pg_database where datname = $1', [DATABASE]);
    if (found.length === 0) await administration.query(`create database ${DATABASE}`);
  } catch (error) {
    // 42P04: another process was first.
    if ((error as { code?: string }).code !== '42P04') throw error;
  } finally {
    await administration.close();
  }
}

async function tryOwn(connection: Connection): Promise<boolean> {
  const [row] = await connection.query<{ owned: boolean }>(
    `select pg_try_advisory_lock(${ADVISORY_LOCKS.dataDirectory}) as owned`,
  );
  return row!.owned;
}

/**
 * Keeps the claim on the data directory on a connection of its own, and takes it again when the server was restarted.
 */
async function own(owners: Database, dataDir: string): Promise<() => void> {
  let connection = await owners.reserve();
  const deadline = Date.now() + OWNER_WAIT_MS;
  while (!(await tryOwn(connection))) {
    if (Date.now() > deadline) {
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
      const next = await owners.reserve().catch(() => undefined);
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

async function openOwnServer(url: string): Promise<OpenDatabase> {
  const database = connectDatabase({ url });
  try {
    await database.query('select 1');
  } catch (error) {
    await database.close();
    const reason = (error as Error).cause ?? error;
    throw new OpenError(`DATABASE_URL: the database does not answer: ${(reason as Error).message}.`);
  }
  return { database, close: () => database.close() };
}

/** `asService` claims the data directory: one service at a time. Tools may work beside it. */
export async function openDatabase(where: Where, asService: boolean): Promise<OpenDatabase> {
  if (where.databaseUrl !== undefined) return openOwnServer(where.databaseUrl);
  const { dataDir, log } = where;
  const server = await startEmbedded({ dataDir, log, supervise: asService });
  const { socketDir, port, user } = server;
  await createDatabase(server);
  const address = { socketDir, port, user, database: DATABASE };
  const owners = connectDatabase(address, 1);
  if (asService) {
    try {
      const disown = await own(owners, dataDir);
      const database = connectDatabase(address);
      return {
        database,
        async close() {
          await database.close();
          disown();
          await owners.close();
          await server.stop();
        },
      };
    } catch (error) {
      server.release();
      await owners.close();
      throw error;
    }
  }
  const database = connectDatabase(address);
  return {
    database,
    async close() {
      await database.close();
      // A server that we started is stopped again, unless a service has taken it over meanwhile.
      const connection = await owners.reserve();
      const unused = !server.adopted && (await tryOwn(connection));
      connection.release();
      await owners.close();
      if (unused) await server.stop();
      else server.release();
    },
  };
}

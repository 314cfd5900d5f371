import { LIMITS } from '../limits.ts';
import { admitNode, admitTool } from './admission.ts';
import { connectDatabase, connectWritePath, type Database } from './database.ts';
import { migrate } from './migrate.ts';
import {
  connectToPrepare,
  type Log,
  type Reached,
  reachAsService,
  reachAsTool,
  reachOwnServer,
  type Where,
} from './reach.ts';
import {
  checkHistory,
  type Migration,
  MigrationError,
  readApplied,
  readMigrations,
  schemaRefusal,
} from './schema.ts';

/** The database that the configuration names: the embedded server in the data directory, or the operator's own. */
export type OpenDatabase = {
  readonly database: Database;
  /** A pool of its own for the write path. */
  readonly writeDatabase: Database;
  /** A connection of its own for readiness. */
  readonly healthDatabase: Database;
  /** Closes the connections, and stops the embedded server if no other process uses it. */
  close(): Promise<void>;
};

const NO_LOG: Log = { info: () => undefined, warn: () => undefined };

/** Runs `work` on connections that may migrate, and closes them afterwards. */
async function prepare<T>({ address }: Reached, work: (database: Database) => Promise<T>): Promise<T> {
  const database = connectToPrepare(address, 2);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Leaves the server again if `work` fails. */
async function orLeave<T>(reached: Reached, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await reached.leave();
    throw error;
  }
}

/**
 * The database for a node that serves: migrated, with pools that admit every connection. So every connection of the node
 * holds the schema lock.
 */
export async function openForService(
  where: Where,
  {
    log,
    signal,
    migrations = readMigrations(),
  }: { log: Log; signal?: AbortSignal; migrations?: readonly Migration[] },
): Promise<OpenDatabase> {
  const { databaseUrl } = where;
  const reached =
    databaseUrl === undefined
      ? await reachAsService(where, log)
      : await reachOwnServer(databaseUrl, {
          log,
          waitMs: LIMITS.databaseStartWaitMs,
          ...(signal && { signal }),
        });
  return orLeave(reached, async () => {
    const applied = await prepare(reached, (database) =>
      migrate(database, migrations, (message) => log.info(`migration: ${message}`)),
    );
    for (const name of applied) log.info({ migration: name }, 'migration applied');
    return connectNode(reached, migrations, log);
  });
}

function connectNode(reached: Reached, migrations: readonly Migration[], log: Log): OpenDatabase {
  const { address } = reached;
  const admission = admitNode(migrations, log);
  const database = connectDatabase(address, LIMITS.databaseConnectionsMax, { admission });
  const writeDatabase = connectWritePath(address, admission);
  const healthDatabase = connectDatabase(address, LIMITS.healthConnectionsMax, { admission });
  const pools = [database, writeDatabase, healthDatabase];
  admission.watch(pools);
  return {
    database,
    writeDatabase,
    healthDatabase,
    async close() {
      admission.stop();
      await Promise.all(pools.map((pool) => pool.close()));
      await reached.leave();
    },
  };
}

async function reachForTool(where: Where): Promise<Reached> {
  return where.databaseUrl === undefined
    ? reachAsTool(where, NO_LOG)
    : reachOwnServer(where.databaseUrl, { log: NO_LOG, waitMs: 0 });
}

async function requireSchema(
  database: Database,
  migrations: readonly Migration[],
  mayMake: boolean,
): Promise<void> {
  let applied = await readApplied((text) => database.query(text));
  if (mayMake && applied.length === 0) {
    await migrate(database, migrations);
    applied = await readApplied((text) => database.query(text));
  }
  checkHistory(applied, migrations);
  const refusal = schemaRefusal(applied, migrations);
  if (refusal !== undefined) throw new MigrationError(refusal);
}

/**
 * The database for a command. A command never migrates a database that has a schema, because nodes of an older release
 * may be running on it. With `mayMake` it creates the schema of an empty database.
 */
export async function openForTool(where: Where, { mayMake = false } = {}): Promise<OpenDatabase> {
  const migrations = readMigrations();
  const reached = await reachForTool(where);
  return orLeave(reached, async () => {
    await prepare(reached, (database) => requireSchema(database, migrations, mayMake));
    const admission = admitTool(migrations);
    const database = connectDatabase(reached.address, LIMITS.databaseConnectionsMax, { admission });
    return {
      database,
      writeDatabase: database,
      healthDatabase: database,
      async close() {
        await database.close();
        await reached.leave();
      },
    };
  });
}

/** The database for `ferry migrate`. */
export async function withMigratable<T>(where: Where, work: (database: Database) => Promise<T>): Promise<T> {
  const reached = await reachForTool(where);
  try {
    return await prepare(reached, work);
  } finally {
    await reached.leave();
  }
}

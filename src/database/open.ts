import { LIMITS } from '../limits.ts';
import { admitNode, admitTool } from './admission.ts';
import { connectDatabase, connectWritePath, type Database } from './database.ts';
import { type MigrateOptions, migrate } from './migrate.ts';
import {
  connectToPrepare,
  type Log,
  NO_LOG,
  type Reached,
  reachAsOwner,
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

/** Runs `work` on connections that may migrate, and closes them afterwards. */
async function prepare<T>(
  { owner, servingRole }: Reached,
  work: (database: Database, options: MigrateOptions) => Promise<T>,
): Promise<T> {
  const database = connectToPrepare(owner, 2);
  try {
    return await work(database, { servingRole });
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
  const { databaseUrl, migrateDatabaseUrl } = where;
  const patience = { log, waitMs: LIMITS.databaseStartWaitMs, ...(signal && { signal }) };
  const reached =
    databaseUrl === undefined
      ? await reachAsService(where, log)
      : await reachOwnServer(databaseUrl, patience, migrateDatabaseUrl);
  return orLeave(reached, async () => {
    const say = (message: string): void => log.info(`migration: ${message}`);
    const applied = await prepare(reached, (database, options) =>
      migrate(database, migrations, say, options),
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

type ToolOptions = { readonly asOwner: boolean; readonly mayBeStandby: boolean };

async function reachForTool(where: Where, { asOwner, mayBeStandby }: ToolOptions): Promise<Reached> {
  const { databaseUrl, migrateDatabaseUrl } = where;
  if (databaseUrl === undefined) return reachAsTool(where, NO_LOG);
  return asOwner
    ? reachAsOwner({ ...where, databaseUrl })
    : reachOwnServer(databaseUrl, { log: NO_LOG, waitMs: 0, mayBeStandby }, migrateDatabaseUrl);
}

async function requireSchema(
  database: Database,
  migrations: readonly Migration[],
  { mayMake, ...options }: MigrateOptions & { readonly mayMake: boolean },
): Promise<void> {
  let applied = await readApplied((text) => database.query(text));
  if (mayMake && applied.length === 0) {
    await migrate(database, migrations, undefined, options);
    applied = await readApplied((text) => database.query(text));
  }
  checkHistory(applied, migrations);
  const refusal = schemaRefusal(applied, migrations);
  if (refusal !== undefined) throw new MigrationError(refusal);
}

/**
 * The database for a command. A command never migrates a database that has a schema, because nodes of an older release
 * may be running on it. With `mayMake` it creates the schema of an empty database; `asOwner` is for a command that does what
 * the role that serves may not, `mayBeStandby` for one that only reads.
 */
export async function openForTool(
  where: Where,
  { mayMake = false, asOwner = false, mayBeStandby = false } = {},
): Promise<OpenDatabase> {
  const migrations = readMigrations();
  const reached = await reachForTool(where, { asOwner, mayBeStandby });
  return orLeave(reached, async () => {
    await prepare(reached, (database, options) =>
      requireSchema(database, migrations, { ...options, mayMake }),
    );
    const admission = admitTool(migrations, mayBeStandby);
    const address = asOwner ? reached.owner : reached.address;
    const database = connectDatabase(address, LIMITS.databaseConnectionsMax, { admission });
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
export async function withMigratable<T>(
  where: Where,
  work: (database: Database, options: MigrateOptions) => Promise<T>,
): Promise<T> {
  const reached = await reachForTool(where, { asOwner: true, mayBeStandby: false });
  try {
    return await prepare(reached, work);
  } finally {
    await reached.leave();
  }
}

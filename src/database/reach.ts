// Connects to the server: the operator's own, which may not be up yet, or the embedded one, which is started and shared.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { LIMITS } from '../limits.ts';
import { ADVISORY_LOCKS, tryAdvisoryLock } from './advisory-locks.ts';
import {
  ANY_CONNECTION,
  type Connection,
  connectDatabase,
  type Database,
  type DatabaseAddress,
  type Statement,
} from './database.ts';
import { type EmbeddedServer, startEmbedded } from './embedded/server.ts';
import { DatabaseUnavailable } from './failure.ts';
import { PLANNER } from './pool.ts';

export class OpenError extends Error {}

export type Where = {
  readonly databaseUrl: string | undefined;
  /** The same database as the role that owns the tables, if another one serves. */
  readonly migrateDatabaseUrl?: string | undefined;
  readonly dataDir: string;
};

export type Log = Pick<Logger, 'info' | 'warn'>;
export const NO_LOG: Log = { info: () => undefined, warn: () => undefined };

/** The addresses of the database. `leave` ends this process's use of it. */
export type Reached = {
  /** As the role that serves. */
  readonly address: DatabaseAddress;
  /** As the role that owns the tables; the same one unless there are two. */
  readonly owner: DatabaseAddress;
  /** The name of the role that serves, if this process decides it: on the embedded server. */
  readonly servingRole?: string;
  leave(): Promise<void>;
};

const DATABASE = 'ferry';
/** On the embedded server, whose superuser owns the tables. Production has roles of its own (docs/operations.md). */
const EMBEDDED_SERVING_ROLE = 'ferry_serve';
/** A service that was just killed holds the lock until the server notices that its connection is gone. */
const OWNER_WAIT_MS = 3_000;
/** Attempts to join the server when its previous user is stopping it at the same moment. */
const JOIN_ATTEMPTS_MAX = 5;

/** Connections that hold no schema lock, because they do not write to the ledger: they migrate, or hold other locks. */
export const connectToPrepare = (address: DatabaseAddress, connectionsMax: number): Database =>
  connectDatabase(address, connectionsMax, {
    admission: { ...ANY_CONNECTION, applicationName: 'ferry-admin' },
  });

/** Connections of the signer, which only ever reads. It has no tables that a migration could change beneath it. */
export const connectToSign = (address: DatabaseAddress, connectionsMax: number): Database =>
  connectDatabase(address, connectionsMax, {
    planner: `${PLANNER} -c default_transaction_read_only=on`,
    admission: { ...ANY_CONNECTION, applicationName: 'ferry-signer' },
  });

/** Another process may create it first. */
async function unlessThere(creating: Promise<unknown>): Promise<void> {
  await creating.catch((error: unknown) => {
    if (!['42P04', '42710', '23505'].includes((error as { code?: string }).code ?? '')) throw error;
  });
}

async function createDatabase(server: EmbeddedServer): Promise<void> {
  const { socketDir, port, user } = server;
  const administration = connectToPrepare({ socketDir, port, user, database: 'postgres' }, 1);
  try {
    const found = await administration.query('select from pg_database where datname = $1', [DATABASE]);
    if (found.length === 0) await unlessThere(administration.query(`create database ${DATABASE}`));
    const role = await administration.query('select from pg_roles where rolname = $1', [
      EMBEDDED_SERVING_ROLE,
    ]);
    if (role.length === 0)
      await unlessThere(administration.query(`create role ${EMBEDDED_SERVING_ROLE} login`));
  } finally {
    await administration.close();
  }
}

const tryOwn = (connection: Connection): Promise<boolean> =>
  tryAdvisoryLock(connection, ADVISORY_LOCKS.dataDirectory);

/** Registers this process as a user of the server until the connection is released. */
async function join(users: Database): Promise<Connection> {
  const connection = await users.reserve();
  await connection.query(`select pg_advisory_lock_shared(${ADVISORY_LOCKS.embeddedUsers})`);
  return connection;
}

/** True for the last user; no other process can join then. If the server does not answer, it must not be stopped either. */
async function leave(connection: Connection): Promise<boolean> {
  try {
    await connection.query(`select pg_advisory_unlock_shared(${ADVISORY_LOCKS.embeddedUsers})`);
    return (await tryAdvisoryLock(connection, ADVISORY_LOCKS.embeddedUsers)) && (await tryOwn(connection));
  } catch {
    return false;
  }
}

/** Holds the lock on the data directory on a separate connection, and takes it again after a restart of the server. */
async function own(users: Database, first: Connection, dataDir: string): Promise<() => void> {
  let connection = first;
  const deadline = performance.now() + OWNER_WAIT_MS;
  while (!(await tryOwn(connection))) {
    if (performance.now() > deadline) {
      connection.release();
      throw new OpenError(
        `Another Ferry service uses the data directory ${dataDir}: stop it, or set FERRY_DATA_DIR to another directory (and PORT to another port).`,
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

/** For a host with several addresses, the error has no message of its own, but one error per address. */
export function reasonOf(error: unknown): string {
  const reason = (error as Error).cause ?? error;
  const reasons = reason instanceof AggregateError ? (reason.errors as Error[]) : [reason as Error];
  return reasons.map(({ message }) => message).join(', ');
}

/** Wrong credentials, or a database that does not exist: waiting would not help, and would hide the mistake. */
const HOPELESS = /^(28|3D)/;

/** The coordinator of the cluster, if the server is a worker of one. */
const COORDINATOR: Statement = {
  plain: 'select null as coordinator',
  distributed: `select case when l.groupid <> 0 then coalesce(
      (select n.nodename || ':' || n.nodeport from pg_dist_node n where n.groupid = 0 limit 1), '') end as coordinator
    from pg_dist_local_group l`,
};

/** The URL to use: that of the coordinator, if the server is a worker of a cluster. Or why it cannot be used. */
type Seen = { readonly url: string } | { readonly reason: string; readonly isHopeless: boolean };

async function lookAt(url: string, mayBeStandby: boolean): Promise<Seen> {
  const database = connectToPrepare({ url }, 1);
  try {
    const [server] = await database.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
    if (server!.standby && !mayBeStandby)
      return { reason: 'the server is a standby, but Ferry needs the primary', isHopeless: false };
    const [role] = await database.query<{ coordinator: string | null }>(COORDINATOR);
    const { coordinator } = role!;
    if (coordinator === null) return { url };
    if (coordinator === '')
      return {
        reason: 'the server is a worker of a cluster that does not know its coordinator',
        isHopeless: true,
      };
    return { url: onServer(url, coordinator) };
  } catch (error) {
    const { code = '' } = ((error as Error).cause ?? error) as { code?: string };
    return { reason: reasonOf(error), isHopeless: HOPELESS.test(code) };
  } finally {
    await database.close();
  }
}

/** The same database, role and options on another server. */
function onServer(url: string, server: string): string {
  const other = new URL(url);
  for (const name of ['host', 'port']) other.searchParams.delete(name);
  const [, host, port] = /^(.*):(\d+)$/.exec(server)!;
  other.hostname = host!.includes(':') ? `[${host}]` : host!;
  other.port = port!;
  return other.href;
}

type Patience = {
  readonly log: Log;
  readonly waitMs: number;
  readonly signal?: AbortSignal;
  /** For a command that only reads. */
  readonly mayBeStandby?: boolean;
};

/** `ownerUrl` names the role that owns the tables, if another one serves. */
export async function reachOwnServer(url: string, patience: Patience, ownerUrl?: string): Promise<Reached> {
  const address = { url: await untilAvailable('DATABASE_URL', url, patience) };
  const owner =
    ownerUrl === undefined
      ? address
      : { url: await untilAvailable('FERRY_MIGRATE_DATABASE_URL', ownerUrl, patience) };
  return { address, owner, leave: async () => undefined };
}

/** For a command that only the role that owns the tables can run: it need not be able to connect as the other one. */
export async function reachAsOwner(where: Where & { readonly databaseUrl: string }): Promise<Reached> {
  const { databaseUrl, migrateDatabaseUrl: url = databaseUrl } = where;
  const name = url === databaseUrl ? 'DATABASE_URL' : 'FERRY_MIGRATE_DATABASE_URL';
  const address = { url: await untilAvailable(name, url, { log: NO_LOG, waitMs: 0 }) };
  return { address, owner: address, leave: async () => undefined };
}

/** Waits, for up to `waitMs`, until the server answers and is not a standby. Returns its URL: see `Seen`. */
async function untilAvailable(
  name: string,
  given: string,
  { log, waitMs, signal, mayBeStandby = false }: Patience,
): Promise<string> {
  const deadline = performance.now() + waitMs;
  let url = given;
  for (let attempt = 1; ; attempt += 1) {
    const seen = await lookAt(url, mayBeStandby);
    signal?.throwIfAborted();
    if ('url' in seen) {
      if (seen.url === url) {
        if (attempt > 1 && url === given) log.info(`${name}: the database is available`);
        return url;
      }
      if (url !== given)
        throw new OpenError(`${name}: the servers of the cluster do not agree on their coordinator.`);
      ({ url } = seen);
      log.info(`${name}: the server is a worker of a cluster; its coordinator is ${new URL(url).host}`);
      continue;
    }
    if (seen.isHopeless || performance.now() >= deadline)
      throw new OpenError(`${name}: the database is not available: ${seen.reason}.`);
    if (attempt === 1)
      log.warn(
        `${name}: the database is not available: ${seen.reason}. Waiting for up to ${Math.round(waitMs / 1_000)} seconds.`,
      );
    await sleep(LIMITS.databaseStartPollMs, undefined, { ...(signal && { signal }) });
  }
}

type Joined = {
  server: EmbeddedServer;
  reached: Omit<Reached, 'leave'>;
  users: Database;
  connection: Connection;
};

/** Starts the embedded server, or finds it running, and registers this process as one of its users. */
async function joinEmbedded({ dataDir }: Where, log: Log, supervise: boolean): Promise<Joined> {
  for (let attempt = 1; ; attempt += 1) {
    const server = await startEmbedded({ dataDir, log: (message) => log.info(message), supervise });
    const { socketDir, port, user } = server;
    const owner = { socketDir, port, user, database: DATABASE };
    const address = { ...owner, user: EMBEDDED_SERVING_ROLE };
    const users = connectToPrepare(owner, 1);
    try {
      await createDatabase(server);
      const reached = { address, owner, servingRole: EMBEDDED_SERVING_ROLE };
      return { server, reached, users, connection: await join(users) };
    } catch (error) {
      server.release();
      await users.close();
      if (!(error instanceof DatabaseUnavailable) || attempt === JOIN_ATTEMPTS_MAX) throw error;
    }
  }
}

/** For a service. A data directory has only one. */
export async function reachAsService(where: Where, log: Log): Promise<Reached> {
  const { server, reached, users, connection } = await joinEmbedded(where, log, true);
  try {
    const disown = await own(users, connection, where.dataDir);
    return {
      ...reached,
      async leave() {
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

/** For a command. Any number may run at the same time as the service, or without one. */
export async function reachAsTool(where: Where, log: Log): Promise<Reached> {
  const { server, reached, users, connection } = await joinEmbedded(where, log, false);
  return {
    ...reached,
    async leave() {
      const isLast = await leave(connection);
      // The connection still holds the lock, so no process can join while the server stops.
      if (isLast) await server.stop();
      else server.release();
      connection.release();
      await users.close();
    },
  };
}

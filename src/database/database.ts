import type pg from 'pg';
import type { Actor } from '../kernel/actor.ts';
import type { Queue } from '../kernel/queue.ts';
import type { Vault } from '../kernel/vault.ts';
import { LIMITS } from '../limits.ts';
import { takeSnapshots } from './cluster-snapshot.ts';
import { type Connection, connectionOn, type Lender, translate } from './connection.ts';
import { createOwnerCheck } from './own-rows.ts';
import {
  type Admission,
  ANY_CONNECTION,
  clusterOf,
  connectedMs,
  createPool,
  type DatabaseAddress,
  destroy,
  PLANNER,
  type PoolOptions,
  WRITE_PATH_PLANNER,
} from './pool.ts';
import type { CustomerReads, Parameter, Queryable, Statement, Transaction } from './queryable.ts';
import type { Shards } from './shards.ts';

export type { Connection } from './connection.ts';
export { type Admission, ANY_CONNECTION, type DatabaseAddress } from './pool.ts';
export type { CustomerReads, Parameter, Queryable, Statement, Transaction } from './queryable.ts';

export type Database = Queryable & {
  /** Who uses these connections, for changes that are made without a command: a user of the command line. */
  actor?: Actor;
  /** Reads of one customer, which refuse rows of others. For everything that is answered to the customer. */
  of(customerId: string): CustomerReads;
  /** Work that waits for a connection. */
  readonly queue: Queue;
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** A read-only transaction on one snapshot of the whole database, without the time limits of ordinary statements. */
  snapshot<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** `patient` connections have no time limits: migrations, audits. */
  reserve(options?: { patient?: boolean }): Promise<Connection>;
  /** From now on sealed columns can be read and written, on all connections. */
  unlock(vault: Vault): void;
  /** Where profiles and transfers are, on a cluster, as far as a connection was made. */
  shards(): Shards | undefined;
  /** Why the database may not be used now, as a sentence for users; undefined if it may. */
  refusal(): string | undefined;
  /** Closes every connection: idle ones now, the others when they are released, at the latest after a time limit. */
  dropConnections(): void;
  /** Fails unless a connection made after the last drop is admitted. Works while the database may not be used. */
  tryConnection(): Promise<void>;
  close(): Promise<void>;
};

/** The connections of one pool that are in use, and the age from which on connections are trusted. */
type Loans = Lender & {
  readonly queue: Queue;
  connect(): Promise<pg.PoolClient>;
  lend(client: pg.PoolClient, patient: boolean): Connection;
  shards(): Shards | undefined;
  /** Trusts only connections that are made from now on, and closes the others. */
  drop(): void;
  close(): Promise<void>;
};

const NO_CLUSTER = { shards: undefined };

function createLoans(pool: pg.Pool, inSlices: boolean, vault: () => Vault): Loans {
  const inUse = new Set<pg.PoolClient>();
  let asked = 0;
  let shards: Shards | undefined;
  /**
   * If one connection does not answer, the idle ones may be dead as well, and each would be found out only by another
   * timeout. So from then on only new connections are used.
   */
  let trustedFromMs = Number.NEGATIVE_INFINITY;

  const isTrusted = (client: pg.PoolClient): boolean => (connectedMs.get(client) ?? 0) >= trustedFromMs;
  function silent(): void {
    trustedFromMs = performance.now();
  }
  function takeBack(client: pg.PoolClient, how: 'keep' | 'close' | 'destroy'): void {
    if (!inUse.delete(client)) return;
    client.release(how !== 'keep');
    if (how === 'destroy') destroy(client);
  }
  /** Closes connections in use. The driver lets a running statement finish first; a process that stops cannot wait. */
  function cut(isConcerned: (client: pg.PoolClient) => boolean, how: 'close' | 'destroy'): void {
    for (const client of inUse) if (isConcerned(client)) takeBack(client, how);
  }

  const lender: Lender = { takeBack, isTrusted, silent, inSlices, vault };
  return {
    ...lender,
    queue: { waiting: () => pool.waitingCount, entered: () => asked },
    async connect() {
      asked += 1;
      for (;;) {
        const client = await pool.connect().catch((error: unknown) => {
          throw translate(error);
        });
        if (isTrusted(client)) return client;
        client.release(true);
      }
    },
    shards: () => shards,
    lend(client, patient) {
      ({ shards } = clusterOf(client) ?? NO_CLUSTER);
      inUse.add(client);
      return connectionOn(client, patient, lender);
    },
    drop() {
      trustedFromMs = performance.now();
      for (let idle = pool.idleCount; idle > 0; idle -= 1)
        pool.connect().then(
          (client) => client.release(!isTrusted(client)),
          () => undefined,
        );
      setTimeout(cut, LIMITS.databaseCloseMs, (client: pg.PoolClient) => !isTrusted(client), 'close').unref();
    },
    async close() {
      const ended = pool.end();
      // The pool alone would wait indefinitely for a connection that is not released.
      const timer = setTimeout(cut, LIMITS.databaseCloseMs, () => true, 'destroy');
      await ended;
      clearTimeout(timer);
    },
  };
}

async function transactionOn<T>(
  connection: Connection,
  begin: readonly string[],
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
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

const BEGIN_SNAPSHOT = [
  'begin isolation level repeatable read read only',
  'set local statement_timeout = 0',
  'set local enable_seqscan = on',
];

export function connectDatabase(
  address: DatabaseAddress,
  connectionsMax: number = LIMITS.databaseConnectionsMax,
  {
    planner = PLANNER,
    idleInTransactionMs = LIMITS.idleInTransactionTimeoutMs,
    connectTimeoutMs = LIMITS.databaseConnectTimeoutMs,
    admission = ANY_CONNECTION,
    inSlices = true,
  }: PoolOptions & { readonly inSlices?: boolean } = {},
): Database {
  let opened: Vault | undefined;
  function vault(): Vault {
    if (opened === undefined) throw new Error('the database is locked: its data keys were not unwrapped');
    return opened;
  }
  const loans = createLoans(
    createPool(address, connectionsMax, { planner, idleInTransactionMs, connectTimeoutMs, admission }),
    inSlices,
    vault,
  );

  async function reserve({ patient = false } = {}): Promise<Connection> {
    const refusal = admission.refusal();
    if (refusal !== undefined) throw refusal;
    return loans.lend(await loans.connect(), patient);
  }

  async function query<Row extends object>(
    statement: Statement,
    parameters?: readonly Parameter[],
  ): Promise<Row[]> {
    const connection = await reserve();
    try {
      return await connection.query<Row>(statement, parameters);
    } finally {
      connection.release();
    }
  }

  async function transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return transactionOn(await reserve(), ['begin'], work);
  }

  return {
    queue: loans.queue,
    query,
    of(customerId) {
      const own = createOwnerCheck(customerId);
      return {
        customerId,
        vault,
        query: async <Row extends object>(
          statement: Statement,
          parameters?: readonly Parameter[],
        ): Promise<Row[]> => own(await query<Row>(statement, parameters), statement),
      };
    },
    transaction,
    async snapshot(work) {
      const connection = await reserve({ patient: true });
      return transactionOn(connection, BEGIN_SNAPSHOT, async (tx) => {
        await takeSnapshots(connection, { transaction });
        return work(tx);
      });
    },
    reserve,
    vault,
    unlock(given) {
      opened = given;
    },
    shards: loans.shards,
    refusal: () => admission.refusal()?.message,
    dropConnections: () => loans.drop(),
    async tryConnection() {
      (await loans.connect()).release();
    },
    close: () => loans.close(),
  };
}

/** The pool of a write path has its own size, planner settings and idle timeout. */
export function connectWritePath(address: DatabaseAddress, admission: Admission = ANY_CONNECTION): Database {
  return connectDatabase(address, LIMITS.writePathConnectionsMax, {
    planner: WRITE_PATH_PLANNER,
    idleInTransactionMs: LIMITS.batchIdleTimeoutMs,
    // Transfers wait for batches.
    inSlices: false,
    admission,
  });
}

import type { Logger } from 'pino';
import { LIMITS } from '../limits.ts';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import type { Admission, Database } from './database.ts';
import { DatabaseUnavailable, failureOf } from './failure.ts';
import { type Migration, readApplied, schemaRefusal } from './schema.ts';

/**
 * Decides which connections may be used. A new connection takes the schema lock in shared mode and holds it until it
 * closes; then the schema is compared with the migrations that this release knows. So no statement runs while the schema
 * changes, or on a schema that is too new, and no statement pays for the check. A standby is treated as unavailable.
 */

/** The connection works, but the database must not be used. The message is a sentence for users. */
export class NotAdmitted extends DatabaseUnavailable {
  constructor(message: string) {
    super(undefined);
    this.name = 'NotAdmitted';
    this.message = message;
  }
}

type Ask = (text: string) => Promise<object[]>;

const STANDBY = 'The database server is a standby and accepts no writes: connect Ferry to the primary.';
const MIGRATING = 'The database schema is being migrated.';
const sentenceOf = (refusal: string): string => `${refusal[0]!.toUpperCase()}${refusal.slice(1)}.`;

const TAKE_LOCK = `select pg_is_in_recovery() as standby,
  pg_try_advisory_lock_shared(${ADVISORY_LOCKS.schema}) as locked`;

type Refusal = { readonly error: NotAdmitted; readonly concerns: 'server' | 'schema' };

/** Why this connection must not be used. Undefined if it may be used: it holds the lock then. */
async function judge(
  ask: Ask,
  migrations: readonly Migration[],
  mayBeStandby = false,
): Promise<Refusal | undefined> {
  const [taken] = (await ask(TAKE_LOCK)) as { standby: boolean; locked: boolean }[];
  if (taken!.standby && !mayBeStandby) return { error: new NotAdmitted(STANDBY), concerns: 'server' };
  if (!taken!.locked) return { error: new NotAdmitted(MIGRATING), concerns: 'schema' };
  // A separate statement, after the lock: only a snapshot taken now includes what the last migration committed.
  const refusal = schemaRefusal(await readApplied(ask), migrations);
  return refusal === undefined
    ? undefined
    : { error: new NotAdmitted(sentenceOf(refusal)), concerns: 'schema' };
}

/** For commands of the command line, which end when a connection is refused. */
export function admitTool(migrations: readonly Migration[], mayBeStandby: boolean): Admission {
  return {
    applicationName: 'ferry-tool',
    async admit(ask) {
      const refusal = await judge(ask, migrations, mayBeStandby);
      if (refusal !== undefined) throw refusal.error;
    },
    refusal: () => undefined,
  };
}

/** A migration holds the schema lock in exclusive mode, or waits for it. In both cases new connections are refused. */
const IS_MIGRATING = `select exists (
    select from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock'
      and classid = 0 and objid = ${ADVISORY_LOCKS.schema}
      and database = (select oid from pg_database where datname = current_database())) as migrating`;

export type NodeAdmission = Admission & {
  /** Starts to poll for migrations; when one is found, the connections of these pools are closed. */
  watch(pools: readonly Database[]): void;
  stop(): void;
};

/**
 * For a node that serves:
 *
 *            a migration waits, or this release does not support the schema
 *   OPEN  ------------------------------------------------------------------>  CLOSED
 *         <------------------------------------------------------------------
 *                          a new connection is admitted
 *
 * In CLOSED the node closes every connection, so that the migration can continue, and answers 503. If the migration was
 * aborted, the node opens again. If it was applied, the node stays closed until a newer release replaces it.
 */
export function admitNode(
  migrations: readonly Migration[],
  log: Pick<Logger, 'info' | 'warn'>,
  lookMs: number = LIMITS.schemaLookMs,
): NodeAdmission {
  let closedBy: NotAdmitted | undefined;
  let pools: readonly Database[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  function close(error: NotAdmitted): void {
    if (closedBy?.message !== error.message)
      log.warn(`${error.message} This node answers 503 until the database can be used again.`);
    const wasOpen = closedBy === undefined;
    closedBy = error;
    if (wasOpen) for (const pool of pools) pool.dropConnections();
  }

  async function lookWhileOpen(pool: Database): Promise<void> {
    const [row] = await pool.query<{ migrating: boolean }>(IS_MIGRATING);
    if (row!.migrating) return close(new NotAdmitted(MIGRATING));
    const refusal = schemaRefusal(await readApplied((text) => pool.query(text)), migrations);
    if (refusal !== undefined) close(new NotAdmitted(sentenceOf(refusal)));
  }

  async function lookWhileClosed(pool: Database): Promise<void> {
    await pool.tryConnection();
    closedBy = undefined;
    log.info('the database can be used again; this node serves requests');
  }

  function schedule(): void {
    if (isStopped) return;
    timer = setTimeout(() => {
      const pool = pools[0]!;
      const look = closedBy === undefined ? lookWhileOpen(pool) : lookWhileClosed(pool);
      look
        .catch((error: unknown) => {
          // An outage is logged by the requests and workers that it affects. No error may end the polling.
          if (failureOf(error) !== 'unavailable')
            log.warn({ err: error }, 'could not check the schema version');
        })
        .finally(schedule);
    }, lookMs);
    timer.unref();
  }

  return {
    applicationName: 'ferry-node',
    async admit(ask) {
      const refusal = await judge(ask, migrations);
      if (refusal === undefined) return;
      // A later connection may reach the primary, but every connection finds the same schema.
      if (refusal.concerns === 'schema') close(refusal.error);
      throw refusal.error;
    },
    refusal: () => closedBy,
    watch(some) {
      pools = some;
      schedule();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

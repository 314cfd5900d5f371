import type { Logger } from 'pino';
import { LIMITS } from '../limits.ts';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import type { Admission, Database } from './database.ts';
import { DatabaseUnavailable, failureOf } from './failure.ts';
import { type Migration, readApplied, schemaRefusal } from './schema.ts';

/**
 * Which connections may be used. Each new one takes the schema lock shared, for as long as it lives, and is then
 * compared with the schema that this code knows. So no statement ever runs on a schema that could change under it,
 * and none on one that is too new; it costs nothing per statement. A standby is refused like a server that is down.
 */

/** A connection that works, to a database that may not be used. The message is a sentence for users. */
export class NotAdmitted extends DatabaseUnavailable {
  constructor(message: string) {
    super(undefined);
    this.name = 'NotAdmitted';
    this.message = message;
  }
}

type Ask = (text: string) => Promise<object[]>;

const STANDBY = 'The database server is a standby, which cannot be written to: Ferry needs the primary.';
const MIGRATING = 'The database schema is being migrated, and may not be used meanwhile.';
const sentenceOf = (refusal: string): string => `${refusal[0]!.toUpperCase()}${refusal.slice(1)}.`;

const TAKE_LOCK = `select pg_is_in_recovery() as standby,
  pg_try_advisory_lock_shared(${ADVISORY_LOCKS.schema}) as locked`;

type Refusal = { readonly error: NotAdmitted; readonly concerns: 'server' | 'schema' };

/** Why this connection may not be used; undefined when it may, and then it holds the lock. */
async function judge(ask: Ask, migrations: readonly Migration[]): Promise<Refusal | undefined> {
  const [taken] = (await ask(TAKE_LOCK)) as { standby: boolean; locked: boolean }[];
  if (taken!.standby) return { error: new NotAdmitted(STANDBY), concerns: 'server' };
  if (!taken!.locked) return { error: new NotAdmitted(MIGRATING), concerns: 'schema' };
  // A statement of its own, after the lock: only its snapshot has what the last migration committed.
  const refusal = schemaRefusal(await readApplied(ask), migrations);
  return refusal === undefined
    ? undefined
    : { error: new NotAdmitted(sentenceOf(refusal)), concerns: 'schema' };
}

/** For tools: they end when they are refused. */
export function admitTool(migrations: readonly Migration[]): Admission {
  return {
    applicationName: 'ferry-tool',
    async admit(ask) {
      const refusal = await judge(ask, migrations);
      if (refusal !== undefined) throw refusal.error;
    },
    refusal: () => undefined,
  };
}

/** Somebody holds the schema lock alone, or waits for it, which refuses new connections just as well. */
const IS_MIGRATING = `select exists (
    select from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock'
      and classid = 0 and objid = ${ADVISORY_LOCKS.schema}
      and database = (select oid from pg_database where datname = current_database())) as migrating`;

export type NodeAdmission = Admission & {
  /** Looks for migrations from now on, for these pools. */
  watch(pools: readonly Database[]): void;
  stop(): void;
};

/**
 * For a node that serves:
 *
 *            a migration waits, or the schema is not the one that is known
 *   OPEN  ------------------------------------------------------------------>  CLOSED
 *         <------------------------------------------------------------------
 *                          a new connection is admitted
 *
 * Closed, the node gives back every connection, so that the migration can go on, and answers 503. It opens again when
 * the migration was aborted; after one that was applied it stays closed until a newer release replaces it.
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
      log.warn(`${error.message} This node does not use the database until that changes.`);
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
    log.info('the database can be used again: this node serves');
  }

  function schedule(): void {
    if (isStopped) return;
    timer = setTimeout(() => {
      const pool = pools[0]!;
      const look = closedBy === undefined ? lookWhileOpen(pool) : lookWhileClosed(pool);
      look
        .catch((error: unknown) => {
          // An outage is logged by those who work; nothing else may end the looking.
          if (failureOf(error) !== 'unavailable')
            log.warn({ err: error }, 'the schema could not be looked at');
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
      // Another connection may find the primary; no other one would find another schema.
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

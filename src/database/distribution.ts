import { LIMITS } from '../limits.ts';
import type { Connection, Queryable } from './database.ts';

/**
 * Ferry on Citus: the tables that grow with every transfer are distributed over the servers of the cluster, all others stay on the
 * coordinator, which nodes connect to. See docs/scale.md.
 */
type Distributed = {
  readonly name: string;
  readonly column: string;
  /** Tables of one group with equal values of the column are on the same server, and can be joined there. */
  readonly with?: string;
  /** Fewer shards than `citus.shard_count`. */
  readonly isInFew?: boolean;
  /** What can only be guaranteed on one server: uniqueness of other columns, and references. The write path and the audit still check it. */
  readonly givenUp?: readonly string[];
};

const TABLES: readonly Distributed[] = [
  { name: 'balances', column: 'profile_id' },
  { name: 'entries', column: 'owner_id', with: 'balances' },
  {
    name: 'transfers',
    column: 'id',
    with: 'balances',
    givenUp: [
      'alter table arrivals drop constraint arrivals_transfer',
      'alter table suspense_deposits drop constraint suspense_transfer',
      'alter table journal_entries drop constraint journal_transfer',
      'alter table withdrawal_returns drop constraint returns_transfer',
      'alter table guaranteed_fees drop constraint fees_used_by',
      'drop index transfers_fee_used_once',
    ],
  },
  { name: 'packed_rows', column: 'shard_key', with: 'balances' },
  // Of one customer there may be very many: the ref_id spreads them. Every batch has some in every shard, so there are few shards.
  { name: 'idempotency_keys', column: 'ref_id', isInFew: true },
];

/** Two shards for each server that rows can be on, so that there is one to move to each of as many servers again. */
const FEW = `least(current_setting('citus.shard_count')::integer,
  2 * (select count(*)::integer from pg_dist_node where isactive and shouldhaveshards))`;

/** Whether the database is that of a cluster. */
export async function isOnCluster(database: Queryable): Promise<boolean> {
  const [row] = await database.query<{ is: boolean }>({
    plain: 'select false as is',
    distributed: 'select true as is',
  });
  return row!.is;
}

/** The tables that are not distributed yet. */
export async function undistributed(connection: Connection): Promise<readonly Distributed[]> {
  const rows = await connection.query<{ name: string }>(
    'select logicalrelid::text as name from pg_dist_partition',
  );
  const names = new Set(rows.map((row) => row.name));
  return TABLES.filter(({ name }) => !names.has(name));
}

/**
 * A statement that waits for a lock on another server does so with the settings of its session there. Without rights to the database, it
 * waits until the whole statement has taken too long.
 */
export async function limitLockWaits(connection: Queryable): Promise<void> {
  await connection.query(
    `select run_command_on_workers(format(
       'set citus.enable_ddl_propagation = off; alter database %I set lock_timeout = ${LIMITS.lockTimeoutMs}', current_database()))`,
  );
}

/** The function that shards call. If it was made before the database became that of a cluster, it is on one server only. */
export async function distributeFunction(connection: Queryable): Promise<void> {
  await connection.query(`select create_distributed_function('is_running(xid)')`);
}

/** Distributes a table, with its rows; in a transaction. */
export async function distribute(
  connection: Connection,
  { name, column, ...options }: Distributed,
): Promise<void> {
  for (const statement of options.givenUp ?? []) await connection.query(statement);
  const shards = options.isInFew === true ? `, shard_count => ${FEW}` : '';
  // The triggers only refuse changes, or unpack rows for shards of the same server.
  await connection.query('set local citus.enable_unsafe_triggers = on');
  await connection.query(
    `select create_distributed_table('${name}', '${column}', colocate_with => '${options.with ?? 'none'}'${shards})`,
  );
  const [local] = await connection.query<{ bytes: bigint }>(`select pg_relation_size('${name}') as bytes`);
  if (local!.bytes === 0n) return;
  // What was here before is on the servers now; the triggers would refuse to remove this copy.
  await connection.query('set local session_replication_role = replica');
  await connection.query(`select truncate_local_data_after_distributing_table('${name}')`);
}

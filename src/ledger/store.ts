import { appendTo, type BinaryColumn, binaryColumns } from '../database/binary.ts';
import { CLOCK_NS } from '../database/clock.ts';
import { columns } from '../database/columns.ts';
import type { Queryable, Statement, Transaction } from '../database/database.ts';
import { StaleRead } from '../database/failure.ts';
import { packer } from '../database/packed.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Entry } from './book.ts';
import type { IdempotencyKey } from './command.ts';
import { requestDigests } from './digests.ts';
import { joinKey, keyText } from './keys.ts';

/** The SQL of the write path, with that of `balance-rows.ts`. Each function is one set-wise statement, however many commands the batch has. */

/** `request`: the digests of its fields, see `digests.ts`. */
export type UsedKey = { readonly resourceId: string; readonly request: string };

const keyColumns = binaryColumns<IdempotencyKey>([
  ['uuid', (key) => key.customerId],
  ['text', (key) => key.space],
  ['text', (key) => key.refId],
]);

const WANTED_KEYS =
  'select unnest($1::uuid[]) as customer_id, unnest($2::text[]) as space, unnest($3::text[]) as ref_id';
const USED_KEYS: Statement = {
  plain: `select k.customer_id, k.space, k.ref_id, k.resource_id, k.request from
    (${WANTED_KEYS}) as wanted,
    lateral (select * from idempotency_keys
             where customer_id = wanted.customer_id and space = wanted.space and ref_id = wanted.ref_id
             offset 0) as k`,
  distributed: `select k.customer_id, k.space, k.ref_id, k.resource_id, k.request
    from (${WANTED_KEYS}) as wanted
    join idempotency_keys k
      on k.customer_id = wanted.customer_id and k.space = wanted.space and k.ref_id = wanted.ref_id`,
};

/** The keys of a batch that were used before, and what for. Usually none. */
export async function usedKeys(
  tx: Queryable,
  keys: ReadonlyMap<string, IdempotencyKey>,
): Promise<Map<string, UsedKey>> {
  const rows = await tx.query<{
    customer_id: string;
    space: string;
    ref_id: string;
    resource_id: string;
    request: string;
  }>(USED_KEYS, keyColumns([...keys.values()]));
  return new Map(
    rows.map((row) => [
      joinKey(row.customer_id, row.space, row.ref_id),
      { resourceId: row.resource_id, request: row.request },
    ]),
  );
}

const appendKeys = appendTo<IdempotencyKey>('idempotency_keys', [
  { name: 'customer_id', type: 'uuid', value: (key) => key.customerId },
  { name: 'space', type: 'text', value: (key) => key.space },
  { name: 'ref_id', type: 'text', value: (key) => key.refId },
  { name: 'resource_id', type: 'uuid', value: (key) => key.resourceId },
  { name: 'request', type: 'text', value: (key) => key.digests },
]);

const UNIQUE_VIOLATION = '23505';

/**
 * Inserts the keys of the accepted commands. If another transaction is inserting the same key, PostgreSQL waits for it;
 * when that one commits, this batch is retried and finds the key used. Sorted, so that two nodes cannot deadlock.
 */
export function useKeys(tx: Transaction, keys: ReadonlyMap<string, IdempotencyKey>): Promise<void> {
  const sorted = [...keys.values()].sort((a, b) => (keyText(a) < keyText(b) ? -1 : 1));
  const digests = requestDigests(tx.vault());
  for (const key of sorted) digests.of(key);
  return appendKeys(tx, sorted).catch((error: unknown) => {
    throw (error as { code?: unknown }).code === UNIQUE_VIOLATION
      ? new StaleRead('an idempotency key')
      : error;
  });
}

/**
 * Assigns the transaction its id before it reads anything, even if it locks no balance. So a command line tool that has
 * changed a status can wait for all transactions that may have read the old status.
 */
export async function beginToWrite(tx: Transaction): Promise<void> {
  await tx.query('select pg_current_xact_id()');
}

/** The timeline of a primary, as the first eight digits of the names of its WAL files: the texts compare like numbers. */
const TIMELINE = 'left(pg_walfile_name(pg_current_wal_lsn()), 8)';

/** The database's clock, read while the locks are held, and what is needed to query the outcome of the commit. */
export async function clockAndTransaction(
  tx: Transaction,
): Promise<{ nowNs: Instant; xid: string; timeline: string; pid: number }> {
  const [row] = await tx.query<{ now_ns: bigint; xid: string; timeline: string; pid: number }>(
    `select ${CLOCK_NS} as now_ns, pg_current_xact_id()::text as xid, ${TIMELINE} as timeline, pg_backend_pid() as pid`,
  );
  const { now_ns: nowNs, ...rest } = row!;
  return { nowNs, ...rest };
}

/**
 * A WAL record that makes the commit wait for the synchronous standby, as every commit that has written something does. A
 * transaction that has only read, or only has an id, does not wait, and would confirm rows that the standby may never get.
 */
export async function writeMarker(tx: Queryable): Promise<void> {
  await tx.query(`select pg_logical_emit_message(true, 'ferry', '')`);
}

const ENTRY_COLUMNS: readonly BinaryColumn<Entry>[] = [
  { name: 'owner_id', type: 'uuid', value: (entry) => entry.ownerId },
  { name: 'asset', type: 'text', value: (entry) => entry.asset },
  { name: 'account', type: 'text', value: (entry) => entry.account },
  { name: 'at_ns', type: 'bigint', value: (entry) => entry.atNs },
  { name: 'line', type: 'smallint', value: (entry) => entry.line },
  { name: 'posting', type: 'smallint', value: (entry) => entry.posting },
  { name: 'cause_id', type: 'uuid', value: (entry) => entry.causeId },
  { name: 'delta', type: 'numeric', value: (entry) => entry.delta },
  { name: 'balance_after', type: 'numeric', value: (entry) => entry.balanceAfter },
];
export const insertEntries = appendTo('entries', ENTRY_COLUMNS);
export const packEntries = packer('entries', ENTRY_COLUMNS);

/** The batch's changes of the service's own accounts: one row per account, however many entries. */
export function insertSystemDeltas(tx: Transaction, entries: readonly Entry[]): Promise<unknown> | undefined {
  const deltas = new Map<string, { account: string; asset: string; delta: bigint }>();
  for (const { account, asset, delta, balanceAfter } of entries) {
    if (balanceAfter !== null) continue;
    const key = `${account}/${asset}`;
    const sum = deltas.get(key);
    if (sum === undefined) deltas.set(key, { account, asset, delta });
    else sum.delta += delta;
  }
  if (deltas.size === 0) return undefined;
  const rows = [...deltas.values()];
  return tx.query(
    `insert into system_deltas (account, asset, delta)
     select * from unnest($1::text[], $2::text[], $3::numeric[])`,
    columns(rows, { account: 'text', asset: 'text', delta: 'numeric' }),
  );
}

export type TransactionOutcome = 'committed' | 'aborted' | 'in progress' | null;

/** Undefined for a standby: its transactions and locks are not those of the primary. */
export async function timelineOfPrimary(database: Queryable): Promise<string | undefined> {
  const [row] = await database.query<{ timeline: string | null }>(
    `select case when not pg_is_in_recovery() then ${TIMELINE} end as timeline`,
  );
  return row!.timeline ?? undefined;
}

/** The outcome of a transaction whose commit was interrupted. Null if the server no longer knows. */
export async function transactionOutcome(database: Queryable, xid: string): Promise<TransactionOutcome> {
  const [row] = await database.query<{ status: TransactionOutcome }>(
    'select pg_xact_status($1::xid8) as status',
    [xid],
  );
  return row!.status;
}

/**
 * Marks the session with a unique advisory lock, which ends with it. A batch whose connection is lost may still be in
 * transit or in execution; once its session has ended, it cannot be.
 */
export async function markSession(tx: Transaction, mark: bigint): Promise<{ timeline: string; pid: number }> {
  const [row] = await tx.query<{ timeline: string; pid: number }>(
    `select pg_advisory_lock($1), ${TIMELINE} as timeline, pg_backend_pid() as pid`,
    [mark],
  );
  const { timeline, pid } = row!;
  return { timeline, pid };
}

export async function sessionHasEnded(database: Queryable, mark: bigint): Promise<boolean> {
  const [row] = await database.query<{ ended: boolean }>('select pg_try_advisory_xact_lock($1) as ended', [
    mark,
  ]);
  return row!.ended;
}

/**
 * On a cluster, the coordinator decides on a commit, and then tells the other servers. If it ends in between, they keep what they have
 * prepared, invisible, until the coordinator looks after it. The names of what they prepared begin with the session's process id.
 */
const SETTLED: Statement = {
  plain: 'select $1::integer is not null as settled',
  distributed: `select coalesce(bool_and(success and result = '0'), true) as settled
    from run_command_on_workers(format(
      'select count(*) from pg_prepared_xacts where database = current_database() and gid like %L',
      format('citus\\_%s\\_%s\\_%%', (select groupid from pg_dist_local_group), $1::integer)))`,
};

/** Whether all servers know how the transactions of an ended session ended. */
export async function isSettled(database: Queryable, pid: number): Promise<boolean> {
  const [row] = await database.query<{ settled: boolean }>(SETTLED, [pid]);
  return row!.settled;
}

/** A row that only this batch can have written, because after a crash the server may reuse the transaction id. */
export type Evidence = { readonly entry?: Entry | undefined; readonly key?: IdempotencyKey | undefined };

export function evidenceOf(written: {
  readonly book: { readonly entries: readonly Entry[] };
  readonly acceptedKeys: ReadonlyMap<string, IdempotencyKey>;
}): Evidence {
  const [key] = written.acceptedKeys.values();
  return { entry: written.book.entries[0], key };
}

/** Undefined when the batch wrote no such row. */
export async function isStored(database: Queryable, { entry, key }: Evidence): Promise<boolean | undefined> {
  if (entry !== undefined) {
    const rows = await database.query(
      `select from entries where owner_id = $1 and asset = $2 and account = $3 and at_ns = $4 and line = $5 and cause_id = $6`,
      [entry.ownerId, entry.asset, entry.account, entry.atNs, entry.line, entry.causeId],
    );
    return rows.length > 0;
  }
  if (key === undefined) return undefined;
  const rows = await database.query(
    'select from idempotency_keys where customer_id = $1 and space = $2 and ref_id = $3 and resource_id = $4',
    [key.customerId, key.space, key.refId, key.resourceId],
  );
  return rows.length > 0;
}

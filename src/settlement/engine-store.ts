import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import { plainArray } from '../database/array.ts';
import { columns } from '../database/columns.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import type { BalanceKey, Table } from '../ledger/command.ts';
import { AWAITING_PARTY } from './effects.ts';
import { COLUMNS, fromStored, type StoredSettlement } from './store.ts';
import type { Settlement } from './transaction.ts';

/** How the engine finds its work. These queries lock no rows and decide nothing: commands decide, on locked rows. */

/** The time of the statement. Unlike clock_timestamp() it is the same for all rows, so an index can be used. */
const NOW_NS = '(extract(epoch from statement_timestamp()) * 1000000)::bigint * 1000';

export async function tryLead(connection: Queryable): Promise<boolean> {
  const [row] = await connection.query<{ leads: boolean }>('select pg_try_advisory_lock($1) as leads', [
    ADVISORY_LOCKS.settlementLead,
  ]);
  return row!.leads;
}

export async function resign(connection: Queryable): Promise<void> {
  await connection.query('select pg_advisory_unlock($1)', [ADVISORY_LOCKS.settlementLead]);
}

/** Throws when the database is unavailable. */
export async function checkReachable(database: Queryable): Promise<void> {
  await database.query('select 1');
}

export type Due = {
  readonly nowNs: Instant;
  readonly nextStartNs: Instant | null;
  readonly nextEndNs: Instant | null;
};

/** When the next window opens and when the next one ends, by the database's clock: the first entries of two indexes. */
export async function nextDue(database: Queryable): Promise<Due> {
  const [row] = await database.query<Due>(
    `select ${NOW_NS} as "nowNs",
       (select min(window_start_ns) from settlement_transactions
        where status = 'AFFIRMED' and secondary_status is null) as "nextStartNs",
       (select min(window_end_ns) from settlement_transactions
        where status in ('PENDING', 'AFFIRMED')) as "nextEndNs"`,
  );
  return row!;
}

/** Affirmed, in their window, and not tried yet. */
export async function openedSettlements(
  database: Queryable,
  without: readonly string[],
  max: number,
): Promise<Settlement[]> {
  const rows = await database.query<StoredSettlement>(
    `select ${COLUMNS} from settlement_transactions t
     where t.status = 'AFFIRMED' and t.secondary_status is null
       and t.window_start_ns <= ${NOW_NS} and t.window_end_ns > ${NOW_NS} and t.id <> all ($1::uuid[])
     order by t.window_start_ns, t.created_at_ns, t.id limit $2`,
    [plainArray(without), max],
  );
  return rows.map(fromStored);
}

export async function endedSettlements(
  database: Queryable,
  without: readonly string[],
  max: number,
): Promise<Settlement[]> {
  const rows = await database.query<StoredSettlement>(
    `select ${COLUMNS} from settlement_transactions t
     where t.status in ('PENDING', 'AFFIRMED') and t.window_end_ns <= ${NOW_NS} and t.id <> all ($1::uuid[])
     order by t.window_end_ns limit $2`,
    [plainArray(without), max],
  );
  return rows.map(fromStored);
}

/** Those of these ids that are affirmed and in their window. */
export async function openSettlements(database: Queryable, ids: readonly string[]): Promise<Settlement[]> {
  const rows = await database.query<StoredSettlement>(
    `select ${COLUMNS} from settlement_transactions t
     where t.id = any ($1::uuid[]) and t.status = 'AFFIRMED'
       and t.window_start_ns <= ${NOW_NS} and t.window_end_ns > ${NOW_NS}`,
    [plainArray(ids)],
  );
  return rows.map(fromStored);
}

/** Excludes transactions that wait for a disabled profile: funds do not help them, and enabling the profile retries them. */
const NOT_FOR_A_PARTY = `s.secondary_status ->> 'name' <> '${AWAITING_PARTY.name}'`;

/** Transactions of one party that wait for funds, oldest first; two index scans that end with the page. */
const waitingOf = (profile: string, condition: string, max: string): string =>
  ['source', 'target']
    .map(
      (side) => `(select s.* from settlement_transactions s
        where s.${side}_profile_id = ${profile} and s.status = 'AFFIRMED' and s.secondary_status is not null
          and ${NOT_FOR_A_PARTY} and s.window_end_ns > ${NOW_NS} and ${condition}
        order by s.created_at_ns, s.id limit ${max})`,
    )
    .join(' union all ');

/** Transactions of these profiles that wait for funds: for each profile the oldest as source and the oldest as target. */
export async function waitingAround(
  database: Queryable,
  profileIds: readonly string[],
  maxPerSide: number,
): Promise<Settlement[]> {
  const rows = await database.query<StoredSettlement>(
    `select ${COLUMNS} from unnest($1::uuid[]) as party (id)
     cross join lateral (${waitingOf('party.id', 'true', '$2')}) t`,
    [plainArray(profileIds), maxPerSide],
  );
  return rows.map(fromStored);
}

/**
 * A profile is enabled again: the transactions that wait for it become due, so that the leader finds them even if the
 * process that enabled it dies. Called in the transaction that changes the status, after the change: a transaction that
 * begins to wait locks the status until that is committed, so none is missed. Locks are taken in the order of every batch:
 * the profile first, then transactions by id.
 */
export async function retryWaitingForParty(tx: Transaction, profileId: string): Promise<void> {
  const waits = `status = 'AFFIRMED' and secondary_status is not null and secondary_status ->> 'name' = $2`;
  await tx.query(
    `with found as materialized (
       select id from settlement_transactions where source_profile_id = $1 and ${waits}
       union all select id from settlement_transactions where target_profile_id = $1 and ${waits}),
     locked as materialized (
       select id from settlement_transactions where id = any (array (select id from found)) and ${waits}
       order by id for update)
     update settlement_transactions t set secondary_status = null from locked where t.id = locked.id`,
    [profileId, AWAITING_PARTY.name],
  );
}

/**
 * A freeze was lifted: transactions that wait for a party become due, unless a party is still frozen. If one is disabled, the
 * engine makes the transaction wait again. Returns how many.
 */
export async function resumeFrozen(database: Queryable, max: number): Promise<number> {
  const isFrozen = (profile: string): string =>
    `(select f.id from frozen_profiles f where f.id = ${profile}) is not null`;
  const rows = await database.query(
    `update settlement_transactions set secondary_status = null
     where id = any (array (
       select t.id from settlement_transactions t
       where t.status = 'AFFIRMED' and t.secondary_status is not null and t.secondary_status ->> 'name' = $1
         and not (${isFrozen('t.source_profile_id')} or ${isFrozen('t.target_profile_id')})
       order by t.id limit $2 for update))
     returning id`,
    [AWAITING_PARTY.name, max],
  );
  return rows.length;
}

const FIRST = { createdAtNs: 0n, id: '00000000-0000-0000-0000-000000000000' };

/** Transactions of the profile that wait for funds and move the asset: a page, oldest first, after the one given. */
export async function waitingFor(
  database: Queryable,
  { profileId, asset }: BalanceKey,
  after: Pick<Settlement, 'createdAtNs' | 'id'> | undefined,
  max: number,
): Promise<Settlement[]> {
  const { createdAtNs, id } = after ?? FIRST;
  const condition = `(s.created_at_ns, s.id) > ($3::bigint, $4::uuid)
    and s.legs @> jsonb_build_array(jsonb_build_object('asset', $2::text))`;
  const rows = await database.query<StoredSettlement>(
    `select ${COLUMNS} from (${waitingOf('$1::uuid', condition, '$5')}) t
     order by t.created_at_ns, t.id limit $5`,
    [profileId, asset, createdAtNs, id, max],
  );
  return rows.map(fromStored);
}

export type Wait = BalanceKey & { readonly seenUnits: bigint; readonly untilNs: Instant };

/** If several transactions wait for a balance, the smallest amount that any of them was tried with is stored. */
async function upsertWaits(database: Queryable, waits: readonly Wait[], condition: string): Promise<void> {
  await database.query(
    `insert into settlement_waits as w (profile_id, asset, seen_units, until_ns)
     select * from unnest($1::uuid[], $2::text[], $3::numeric[], $4::bigint[]) as row (profile_id, asset, units, until)
     order by profile_id, asset
     on conflict (profile_id, asset) do update
     set seen_units = least(w.seen_units, excluded.seen_units), until_ns = greatest(w.until_ns, excluded.until_ns),
         version = w.version + 1
     where ${condition}`,
    columns(waits, { profileId: 'uuid', asset: 'text', seenUnits: 'numeric', untilNs: 'bigint' }),
  );
}

/** Written by the command that makes transactions wait. */
export const waitTable: Table<Wait> = {
  name: 'settlement_waits',
  write: (tx, waits) => upsertWaits(tx, waits, 'true'),
};

/** For transactions that waited before and were tried again: only a smaller amount changes anything. */
export async function lowerWaits(database: Queryable, waits: readonly Wait[]): Promise<void> {
  if (waits.length > 0) await upsertWaits(database, waits, 'w.seen_units > excluded.seen_units');
}

export type Grown = BalanceKey & { readonly available: bigint; readonly version: bigint };

const GROWN = 'g.profile_id as "profileId", g.asset, g.version, g.available';

/** Those of these balances that transactions wait for, and that have grown since the transactions were last tried. */
export async function grownOf(database: Queryable, keys: readonly BalanceKey[]): Promise<Grown[]> {
  return database.query<Grown>(
    `select ${GROWN} from unnest($1::uuid[], $2::text[]) as changed (profile_id, asset)
     join settlement_grown g using (profile_id, asset)`,
    columns(keys, { profileId: 'uuid', asset: 'text' }),
  );
}

/** The same for all balances: growth on other nodes, and growth that was missed. */
export async function grownAnywhere(database: Queryable, max: number): Promise<Grown[]> {
  return database.query<Grown>(`select ${GROWN} from settlement_grown g limit $1`, [max]);
}

/**
 * All transactions that wait for the balance were tried with the amount that was read; if there are none, the row is
 * deleted. If one began to wait in the meantime, or was tried with less, the version differs: the row stays, and all are
 * tried again.
 */
export async function waitSeen(database: Queryable, grown: Grown, anyWaits: boolean): Promise<void> {
  const { profileId, asset, version, available } = grown;
  const row = 'profile_id = $1 and asset = $2 and version = $3';
  if (anyWaits) {
    await database.query(`update settlement_waits set seen_units = $4::numeric where ${row}`, [
      profileId,
      asset,
      version,
      available,
    ]);
  } else {
    await database.query(`delete from settlement_waits where ${row}`, [profileId, asset, version]);
  }
}

/** Balances that transactions wait for. Deletes those whose last window has ended. */
export async function watchedBalances(database: Queryable, max: number): Promise<BalanceKey[]> {
  await database.query(`delete from settlement_waits where until_ns <= ${NOW_NS}`);
  return database.query<BalanceKey>(
    'select profile_id as "profileId", asset from settlement_waits limit $1',
    [max],
  );
}

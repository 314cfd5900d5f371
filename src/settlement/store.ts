import { plainArray } from '../database/array.ts';
import { columns } from '../database/columns.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { change } from '../events/outbox.ts';
import type { Table } from '../ledger/command.ts';
import { presentSettlement } from './present.ts';
import type { Leg, Settlement } from './transaction.ts';

/** The columns of `settlement_transactions t`. */
export const COLUMNS = `t.id, t.customer_id as "customerId", t.target_customer_id as "targetCustomerId", t.ref_id as "refId",
  t.source_profile_id as "sourceProfileId", t.target_profile_id as "targetProfileId",
  t.window_start_ns as "windowStartNs", t.window_end_ns as "windowEndNs", t.status,
  t.secondary_status as "secondaryStatus", t.legs, t.created_at_ns as "createdAtNs", t.updated_at_ns as "updatedAtNs"`;

/** Units are strings inside JSON, whose numbers cannot hold integers of that size. */
type StoredLeg = Omit<Leg, 'units'> & { readonly units: string };
export type StoredSettlement = Omit<Settlement, 'legs'> & { readonly legs: readonly StoredLeg[] };

export function fromStored(row: StoredSettlement): Settlement {
  return { ...row, legs: row.legs.map((leg) => ({ ...leg, units: BigInt(leg.units) })) };
}

function legsText({ legs }: Settlement): string {
  return JSON.stringify(
    legs.map(({ id, direction, asset, units }) => ({ id, direction, asset, units: units.toString() })),
  );
}

/** New transactions. */
export const newSettlements: Table<Settlement> = {
  name: 'settlement_transactions',
  write: (tx, rows) =>
    tx.query(
      `insert into settlement_transactions (id, customer_id, target_customer_id, ref_id, source_profile_id,
         target_profile_id, window_start_ns, window_end_ns, status, secondary_status, legs, created_at_ns, updated_at_ns)
       select id, customer_id, target_customer_id, ref_id, source_profile_id, target_profile_id,
              window_start_ns, window_end_ns, status, secondary_status::jsonb, legs::jsonb, created_at_ns, updated_at_ns
       from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::uuid[], $7::bigint[], $8::bigint[],
                   $9::text[], $10::text[], $11::text[], $12::bigint[], $13::bigint[])
            as row (id, customer_id, target_customer_id, ref_id, source_profile_id, target_profile_id,
                    window_start_ns, window_end_ns, status, secondary_status, legs, created_at_ns, updated_at_ns)`,
      columns(rows, {
        id: 'uuid',
        customerId: 'uuid',
        targetCustomerId: 'uuid',
        refId: 'text',
        sourceProfileId: 'uuid',
        targetProfileId: 'uuid',
        windowStartNs: 'bigint',
        windowEndNs: 'bigint',
        status: 'text',
        secondaryStatus: 'json',
        legs: legsText,
        createdAtNs: 'bigint',
        updatedAtNs: 'bigint',
      }),
    ),
};

/**
 * Locks the rows until commit, and reads them once the lock is held. Every batch takes its locks in one order
 * (src/ledger/write-path/batch.ts): balances, then rows of other tables by table name, each in sorted order; it writes its
 * idempotency keys only when it holds all of them. A batch that waits here holds only locks that come earlier in that
 * order, so no two batches can wait for each other, and the moves of one transaction happen one after another on all nodes.
 */
async function lockSettlements(tx: Transaction, ids: readonly string[]): Promise<Map<string, Settlement>> {
  const rows = await tx.query<StoredSettlement>(
    `select ${COLUMNS} from settlement_transactions t where t.id = any ($1::uuid[]) order by t.id for update`,
    [plainArray(ids)],
  );
  return new Map(rows.map((row) => [row.id, fromStored(row)]));
}

/** Transactions that change state. A command that names one in its reads holds its lock until commit. */
export const settlements: Table<Settlement> = {
  name: 'settlement_transactions',
  // A change of its status has an event for each party; what it waits for is only in the log.
  record: (row, { assets, recordedAt: at }) =>
    [...new Set([row.customerId, row.targetCustomerId])].map((customerId) =>
      change({
        action: 'settlement.updated',
        customerId,
        resourceId: row.id,
        at,
        after: presentSettlement(row, assets),
      }),
    ),
  load: lockSettlements,
  write: (tx, rows) =>
    tx.query(
      `update settlement_transactions t
       set status = changed.status, secondary_status = changed.secondary_status::jsonb,
           updated_at_ns = changed.updated_at_ns
       from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[])
            as changed (id, status, secondary_status, updated_at_ns)
       where t.id = changed.id`,
      columns(rows, { id: 'uuid', status: 'text', secondaryStatus: 'json', updatedAtNs: 'bigint' }),
    ),
};

/** A transaction in which the customer is source or target; undefined for any other one. */
export async function findSettlement(
  database: Queryable,
  customerId: string,
  id: string,
): Promise<Settlement | undefined> {
  const [row] = await database.query<StoredSettlement>(
    `select ${COLUMNS} from settlement_transactions t
     where t.id = $1 and (t.customer_id = $2 or t.target_customer_id = $2)`,
    [id, customerId],
  );
  return row && fromStored(row);
}

/** A transaction of any customers, for operators. */
export async function settlementById(database: Queryable, id: string): Promise<Settlement | undefined> {
  const [row] = await database.query<StoredSettlement>(
    `select ${COLUMNS} from settlement_transactions t where t.id = $1`,
    [id],
  );
  return row && fromStored(row);
}

/** Those of these ids that are settlement transactions, of any customers. */
export async function settlementsAmong(database: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    'select id from settlement_transactions where id = any ($1::uuid[])',
    [plainArray(ids)],
  );
  return rows.map(({ id }) => id);
}

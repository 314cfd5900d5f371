import type { Queryable } from '../database/database.ts';
import { LIMITS } from '../limits.ts';
import { COLUMNS, fromStored, type StoredSettlement } from './store.ts';
import type { Settlement } from './transaction.ts';

/** Open transactions of all customers, those whose window ends first; the index `settlement_ends` has them in this order. */
export async function openSettlements(database: Queryable): Promise<Settlement[]> {
  const rows = await database.query<StoredSettlement>(
    `select ${COLUMNS} from settlement_transactions t where t.status in ('PENDING', 'AFFIRMED')
     order by t.window_end_ns limit ${LIMITS.settlementNetworkMax}`,
  );
  return rows.map(fromStored);
}

/** Those of the latest transactions that settled. Ids begin with the time, so the primary key has the latest at its end. */
export async function latestSettled(database: Queryable): Promise<Settlement[]> {
  const rows = await database.query<StoredSettlement>(
    `select ${COLUMNS}
     from (select * from settlement_transactions order by id desc limit ${LIMITS.settlementNetworkMax}) t
     where t.status = 'SETTLED'`,
  );
  return rows.map(fromStored);
}

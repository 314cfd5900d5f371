import { CLOCK_NS } from '../database/clock.ts';
import type { Database, Queryable } from '../database/database.ts';

/** Withdrawals of frozen parties. */

const IS_FROZEN = '(select f.id from frozen_transfers f where f.id = w.transfer_id) is not null';

/**
 * Withdrawals of frozen parties whose rail may be called at this moment: the intent is committed, and its lease runs. A worker
 * whose lease has expired calls no rail.
 */
export async function submissionsUnderWay(database: Queryable): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::integer as count from withdrawal_work w
     where w.state = 'SUBMITTING' and w.due_at_ns > ${CLOCK_NS} and ${IS_FROZEN}`,
  );
  return row!.count;
}

/** Makes withdrawals due that waited for a freeze, and belong to no frozen party. Returns how many. */
export async function resumeFrozen(database: Database, max: number): Promise<number> {
  const rows = await database.query(
    `update withdrawal_work set due_at_ns = least(due_at_ns, ${CLOCK_NS}), frozen = false, version = version + 1
     where transfer_id = any (array (
       select w.transfer_id from withdrawal_work w where w.frozen and not (${IS_FROZEN})
       order by w.transfer_id limit $1 for update))
     returning transfer_id`,
    [max],
  );
  return rows.length;
}

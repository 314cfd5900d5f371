import type { Queryable } from '../database/database.ts';

/** Transactions with payments of frozen parties that are signed, and that the keeper has not handed to a node yet. */
export async function signedUnderWay(database: Queryable): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::integer as count from chain_assignments a
     where a.state = 'ASSIGNED'
       and exists (select from chain_versions v where v.assignment_id = a.id and v.bytes <> '')
       and not exists (select from chain_versions v where v.assignment_id = a.id and v.broadcast_at_ns is not null)
       and exists (select from chain_assignment_payments p where p.assignment_id = a.id
                   and (select f.id from frozen_transfers f where f.id = p.key) is not null)`,
  );
  return row!.count;
}

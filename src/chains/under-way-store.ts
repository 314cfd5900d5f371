import { CLOCK_NS } from '../database/clock.ts';
import type { Queryable } from '../database/database.ts';

const HAS_FROZEN = `exists (select from chain_assignment_payments p where p.assignment_id = a.id
                   and (select f.id from frozen_transfers f where f.id = p.key) is not null)`;

/**
 * Transactions with payments of frozen parties that the keeper may still hand to a node: the signer is asked for the first
 * signature, which began before the freeze, or it is committed, and the broadcast has not ended.
 */
export async function signedUnderWay(database: Queryable): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::integer as count from chain_assignments a
     where a.state = 'ASSIGNED'
       and not exists (select from chain_versions v where v.assignment_id = a.id and v.broadcast_at_ns is not null)
       and (exists (select from chain_versions v where v.assignment_id = a.id and v.bytes <> '')
            or exists (select from chain_leases l where l.network = a.network and l.task = 'signing ' || a.lane
                       and l.leased_until_ns > ${CLOCK_NS}))
       and ${HAS_FROZEN}`,
  );
  return row!.count;
}

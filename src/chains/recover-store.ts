import { plainArray } from '../database/array.ts';
import { CLOCK_NS } from '../database/clock.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import type { AssignmentState } from './ending-store.ts';

/** What the database knows about assignments and payments that the signer has signed. */

export type KnownAssignment = {
  readonly id: string;
  readonly state: AssignmentState;
  readonly hashes: readonly string[];
};

export async function databaseTime(tx: Queryable): Promise<Instant> {
  const [row] = await tx.query<{ now: Instant }>(`select ${CLOCK_NS} as now`);
  return row!.now;
}

/** Locks them, so that a keeper cannot end one in between. */
export async function knownAssignments(
  tx: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KnownAssignment>> {
  const rows = await tx.query<KnownAssignment>(
    `select a.id, a.state,
            coalesce((select jsonb_agg(v.hash) from chain_versions v where v.assignment_id = a.id), '[]') as hashes
     from chain_assignments a where a.id = any ($1::uuid[]) order by a.id for update of a`,
    [plainArray(ids)],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** An assignment that was taken for dead, because the database had lost the version that was executed. */
export async function reviveAssignment(tx: Transaction, id: string, now: Instant): Promise<void> {
  await tx.query(`update chain_assignments set state = 'ASSIGNED', updated_at_ns = $2 where id = $1`, [
    id,
    now,
  ]);
  await tx.query('update chain_assignment_payments set active = true where assignment_id = $1', [id]);
}

/** Gives up the slot of an assignment that the database cannot follow. */
export async function giveUpSlot(
  tx: Transaction,
  given: { readonly id: string; readonly network: string; readonly lane: string; readonly slot: string },
  feeAsset: string,
  now: Instant,
): Promise<void> {
  const { id, network, lane, slot } = given;
  await tx.query(
    `insert into chain_assignments (id, network, lane, purpose, slot, details, state, fee_asset, assigned_at_ns, updated_at_ns)
     values ($1, $2, $3, 'CANCELLATION', $4, '{}', 'SUPERSEDED', $5, $6, $6)`,
    [id, network, lane, slot, feeAsset, now],
  );
}

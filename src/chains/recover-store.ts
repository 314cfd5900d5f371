import { plainArray } from '../database/array.ts';
import { CLOCK_NS } from '../database/clock.ts';
import { columns } from '../database/columns.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import type { NewAssignment } from './assignment-store.ts';
import { releaseCoins } from './coin-store.ts';
import type { Draft } from './driver.ts';
import { type AssignmentState, lockAssignments } from './ending-store.ts';

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
  await lockAssignments(tx, ids);
  const rows = await tx.query<KnownAssignment>(
    `select a.id, a.state,
            coalesce((select jsonb_agg(v.hash) from chain_versions v where v.assignment_id = a.id), '[]') as hashes
     from chain_assignments a where a.id = any ($1::uuid[])`,
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

/** Open assignments without a signature, here or in the log, that have one of these payments; with all of their payments. */
export function unsignedRivals(
  tx: Transaction,
  network: string,
  keys: readonly string[],
  signedIds: readonly string[],
): Promise<{ readonly id: string; readonly keys: readonly string[] }[]> {
  return tx.query(
    `select a.id, (select jsonb_agg(p.key) from chain_assignment_payments p where p.assignment_id = a.id) as keys
     from chain_assignments a
     where a.network = $1 and a.state = 'ASSIGNED' and a.id <> all ($3::uuid[])
       and not exists (select from chain_versions v where v.assignment_id = a.id)
       and exists (select from chain_assignment_payments p
                   where p.assignment_id = a.id and p.active and p.key = any ($2::uuid[]))
     order by a.id for update of a`,
    [network, plainArray(keys), plainArray(signedIds)],
  );
}

/** It can never be executed. Its slot is released only if nothing was signed for it. */
export async function supersede(
  tx: Transaction,
  id: string,
  now: Instant,
  { releasesSlot = false }: { readonly releasesSlot?: boolean } = {},
): Promise<void> {
  await tx.query(
    `update chain_assignments set state = 'SUPERSEDED', slot = case when $3 then null else slot end, updated_at_ns = $2
     where id = $1`,
    [id, now, releasesSlot],
  );
  await tx.query('update chain_assignment_payments set active = false where assignment_id = $1', [id]);
  await releaseCoins(tx, id);
}

/** An assignment that the chain has proven dead, with its payments, which are not touched. It is open until `supersede`. */
export async function insertDead(
  tx: Transaction,
  { id, network, lane, feeAsset }: NewAssignment,
  { purpose, slot, details, payments }: Draft,
  now: Instant,
): Promise<void> {
  // The slot may have gone to another assignment meanwhile.
  await tx.query(
    `insert into chain_assignments (id, network, lane, purpose, slot, details, fee_asset, assigned_at_ns, updated_at_ns)
     select $1, $2, $3, $4, (select $5::text where not exists (
         select from chain_assignments where network = $2 and lane = $3 and slot = $5 and purpose <> 'CANCELLATION')),
       $6::jsonb, $7, $8, $8`,
    [id, network, lane, purpose, slot, JSON.stringify(details), feeAsset, now],
  );
  const rows = payments.map((payment, position) => ({ id, position, ...payment }));
  await tx.query(
    `insert into chain_assignment_payments (assignment_id, position, key, asset, units, address, active)
     select *, false from unnest($1::uuid[], $2::integer[], $3::uuid[], $4::text[], $5::numeric[], $6::text[])`,
    columns(rows, {
      id: 'uuid',
      position: 'integer',
      key: 'uuid',
      asset: 'text',
      units: 'numeric',
      address: 'text',
    }),
  );
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

import { CLOCK_NS } from '../database/clock.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import { endPayments, releasePayments } from '../rails/payment-store.ts';
import { insertAssignment, type NewAssignment } from './assignment-store.ts';
import { returnCoins } from './coin-store.ts';
import type { Purpose } from './driver.ts';
import { keysOf } from './ending-store.ts';

/** Assignments that were never signed, and payments that wait, so that an operator can end them. */

export type Candidate = {
  readonly id: string;
  readonly lane: string;
  readonly purpose: Purpose;
  readonly slot: string | null;
  readonly details: Record<string, string>;
  readonly state: string;
  readonly versions: number;
};

/** The last assignment of the payment that can be executed, or the one with that id. Locks it in a transaction. */
export async function findCandidate(
  database: Queryable,
  network: string,
  which: { readonly key: string } | { readonly id: string },
  lock: 'lock' | 'read',
): Promise<Candidate | undefined> {
  const where =
    'id' in which
      ? 'a.id = $2'
      : 'a.id = (select p.assignment_id from chain_assignment_payments p where p.key = $2 and p.active)';
  const text = `select a.id, a.lane, a.purpose, a.slot, a.details, a.state,
                       (select count(*) from chain_versions v where v.assignment_id = a.id)::integer as versions
                from chain_assignments a where a.network = $1 and ${where}`;
  const values = [network, 'id' in which ? which.id : which.key];
  if (lock === 'read') return (await database.query<Candidate>(text, values))[0];
  const [locked] = await database.query<Candidate>(`${text} for update of a`, values);
  // Read again: while it waited for the lock, a version may have been added, or the payment may have got another assignment.
  const [row] = await database.query<Candidate>(text, values);
  return row?.id === locked?.id ? row : findCandidate(database, network, which, lock);
}

/** Nothing of it was signed, and nothing will be: its coins are free, the payments fail or wait again. */
export async function dropAssignment(
  tx: Transaction,
  { id, purpose }: Candidate,
  failed: readonly string[],
  detail: string,
  now: Instant,
): Promise<void> {
  const keys = await keysOf(tx, id);
  await tx.query(`update chain_assignments set state = 'SUPERSEDED', updated_at_ns = $2 where id = $1`, [
    id,
    now,
  ]);
  // A deposit address has no cancellations: its next sweep has the same nonce.
  if (purpose === 'SWEEP') await tx.query('update chain_assignments set slot = null where id = $1', [id]);
  await tx.query('update chain_assignment_payments set active = false where assignment_id = $1', [id]);
  await returnCoins(tx, id);
  await releasePayments(tx, keys, now);
  await failPayments(tx, failed, detail, now);
}

export async function failPayments(
  tx: Transaction,
  keys: readonly string[],
  detail: string,
  now: Instant,
): Promise<void> {
  if (keys.length > 0) await endPayments(tx, keys, { state: 'FAILED', detail }, now);
}

/** Uses up the slot that the assignment has left. */
export async function insertCancellation(
  tx: Transaction,
  created: NewAssignment,
  { slot, details }: Candidate,
  now: Instant,
): Promise<void> {
  const draft = { purpose: 'CANCELLATION', slot, details, coins: [], payments: [] } as const;
  await insertAssignment(tx, created, draft, now);
}

/** No keeper of the network commits anything until the end of the transaction. */
export async function lockLeases(tx: Transaction, network: string): Promise<void> {
  await tx.query('select from chain_leases where network = $1 order by task for update', [network]);
}

/** The lane goes on: what the signer refused is gone. */
export async function endRefusal(tx: Transaction, network: string, task: string): Promise<void> {
  await tx.query(`delete from chain_stops where network = $1 and task = $2 and code = 'signer-refused'`, [
    network,
    task,
  ]);
}

export async function timeOf(tx: Queryable): Promise<Instant> {
  const [row] = await tx.query<{ now: Instant }>(`select ${CLOCK_NS} as now`);
  return row!.now;
}

import { CLOCK_NS } from '../database/clock.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import type { Task } from './lease-store.ts';

/** The lease of a lane on calling the signer for a first signature, by the database's clock. A freeze waits for it. */

const signingOf = ({ network, task, holder }: Task): [string, string, string] => [
  network,
  `signing ${task}`,
  holder,
];

export async function beginSigning(tx: Transaction, task: Task, leaseMs: number): Promise<void> {
  await tx.query(
    `insert into chain_leases (network, task, holder, leased_until_ns) values ($1, $2, $3, ${CLOCK_NS} + $4::bigint)
     on conflict (network, task) do update set holder = excluded.holder, leased_until_ns = excluded.leased_until_ns`,
    [...signingOf(task), BigInt(leaseMs) * NS_PER_MS],
  );
}

/** False if it had ended. */
export async function endSigning(tx: Queryable, task: Task): Promise<boolean> {
  const rows = await tx.query(
    `with held as (select leased_until_ns from chain_leases where network = $1 and task = $2 and holder = $3 for update)
     update chain_leases l set leased_until_ns = 0 from held
     where l.network = $1 and l.task = $2 and held.leased_until_ns > ${CLOCK_NS} returning l.task`,
    signingOf(task),
  );
  return rows.length > 0;
}

/** Nothing was signed for the slot, and nothing after it was assigned: the next assignment gets it. */
export async function freeSlot(tx: Transaction, id: string): Promise<void> {
  await tx.query('update chain_assignments set slot = null where id = $1', [id]);
}

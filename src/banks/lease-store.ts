import { CLOCK_NS } from '../database/clock.ts';
import type { Database, Transaction } from '../database/database.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import type { RailName } from '../rails/rail.ts';

/**
 * Which node exchanges files with the bank, by the database's clock. Everything that it commits locks the lease first: a node
 * that was suspended, and has lost the lease meanwhile, commits nothing.
 */
export type Lease = {
  readonly rail: RailName;
  /** Of this node, new with each start. */
  readonly holder: string;
};

/** A node that holds the lease no longer must stop its turn. */
export class LeaseLost extends Error {}

/** Takes the lease if it is free, or prolongs it. A lease that ends later than any could was made by a wrong clock. */
export async function holdLease(
  database: Database,
  { rail, holder }: Lease,
  leaseMs: number,
): Promise<boolean> {
  const rows = await database.query(
    `insert into bank_leases as l (rail, holder, leased_until_ns) values ($1, $2, ${CLOCK_NS} + $3::bigint)
     on conflict (rail) do update set holder = excluded.holder, leased_until_ns = excluded.leased_until_ns
     where l.holder = excluded.holder or l.leased_until_ns < ${CLOCK_NS} or l.leased_until_ns > ${CLOCK_NS} + 2 * $3::bigint
     returning holder`,
    [rail, holder, BigInt(leaseMs) * NS_PER_MS],
  );
  return rows.length > 0;
}

export async function endLease(database: Database, { rail, holder }: Lease): Promise<void> {
  await database.query('update bank_leases set leased_until_ns = 0 where rail = $1 and holder = $2', [
    rail,
    holder,
  ]);
}

/** A transaction that commits only while the node holds the lease. */
export function fenced<Value>(
  database: Database,
  { rail, holder }: Lease,
  work: (tx: Transaction) => Promise<Value>,
): Promise<Value> {
  return database.transaction(async (tx) => {
    const [row] = await tx.query<{ holder: string }>(
      'select holder from bank_leases where rail = $1 for update',
      [rail],
    );
    if (row?.holder !== holder) throw new LeaseLost(`another node exchanges the files of the ${rail} rail`);
    return work(tx);
  });
}

import { CLOCK_NS } from '../database/clock.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import type { WaitCode } from './driver.ts';

/**
 * Which node works on a lane, or scans a network, by the database's clock. Everything that the holder commits locks its lease
 * first: a node that was suspended, and has lost the lease meanwhile, commits nothing.
 */
export type Task = {
  readonly network: string;
  /** The lane, or 'scanner'. */
  readonly task: string;
  /** Of this node, new with each start. */
  readonly holder: string;
};

/** A node that holds the lease no longer must stop its turn. */
export class LeaseLost extends Error {}

/** Takes the lease if it is free, or prolongs it. A lease that ends later than any could was made by a wrong clock. */
export async function holdLease(
  database: Database,
  { network, task, holder }: Task,
  leaseMs: number,
): Promise<boolean> {
  const leaseNs = BigInt(leaseMs) * NS_PER_MS;
  const rows = await database.query(
    `insert into chain_leases as l (network, task, holder, leased_until_ns)
     values ($1, $2, $3, ${CLOCK_NS} + $4::bigint)
     on conflict (network, task) do update set holder = excluded.holder, leased_until_ns = excluded.leased_until_ns
     where l.holder = excluded.holder or l.leased_until_ns < ${CLOCK_NS} or l.leased_until_ns > ${CLOCK_NS} + 2 * $4::bigint
     returning holder`,
    [network, task, holder, leaseNs],
  );
  return rows.length > 0;
}

/** Prolongs it. False if another node has taken it, even if that one does not hold it any longer. */
export async function renewLease(
  database: Database,
  { network, task, holder }: Task,
  leaseMs: number,
): Promise<boolean> {
  const rows = await database.query(
    `update chain_leases set leased_until_ns = ${CLOCK_NS} + $4::bigint
     where network = $1 and task = $2 and holder = $3 returning holder`,
    [network, task, holder, BigInt(leaseMs) * NS_PER_MS],
  );
  return rows.length > 0;
}

export async function endLease(database: Database, { network, task, holder }: Task): Promise<void> {
  await database.query(
    'update chain_leases set leased_until_ns = 0 where network = $1 and task = $2 and holder = $3',
    [network, task, holder],
  );
}

/** A transaction that commits only while the node holds the lease. */
export function fenced<Value>(
  database: Database,
  { network, task, holder }: Task,
  work: (tx: Transaction) => Promise<Value>,
): Promise<Value> {
  return database.transaction(async (tx) => {
    const [row] = await tx.query<{ holder: string }>(
      'select holder from chain_leases where network = $1 and task = $2 for update',
      [network, task],
    );
    if (row?.holder !== holder) throw new LeaseLost(`another node works on ${network} ${task}`);
    return work(tx);
  });
}

export type StopCode = WaitCode | 'signer-refused' | 'over-velocity' | 'signer-unreachable' | 'deep-reorg';

export type Stop = {
  readonly network: string;
  readonly task: string;
  readonly code: StopCode;
  readonly reason: string;
  readonly sinceNs: bigint;
  readonly needsOperator: boolean;
};

const COLUMNS = `network, task, code, reason, since_ns as "sinceNs", needs_operator as "needsOperator"`;

export async function findStop(
  database: Database,
  { network, task }: Omit<Task, 'holder'>,
): Promise<Stop | undefined> {
  const [row] = await database.query<Stop>(
    `select ${COLUMNS} from chain_stops where network = $1 and task = $2`,
    [network, task],
  );
  return row;
}

/** Of one network, or of all. */
export function listStops(database: Database, network?: string): Promise<Stop[]> {
  return database.query<Stop>(
    `select ${COLUMNS} from chain_stops where $1::text is null or network = $1 order by network, task`,
    [network ?? null],
  );
}

/** One that needs an operator stays until one has resolved it. */
export async function recordStop(
  tx: Queryable,
  { network, task }: Omit<Task, 'holder'>,
  { code, reason, needsOperator }: Pick<Stop, 'code' | 'reason' | 'needsOperator'>,
): Promise<void> {
  await tx.query(
    `insert into chain_stops as s (network, task, code, reason, since_ns, needs_operator)
     values ($1, $2, $3, $4, ${CLOCK_NS}, $5)
     on conflict (network, task) do update
     set code = excluded.code, reason = excluded.reason, needs_operator = excluded.needs_operator,
         since_ns = case when s.code = excluded.code then s.since_ns else excluded.since_ns end
     where not s.needs_operator and (s.code, s.reason) is distinct from (excluded.code, excluded.reason)`,
    [network, task, code, reason, needsOperator],
  );
}

/** The reason has gone. */
export async function endStop(database: Database, { network, task }: Omit<Task, 'holder'>): Promise<void> {
  await database.query('delete from chain_stops where network = $1 and task = $2 and not needs_operator', [
    network,
    task,
  ]);
}

/** An operator has resolved what needed one. */
export async function resolveStop(tx: Queryable, { network, task }: Omit<Task, 'holder'>): Promise<boolean> {
  const rows = await tx.query(
    'delete from chain_stops where network = $1 and task = $2 and needs_operator returning task',
    [network, task],
  );
  return rows.length > 0;
}

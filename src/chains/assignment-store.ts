import { plainArray, textArray } from '../database/array.ts';
import { CLOCK_NS } from '../database/clock.ts';
import { columns } from '../database/columns.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { type Instant, NS_PER_MS } from '../kernel/instant.ts';
import { takePayments } from '../rails/payment-store.ts';
import { insertChange, removeChange } from './coin-store.ts';
import type {
  Assignment,
  Coin,
  Draft,
  LaneState,
  Outgoing,
  Purpose,
  Signed,
  Unsigned,
  Version,
} from './driver.ts';
import { lastBlock } from './scan-store.ts';
import { COLD_PATH } from './treasury-driver.ts';

/** Assignments, their payments and their versions. */

export type Open = { readonly assignment: Assignment; readonly versions: readonly Version[] };

type AssignmentRow = {
  readonly id: string;
  readonly lane: string;
  readonly purpose: Purpose;
  readonly slot: string | null;
  readonly details: Record<string, string>;
  readonly assignedAtNs: Instant;
};
/** A move has no key. */
type PaymentRow = Outgoing & { readonly assignmentId: string };
type CoinRow = Coin & { readonly assignmentId: string };
type VersionRow = Omit<Version, 'signedAtMs'> & {
  readonly assignmentId: string;
  readonly signedAtNs: Instant;
};

const msOf = (ns: Instant): number => Number(ns / NS_PER_MS);

const COIN = `tx_hash as "txHash", output::integer as output, units, address, path, height::integer as height`;

function byAssignment<Row extends { readonly assignmentId: string }>(rows: readonly Row[]) {
  const grouped = Map.groupBy(rows, ({ assignmentId }) => assignmentId);
  return (id: string): readonly Row[] => grouped.get(id) ?? [];
}

const ASSIGNMENT = `id, lane, purpose, slot, details, assigned_at_ns as "assignedAtNs"`;

/** Assignments of the lane that are not final, oldest first. */
export async function openAssignments(
  database: Queryable,
  network: string,
  lane: string,
  max: number,
): Promise<Open[]> {
  const rows = await database.query<AssignmentRow>(
    `select ${ASSIGNMENT} from chain_assignments
     where network = $1 and lane = $2 and state = 'ASSIGNED' order by assigned_at_ns, id limit $3`,
    [network, lane, max],
  );
  return withParts(database, rows);
}

/** Sweeps that deposit addresses send themselves and that are not final, oldest first. */
export async function openSweeps(
  database: Queryable,
  network: string,
  lanes: readonly string[],
  max: number,
): Promise<Open[]> {
  const rows = await database.query<AssignmentRow>(
    `select ${ASSIGNMENT} from chain_assignments
     where network = $1 and purpose = 'SWEEP' and lane <> all ($2::text[]) and state = 'ASSIGNED'
     order by assigned_at_ns, id limit $3`,
    [network, textArray(lanes), max],
  );
  return withParts(database, rows);
}

async function withParts(database: Queryable, rows: readonly AssignmentRow[]): Promise<Open[]> {
  if (rows.length === 0) return [];
  const ids = [plainArray(rows.map(({ id }) => id))];
  const [payments, coins, versions] = await Promise.all([
    database.query<PaymentRow>(
      `select assignment_id as "assignmentId", key::text as key, asset, units, address, position from chain_assignment_payments
       where assignment_id = any ($1::uuid[])
       union all
       select assignment_id, '', asset, units, address, position from chain_moves where assignment_id = any ($1::uuid[])
       order by "assignmentId", position`,
      ids,
    ),
    database.query<CoinRow>(
      `select assignment_id as "assignmentId", ${COIN} from chain_coins
       where assignment_id = any ($1::uuid[]) order by tx_hash, output`,
      ids,
    ),
    database.query<VersionRow>(
      `select assignment_id as "assignmentId", number, hash, bytes, fee_units_max as "feeUnitsMax", fee_rate as "feeRate",
              signed_at_ns as "signedAtNs"
       from chain_versions where assignment_id = any ($1::uuid[]) order by assignment_id, number`,
      ids,
    ),
  ]);
  const [paymentsOf, coinsOf, versionsOf] = [
    byAssignment(payments),
    byAssignment(coins),
    byAssignment(versions),
  ];
  return rows.map(({ assignedAtNs, ...row }) => ({
    assignment: {
      ...row,
      assignedAtMs: msOf(assignedAtNs),
      payments: paymentsOf(row.id),
      coins: coinsOf(row.id),
    },
    versions: versionsOf(row.id).map(({ signedAtNs, ...version }) => ({
      ...version,
      signedAtMs: msOf(signedAtNs),
    })),
  }));
}

/** The slot after the last one that was ever assigned, on networks whose slots are numbers. */
export async function nextSlot(
  database: Queryable,
  network: string,
  lane: string,
): Promise<bigint | undefined> {
  const [row] = await database.query<{ last: bigint | null }>(
    `select max(slot::numeric) as last from chain_assignments
     where network = $1 and lane = $2 and slot ~ '^[0-9]+$'`,
    [network, lane],
  );
  return row?.last === null || row === undefined ? undefined : row.last + 1n;
}

export function freeCoins(database: Queryable, network: string, max: number): Promise<Coin[]> {
  return database.query<Coin>(
    `select ${COIN} from chain_coins where network = $1 and assignment_id is null and spent_height is null and path <> $3
     order by height, tx_hash, output limit $2`,
    [network, max, COLD_PATH],
  );
}

export async function laneState(
  database: Database,
  network: string,
  lane: string,
  open: readonly Open[],
  coinsMax: number,
): Promise<LaneState> {
  // The block before the coins: what is scanned meanwhile is then missing from the block, not from the coins.
  const scanned = await lastBlock(database, network);
  const [slot, coins] = await Promise.all([
    nextSlot(database, network, lane),
    freeCoins(database, network, coinsMax),
  ]);
  return { lane, open: open.map(({ assignment }) => assignment), nextSlot: slot, coins, scanned };
}

export type NewAssignment = {
  readonly id: string;
  readonly network: string;
  readonly lane: string;
  readonly feeAsset: string;
};

/** The slot is unique, a payment has one active assignment, and a coin one: whatever else happens, the database refuses a second. */
export async function insertAssignment(
  tx: Transaction,
  { id, network, lane, feeAsset }: NewAssignment,
  { purpose, slot, details, payments, coins }: Draft,
  now: Instant,
): Promise<void> {
  await tx.query(
    `insert into chain_assignments (id, network, lane, purpose, slot, details, fee_asset, assigned_at_ns, updated_at_ns)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $8)`,
    [id, network, lane, purpose, slot, JSON.stringify(details), feeAsset, now],
  );
  const rows = payments.map((payment, position) => ({ id, position, ...payment }));
  if (rows.length > 0 && purpose !== 'PAYMENTS')
    await tx.query(
      `insert into chain_moves (assignment_id, position, asset, units, address)
       select * from unnest($1::uuid[], $2::integer[], $3::text[], $4::numeric[], $5::text[])`,
      columns(rows, { id: 'uuid', position: 'integer', asset: 'text', units: 'numeric', address: 'text' }),
    );
  else if (rows.length > 0) {
    await tx.query(
      `insert into chain_assignment_payments (assignment_id, position, key, asset, units, address)
       select * from unnest($1::uuid[], $2::integer[], $3::uuid[], $4::text[], $5::numeric[], $6::text[])`,
      columns(rows, {
        id: 'uuid',
        position: 'integer',
        key: 'uuid',
        asset: 'text',
        units: 'numeric',
        address: 'text',
      }),
    );
    await takePayments(
      tx,
      payments.map(({ key }) => key),
      now,
    );
  }
  if (coins.length === 0) return;
  const taken = await tx.query(
    `update chain_coins c set assignment_id = $1
     from unnest($3::text[], $4::bigint[]) as wanted (tx_hash, output)
     where c.network = $2 and c.tx_hash = wanted.tx_hash and c.output = wanted.output and c.assignment_id is null and c.spent_height is null
     returning c.output`,
    [id, network, ...columns(coins, { txHash: 'text', output: 'bigint' })],
  );
  if (taken.length < coins.length)
    throw new Error(`of ${coins.length} coins, only ${taken.length} were free`);
}

export async function insertVersion(
  tx: Transaction,
  assignmentId: string,
  number: number,
  { hash, bytes, feeUnitsMax, feeRate, change }: Signed & Omit<Unsigned, 'bytes'>,
  now: Instant,
): Promise<void> {
  const rows = await tx.query<{ network: string }>(
    `insert into chain_versions (assignment_id, number, hash, bytes, fee_units_max, fee_rate, signed_at_ns)
     select id, $2, $3, $4, $5, $6, $7 from chain_assignments where id = $1 and state = 'ASSIGNED'
     returning (select network from chain_assignments where id = $1)`,
    [assignmentId, number, hash, bytes, feeUnitsMax, feeRate, now],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`assignment ${assignmentId} has ended, and gets no further version`);
  if (number > 1) await removeChange(tx, assignmentId);
  if (change !== undefined) await insertChange(tx, row.network, change);
}

/** Whether the transaction is one of ours. */
export async function isOwnVersion(database: Queryable, network: string, hash: string): Promise<boolean> {
  const rows = await database.query(
    `select from chain_versions v join chain_assignments a on a.id = v.assignment_id
     where v.hash = $2 and a.network = $1 limit 1`,
    [network, hash],
  );
  return rows.length > 0;
}

export async function isOpen(database: Queryable, id: string): Promise<boolean> {
  const rows = await database.query(`select from chain_assignments where id = $1 and state = 'ASSIGNED'`, [
    id,
  ]);
  return rows.length > 0;
}

/** Those of the transactions that move value between our own wallets: nobody is credited for gas. */
export async function movesAmong(
  database: Queryable,
  network: string,
  transactions: readonly { readonly txHash: string }[],
): Promise<ReadonlySet<string>> {
  if (transactions.length === 0) return new Set();
  const rows = await database.query<{ hash: string }>(
    `select v.hash from chain_versions v join chain_assignments a on a.id = v.assignment_id
     where v.hash = any ($2::text[]) and a.network = $1 and a.purpose <> 'PAYMENTS'`,
    [network, textArray(transactions.map(({ txHash }) => txHash))],
  );
  return new Set(rows.map(({ hash }) => hash));
}

export async function noteBroadcast(
  database: Queryable,
  assignmentId: string,
  number: number,
  now: Instant,
): Promise<void> {
  await database.query(
    'update chain_versions set broadcast_at_ns = $3 where assignment_id = $1 and number = $2',
    [assignmentId, number, now],
  );
}

/** Gives up the slots before that one: transactions that are none of ours have used them. */
export async function skipSlots(tx: Transaction, created: NewAssignment, next: bigint): Promise<void> {
  const { id, network, lane, feeAsset } = created;
  await tx.query(
    `insert into chain_assignments (id, network, lane, purpose, slot, details, state, fee_asset, assigned_at_ns, updated_at_ns)
     values ($1, $2, $3, 'CANCELLATION', $4, '{}', 'SUPERSEDED', $5, ${CLOCK_NS}, ${CLOCK_NS})`,
    [id, network, lane, (next - 1n).toString(), feeAsset],
  );
}

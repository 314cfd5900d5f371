import { plainArray } from '../database/array.ts';
import { CLOCK_NS } from '../database/clock.ts';
import { columns } from '../database/columns.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Table } from '../ledger/command.ts';
import { COLD_PATH, type RefillSeen } from './treasury-driver.ts';

/** What the cold wallet has paid to the hot one: seen in a block, booked once the block is final. */

/** Of its coins, what is in no output was the fee. Zero if the transaction spends coins of others, too. */
async function feeOf(tx: Queryable, network: string, { fee }: RefillSeen): Promise<bigint> {
  if ('units' in fee) return fee.units;
  const rows = fee.coins.map((outpoint) => {
    const [txHash, output] = outpoint.split(':') as [string, string];
    return { txHash, output: Number(output) };
  });
  const [found] = await tx.query<{ count: number; units: bigint }>(
    `select count(*)::integer as count, coalesce(sum(c.units), 0) as units
     from chain_coins c join unnest($3::text[], $4::bigint[]) as s (tx_hash, output) using (tx_hash, output)
     where c.network = $1 and c.path = $2`,
    [network, COLD_PATH, ...columns(rows, { txHash: 'text', output: 'bigint' })],
  );
  return found!.count === fee.coins.length ? found!.units - fee.paidUnits : 0n;
}

export async function insertRefills(
  tx: Transaction,
  network: string,
  feeAsset: string,
  { height, refills: seen }: { readonly height: number; readonly refills: readonly RefillSeen[] },
): Promise<void> {
  for (const refill of seen) {
    const { txHash, place, asset, units } = refill;
    const feeUnits = await feeOf(tx, network, refill);
    await tx.query(
      `insert into chain_refills as r
         (id, network, tx_hash, place, asset, units, fee_asset, fee_units, height, seen_at_ns, updated_at_ns)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, ${CLOCK_NS}, ${CLOCK_NS})
       on conflict (network, tx_hash, place) do update
       set height = excluded.height, fee_units = excluded.fee_units, updated_at_ns = excluded.updated_at_ns
       where not r.booked`,
      [newId(), network, txHash, place, asset, units, feeAsset, feeUnits, height],
    );
  }
}

/** The block is on the chain no longer. */
export async function removeRefills(tx: Transaction, network: string, height: number): Promise<void> {
  await tx.query('delete from chain_refills where network = $1 and height = $2 and not booked', [
    network,
    height,
  ]);
}

export async function dueRefills(
  database: Queryable,
  network: string,
  height: number,
  max: number,
): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    'select id from chain_refills where network = $1 and height <= $2 and not booked order by height, id limit $3',
    [network, height, max],
  );
  return rows.map(({ id }) => id);
}

export type Refill = {
  readonly id: string;
  readonly network: string;
  readonly asset: string;
  readonly units: bigint;
  readonly feeAsset: string;
  readonly feeUnits: bigint;
  readonly booked: boolean;
  readonly updatedAtNs?: Instant;
};

/** Loading locks the rows until commit. */
export const refills: Table<Refill> = {
  name: 'chain_refills',
  async load(tx, ids) {
    const rows = await tx.query<Refill>(
      `select id, network, asset, units, fee_asset as "feeAsset", fee_units as "feeUnits", booked
       from chain_refills where id = any ($1::uuid[]) order by id for update`,
      [plainArray(ids)],
    );
    return new Map(rows.map((row) => [row.id, row]));
  },
  async write(tx, rows) {
    for (const { id, booked, updatedAtNs } of rows)
      await tx.query('update chain_refills set booked = $2, updated_at_ns = $3 where id = $1', [
        id,
        booked,
        updatedAtNs!,
      ]);
  },
};

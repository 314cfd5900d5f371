import { columns } from '../database/columns.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import type { Block, BlockId, Received } from './driver.ts';

/** What was scanned: the last blocks, and what they paid to our addresses. */

export async function lastBlock(database: Queryable, network: string): Promise<BlockId | undefined> {
  const [row] = await database.query<BlockId>(
    'select height::integer as height, hash from chain_blocks where network = $1 order by height desc limit 1',
    [network],
  );
  return row;
}

export async function blockAt(
  database: Queryable,
  network: string,
  height: number,
): Promise<BlockId | undefined> {
  const [row] = await database.query<BlockId>(
    'select height::integer as height, hash from chain_blocks where network = $1 and height = $2',
    [network, height],
  );
  return row;
}

export async function insertBlock(
  tx: Transaction,
  network: string,
  { height, hash }: BlockId,
): Promise<void> {
  await tx.query('insert into chain_blocks (network, height, hash) values ($1, $2, $3)', [
    network,
    height,
    hash,
  ]);
}

/** Where deposits are told apart within their transaction: see `ArrivedDeposit`. */
export const placeOf = ({
  output,
  address,
  asset,
}: Pick<Received, 'output' | 'address' | 'asset'>): string =>
  output === null ? `${address} ${asset}` : String(output);

/** A deposit that was reported stays as it is, wherever it appears again after a reorganisation. */
export async function insertDeposits(
  tx: Transaction,
  network: string,
  { height, received }: Block,
): Promise<void> {
  if (received.length === 0) return;
  const rows = received.map((one) => ({ ...one, network, height, place: placeOf(one) }));
  await tx.query(
    `insert into chain_deposits as d (network, tx_hash, place, output, address, asset, units, height)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::numeric[], $8::bigint[])
     on conflict (network, tx_hash, place) do update
     set output = excluded.output, address = excluded.address, asset = excluded.asset, units = excluded.units,
         height = excluded.height
     where not d.reported`,
    columns(rows, {
      network: 'text',
      txHash: 'text',
      place: 'text',
      output: 'bigint',
      address: 'text',
      asset: 'text',
      units: 'numeric',
      height: 'bigint',
    }),
  );
}

/** Forgets the last block. Returns how many of its deposits were reported: more than none means that the policy was too weak. */
export async function removeBlock(tx: Transaction, network: string, { height }: BlockId): Promise<number> {
  await tx.query('delete from chain_blocks where network = $1 and height = $2', [network, height]);
  await tx.query('delete from chain_deposits where network = $1 and height = $2 and not reported', [
    network,
    height,
  ]);
  const [row] = await tx.query<{ count: number }>(
    'select count(*)::integer as count from chain_deposits where network = $1 and height = $2',
    [network, height],
  );
  return row!.count;
}

export type DueDeposit = Received & { readonly height: number };

const DEPOSIT = `tx_hash as "txHash", output::float8 as output, address, asset, units, height::integer as height`;

/** Everything that the block paid to our addresses. */
export function depositsAt(database: Queryable, network: string, height: number): Promise<DueDeposit[]> {
  return database.query<DueDeposit>(
    `select ${DEPOSIT} from chain_deposits where network = $1 and height = $2`,
    [network, height],
  );
}

/** Deposits up to that height that were not reported, by height. */
export function dueDeposits(
  database: Queryable,
  network: string,
  height: number,
  max: number,
): Promise<DueDeposit[]> {
  return database.query<DueDeposit>(
    `select ${DEPOSIT} from chain_deposits where network = $1 and height <= $2 and not reported order by height, tx_hash, place limit $3`,
    [network, height, max],
  );
}

export async function markReported(
  tx: Transaction,
  network: string,
  deposits: readonly DueDeposit[],
): Promise<void> {
  const rows = deposits.map((one) => ({ txHash: one.txHash, place: placeOf(one) }));
  await tx.query(
    `update chain_deposits d set reported = true from unnest($2::text[], $3::text[]) as due (tx_hash, place)
     where d.network = $1 and d.tx_hash = due.tx_hash and d.place = due.place`,
    [network, ...columns(rows, { txHash: 'text', place: 'text' })],
  );
}

export async function forgetBlocks(database: Queryable, network: string, below: number): Promise<void> {
  await database.query('delete from chain_blocks where network = $1 and height < $2', [network, below]);
}

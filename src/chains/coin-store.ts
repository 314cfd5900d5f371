import { columns } from '../database/columns.ts';
import type { Transaction } from '../database/database.ts';
import type { Block } from './driver.ts';

/** Outputs that the wallet can spend, as blocks create and spend them (UTXO networks). */

/** A coin that appears again after a reorganisation keeps the assignment that spends it. */
export async function insertCoins(
  tx: Transaction,
  network: string,
  { height, received, spent }: Block,
  pathOf: (address: string) => string | undefined,
): Promise<void> {
  const coins = received.flatMap((one) => {
    const path = pathOf(one.address);
    return path === undefined || one.output === null
      ? []
      : [{ ...one, output: one.output, network, height, path }];
  });
  if (coins.length > 0)
    await tx.query(
      `insert into chain_coins (network, tx_hash, output, units, address, path, height)
       select * from unnest($1::text[], $2::text[], $3::bigint[], $4::numeric[], $5::text[], $6::text[], $7::bigint[])
       on conflict (network, tx_hash, output) do update set height = excluded.height`,
      columns(coins, {
        network: 'text',
        txHash: 'text',
        output: 'bigint',
        units: 'numeric',
        address: 'text',
        path: 'text',
        height: 'bigint',
      }),
    );
  if (spent.length === 0) return;
  const outpoints = spent.map((outpoint) => {
    const [txHash = '', output = ''] = outpoint.split(':');
    return { txHash, output: Number(output) };
  });
  await tx.query(
    `update chain_coins c set spent_height = $2
     from unnest($3::text[], $4::bigint[]) as gone (tx_hash, output)
     where c.network = $1 and c.tx_hash = gone.tx_hash and c.output = gone.output`,
    [network, height, ...columns(outpoints, { txHash: 'text', output: 'bigint' })],
  );
}

/** The block is on the chain no longer: what it created is in no block, and what it spent is not spent. */
export async function removeCoins(tx: Transaction, network: string, height: number): Promise<void> {
  await tx.query('update chain_coins set spent_height = null where network = $1 and spent_height = $2', [
    network,
    height,
  ]);
  await tx.query('delete from chain_coins where network = $1 and height = $2 and assignment_id is null', [
    network,
    height,
  ]);
  await tx.query('update chain_coins set height = null where network = $1 and height = $2', [
    network,
    height,
  ]);
}

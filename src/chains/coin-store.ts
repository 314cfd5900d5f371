import { columns } from '../database/columns.ts';
import type { Transaction } from '../database/database.ts';
import type { Block, Coin } from './driver.ts';

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

/** The change of a version, before it is in a block. */
export async function insertChange(tx: Transaction, network: string, change: Coin): Promise<void> {
  await tx.query(
    `insert into chain_coins (network, tx_hash, output, units, address, path) values ($1, $2, $3, $4, $5, $6)
     on conflict (network, tx_hash, output) do nothing`,
    [network, change.txHash, change.output, change.units, change.address, change.path],
  );
}

/**
 * The change of an assignment's versions that is in no block, unless another assignment spends it. Only one version is ever mined,
 * and its change is found in its block.
 */
export async function removeChange(tx: Transaction, assignmentId: string): Promise<void> {
  await tx.query(
    `delete from chain_coins c using chain_assignments a join chain_versions v on v.assignment_id = a.id
     where a.id = $1 and c.network = a.network and c.tx_hash = v.hash and c.height is null and c.assignment_id is null`,
    [assignmentId],
  );
}

/** The assignment can never be executed: its coins are free again. One that is in no block may never be in one. */
export async function releaseCoins(tx: Transaction, assignmentId: string): Promise<void> {
  await tx.query('delete from chain_coins where assignment_id = $1 and height is null', [assignmentId]);
  await tx.query('update chain_coins set assignment_id = null where assignment_id = $1', [assignmentId]);
}

/** Nothing of the assignment was signed: its coins are free again. Change that is in no block still comes, while its own is open. */
export async function returnCoins(tx: Transaction, assignmentId: string): Promise<void> {
  await tx.query(
    `delete from chain_coins c where c.assignment_id = $1 and c.height is null
       and not exists (select from chain_versions v join chain_assignments a on a.id = v.assignment_id
                       where v.hash = c.tx_hash and a.network = c.network and a.state = 'ASSIGNED')`,
    [assignmentId],
  );
  await tx.query('update chain_coins set assignment_id = null where assignment_id = $1', [assignmentId]);
}

/** A coin that a transaction in the log of the signer spends, and that the database may not know. */
export type LostCoin = {
  readonly txHash: string;
  readonly output: number;
  readonly units?: string;
  readonly path?: string;
  readonly address?: string;
};

const OUTPOINT = { txHash: 'text', output: 'bigint' } as const;
const outpointsOf = (coins: readonly LostCoin[]): { txHash: string; output: number }[] =>
  coins.map(({ txHash, output }) => ({ txHash, output }));

/** Whether an assignment that is open, or one that has been executed, has one of the coins; undefined if none has. */
export async function lostCoinsUse(
  tx: Transaction,
  network: string,
  coins: readonly LostCoin[],
): Promise<'open' | 'ended' | undefined> {
  const rows = await tx.query<{ state: string }>(
    `select a.state from chain_coins c
     join unnest($2::text[], $3::bigint[]) as wanted (tx_hash, output) using (tx_hash, output)
     join chain_assignments a on a.id = c.assignment_id
     where c.network = $1`,
    [network, ...columns(outpointsOf(coins), OUTPOINT)],
  );
  if (rows.length === 0) return undefined;
  return rows.some(({ state }) => state === 'ASSIGNED') ? 'open' : 'ended';
}

/** Whether or not a block has spent them already. One that is in no scanned block is entered without a height. */
export async function takeLostCoins(
  tx: Transaction,
  assignmentId: string,
  network: string,
  coins: readonly LostCoin[],
): Promise<void> {
  const whole = coins.flatMap(({ txHash, output, units, path, address }) =>
    units === undefined || path === undefined || address === undefined
      ? []
      : [{ network, txHash, output, units: BigInt(units), address, path }],
  );
  if (whole.length > 0)
    await tx.query(
      `insert into chain_coins (network, tx_hash, output, units, address, path)
       select * from unnest($1::text[], $2::text[], $3::bigint[], $4::numeric[], $5::text[], $6::text[])
       on conflict (network, tx_hash, output) do nothing`,
      columns(whole, {
        network: 'text',
        txHash: 'text',
        output: 'bigint',
        units: 'numeric',
        address: 'text',
        path: 'text',
      }),
    );
  const taken = await tx.query(
    `update chain_coins c set assignment_id = $1
     from unnest($3::text[], $4::bigint[]) as wanted (tx_hash, output)
     where c.network = $2 and c.tx_hash = wanted.tx_hash and c.output = wanted.output and c.assignment_id is null
     returning c.output`,
    [assignmentId, network, ...columns(outpointsOf(coins), OUTPOINT)],
  );
  if (taken.length < coins.length)
    throw new Error(
      `a coin of transaction ${coins[0]!.txHash} or another one is in no block that was scanned: recover again once the scanner has read all blocks`,
    );
}

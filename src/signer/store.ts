import type { Queryable } from '../database/database.ts';
import type { EarlierAssignment, Intent, IntentCoin, IntentPayment } from './intent.ts';

/** The views of the signer's role. One statement each: assignments, payments and coins never change once they are committed. */

export async function findIntent(database: Queryable, id: string): Promise<Intent | undefined> {
  const [row] = await database.query<Omit<Intent, 'payments' | 'coins'>>(
    `select id, network, lane, purpose, slot, details, state from signer_assignments where id = $1`,
    [id],
  );
  if (row === undefined) return undefined;
  const payments = await database.query<IntentPayment>(
    `select key, asset, units, address, active, rail, rail_state as "railState", rail_asset as "railAsset",
            rail_units as "railUnits", type, direction, status, transfer_asset as "transferAsset",
            transfer_units as "transferUnits", crypto_network as "cryptoNetwork",
            destination_address as "destinationAddress"
     from signer_payments where assignment_id = $1 order by position`,
    [id],
  );
  const coins = await database.query<IntentCoin>(
    `select tx_hash as "txHash", output, units, path from signer_coins where assignment_id = $1`,
    [id],
  );
  return { ...row, payments, coins };
}

/** Undefined if the database does not know that this assignment ever paid the key. */
export async function findEarlier(
  database: Queryable,
  assignmentId: string,
  key: string,
): Promise<EarlierAssignment | undefined> {
  const [row] = await database.query<EarlierAssignment>(
    `select a.state, p.active,
            coalesce((select jsonb_agg(v.hash) from signer_versions v where v.assignment_id = a.id), '[]') as hashes
     from signer_assignments a join signer_payments p on p.assignment_id = a.id
     where a.id = $1 and p.key = $2`,
    [assignmentId, key],
  );
  return row;
}

/** Assignments that the database says were signed, and that may still be executed. */
export async function openSigned(database: Queryable, assignmentsMax: number): Promise<string[]> {
  const rows = await database.query<{ id: string }>(`select id from signer_signed limit $1`, [
    assignmentsMax,
  ]);
  return rows.map(({ id }) => id);
}

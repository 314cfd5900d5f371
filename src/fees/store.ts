import { plainArray } from '../database/array.ts';
import { columns } from '../database/columns.ts';
import { change } from '../events/outbox.ts';
import type { Table } from '../ledger/command.ts';
import { type GuaranteedFee, presentGuaranteedFee } from './guaranteed-fee.ts';

/**
 * Guaranteed fees by id, of all customers. A fee can be used once, so loading locks its row: in sorted order, and after the
 * balances, so that nodes do not deadlock.
 */
export const guaranteedFeeTable: Table<GuaranteedFee> = {
  name: 'guaranteed_fees',
  record: (fee, { assets, recordedAt: at }) => [
    change({
      action: fee.usedBy === null ? 'guaranteed_fee.created' : 'guaranteed_fee.used',
      customerId: fee.customerId,
      resourceId: fee.id,
      at,
      after: { ...presentGuaranteedFee(fee, assets), ...(fee.usedBy !== null && { used_by: fee.usedBy }) },
    }),
  ],
  async load(tx, ids) {
    const rows = await tx.query<GuaranteedFee>(
      `select id, customer_id as "customerId", asset, crypto_network as "cryptoNetwork",
              destination_address as "destinationAddress", amount_units as "amountUnits", fee_units as "feeUnits",
              created_at_ns as "createdAtNs", expires_at_ns as "expiresAtNs", used_by as "usedBy"
       from guaranteed_fees where id = any ($1::uuid[]) order by id for update`,
      [plainArray(ids)],
    );
    return new Map(rows.map((row) => [row.id, row]));
  },
  /** Inserts new fees; of an existing fee only `used_by` can change. */
  write: (tx, fees) =>
    tx.query(
      `insert into guaranteed_fees (id, customer_id, asset, crypto_network, destination_address, amount_units,
                                    fee_units, created_at_ns, expires_at_ns, used_by)
       select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::numeric[],
                            $7::numeric[], $8::bigint[], $9::bigint[], $10::uuid[])
       on conflict (id) do update set used_by = excluded.used_by`,
      columns(fees, {
        id: 'uuid',
        customerId: 'uuid',
        asset: 'text',
        cryptoNetwork: 'text',
        destinationAddress: 'text',
        amountUnits: 'numeric',
        feeUnits: 'numeric',
        createdAtNs: 'bigint',
        expiresAtNs: 'bigint',
        usedBy: 'uuid',
      }),
    ),
};

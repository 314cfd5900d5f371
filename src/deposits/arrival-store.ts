import { plainArray } from '../database/array.ts';
import { columns } from '../database/columns.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { StaleRead } from '../database/failure.ts';
import type { Table } from '../ledger/command.ts';
import { type ArrivalRecord, readKey } from './identity.ts';

type Row = Omit<ArrivalRecord, 'output'> & { readonly output: bigint | null };

const fromStored = ({ output, ...row }: Row): ArrivalRecord => ({
  ...row,
  output: output === null ? null : Number(output),
});

const COLUMNS = `a.rail, a.account, a.transaction, a.output_number as output, a.asset, a.amount_units as "amountUnits",
  a.memo, a.transfer_id as "transferId", a.suspense_deposit_id as "suspenseId", a.journal_entry_id as "journalEntryId"`;
const OF_TRANSACTION = `select ${COLUMNS} from arrivals a
  where a.rail = wanted.rail and a.transaction = wanted.transaction`;

/** All nodes write in the same order, so that they do not deadlock. */
function orderOf({ transaction, rail, output, account, asset }: ArrivalRecord): string {
  return [transaction, rail, output, account, asset].join(' ');
}

/** Deletes the rows of journal entries that were reversed. */
async function release(tx: Transaction, records: readonly ArrivalRecord[]): Promise<void> {
  const ids = records.flatMap(({ isReleased, journalEntryId, replaces }) =>
    isReleased === true ? [journalEntryId!] : (replaces ?? []),
  );
  if (ids.length === 0) return;
  await tx.query('delete from arrivals where journal_entry_id = any ($1::uuid[])', [plainArray(ids)]);
}

/**
 * Deposits that arrived, by the keys of `keysOf`. If two nodes find that a deposit is new, the unique indexes let one of
 * them write it; the other one retries and finds it.
 */
export const arrivalRecords: Table<ArrivalRecord> = {
  name: 'arrivals',
  /** Only the part of the union whose parameters are not null finds rows. Each part has its own index. */
  async load(tx, keys) {
    const wanted = keys.map((key, position) => ({ ...readKey(key), position }));
    const rows = await tx.query<Row & { readonly position: number }>(
      `select found.*, wanted.position
       from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::integer[])
            as wanted (rail, transaction, output, address, asset, bank_account, position)
       cross join lateral (
         ${OF_TRANSACTION} and a.output_number = wanted.output
         union all
         ${OF_TRANSACTION} and a.account = wanted.address and a.asset = wanted.asset
         union all
         ${OF_TRANSACTION} and a.memo is not null and wanted.bank_account is not null
           and (a.account = wanted.bank_account or a.account is null)
         limit 1) as found`,
      columns(wanted, {
        rail: 'text',
        transaction: 'text',
        output: 'bigint',
        address: 'text',
        asset: 'text',
        bankAccount: 'text',
        position: 'integer',
      }),
    );
    return new Map(rows.map(({ position, ...row }) => [keys[position]!, fromStored(row)]));
  },
  async write(tx, rows) {
    // A deposit with two keys is one row.
    const records = [...new Set(rows)].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
    await release(tx, records);
    const added = records.filter(({ isReleased }) => isReleased !== true);
    const written = await tx.query(
      `insert into arrivals (rail, account, transaction, output_number, asset, amount_units, memo, transfer_id,
                             suspense_deposit_id, journal_entry_id)
       select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::numeric[], $7::text[],
                            $8::uuid[], $9::uuid[], $10::uuid[])
       on conflict do nothing returning 1`,
      columns(added, {
        rail: 'text',
        account: 'text',
        transaction: 'text',
        output: 'bigint',
        asset: 'text',
        amountUnits: 'numeric',
        memo: 'text',
        transferId: 'uuid',
        suspenseId: 'uuid',
        journalEntryId: 'uuid',
      }),
    );
    if (written.length < added.length) throw new StaleRead('a deposit');
  },
};

/** The arrival that became the transfer, or that the journal entry booked by hand. */
export async function arrivalOf(
  database: Queryable,
  by: 'transfer_id' | 'journal_entry_id',
  id: string,
): Promise<ArrivalRecord | undefined> {
  const [row] = await database.query<Row>(`select ${COLUMNS} from arrivals a where a.${by} = $1`, [id]);
  return row && fromStored(row);
}

/** The bank's reference, or the transaction, of what arrived as these transfers, suspense deposits or journal entries. */
export async function arrivalReferences(
  database: Queryable,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly reference: string }[]> {
  const by = (column: string): string =>
    `select a.${column} as id, a.transaction as reference from arrivals a where a.${column} = any ($1::uuid[])`;
  return database.query(
    [by('transfer_id'), by('suspense_deposit_id'), by('journal_entry_id')].join(' union '),
    [plainArray(ids)],
  );
}

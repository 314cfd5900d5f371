import { plainArray } from '../database/array.ts';
import type { Table } from '../ledger/command.ts';
import type { Profile } from './profile.ts';

const COLUMNS = `id, customer_id as "customerId", nickname, type, description, account_id as "accountId", status,
  created_at_ns as "createdAtNs"`;

/** Profiles by id, whoever owns them: rules decide who may do what with which. */
export const profileTable: Table<Profile> = {
  name: 'profiles',
  async load(tx, ids) {
    const rows = await tx.query<Profile>(`select ${COLUMNS} from profiles where id = any ($1::uuid[])`, [
      plainArray(ids),
    ]);
    return new Map(rows.map((row) => [row.id, row]));
  },
};

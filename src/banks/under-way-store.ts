import type { Queryable } from '../database/database.ts';

/** Files with payments of frozen parties that lie at the bank and are about to get the name that the bank reads. */
export async function stagedUnderWay(database: Queryable): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::integer as count from bank_files b
     where b.state = 'STAGED' and exists (
       select from bank_file_payments p where p.file_id = b.id
         and (select f.id from frozen_transfers f where f.id = p.key) is not null)`,
  );
  return row!.count;
}

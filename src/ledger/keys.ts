import { textArray } from '../database/array.ts';
import type { Queryable } from '../database/database.ts';

/**
 * What was created under these ref_ids. Lists find by ref_id through here, since the keys are indexed by it anyway:
 * an index of their own on each table would cost every row that is made.
 */
export async function resourcesByRefId(
  database: Queryable,
  customerId: string,
  space: string,
  refIds: readonly string[],
): Promise<string[]> {
  const rows = await database.query<{ resource_id: string }>(
    `select resource_id from idempotency_keys
     where customer_id = $1 and space = $2 and ref_id = any ($3::text[])`,
    [customerId, space, textArray(refIds)],
  );
  return rows.map((row) => row.resource_id);
}

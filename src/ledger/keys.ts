import { plainArray, textArray } from '../database/array.ts';
import type { Queryable } from '../database/database.ts';
import { withHiddenLimits } from '../database/select.ts';
import type { IdempotencyKey } from './command.ts';

/** Joined by a character that no text in the database can contain, so that different keys have different texts. */
export function joinKey(customerId: string, space: string, refId: string): string {
  return `${customerId}\0${space}\0${refId}`;
}

export function keyText(key: IdempotencyKey): string {
  key.text ??= joinKey(key.customerId, key.space, key.refId);
  return key.text;
}

/**
 * The resources that were created with these ref_ids. Lists use this to filter by ref_id, because idempotency keys are
 * indexed by it anyway: a separate index on each table would slow down every insert.
 */
export async function resourcesByRefId(
  database: Queryable,
  customerId: string,
  space: string,
  refIds: readonly string[],
): Promise<string[]> {
  const rows = await database.query<{ resource_id: string }>(
    `select resource_id, customer_id as "customerId" from idempotency_keys
     where customer_id = $1 and space = $2 and ref_id = any ($3::text[])`,
    [customerId, space, textArray(refIds)],
  );
  return rows.map((row) => row.resource_id);
}

/**
 * The same for operators: the resources that any of these customers created with this ref_id, in any of these spaces. One look
 * into the index for each customer and space, and no index more that every request would pay for.
 */
export async function resourcesOfAny(
  database: Queryable,
  customerIds: readonly string[],
  {
    spaces,
    refId,
    rowsMax,
  }: { readonly spaces: readonly string[]; readonly refId: string; readonly rowsMax: number },
): Promise<string[]> {
  const rows = await database.query<{ resource_id: string }>(
    withHiddenLimits(
      `select k.resource_id from unnest($1::uuid[]) as c (id) cross join unnest($2::text[]) as s (space)
       join idempotency_keys k on k.customer_id = c.id and k.space = s.space and k.ref_id = $3
       limit (select $4::bigint)`,
    ),
    [plainArray(customerIds), textArray(spaces), refId, rowsMax],
  );
  return rows.map((row) => row.resource_id);
}

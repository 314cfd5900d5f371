import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import { CLOCK_NS } from '../database/clock.ts';
import type { Queryable, Transaction } from '../database/database.ts';

export type WrappedKey = { readonly id: number; readonly wrappingKey: string; readonly wrapped: string };

export function wrappedKeys(tx: Queryable): Promise<WrappedKey[]> {
  return tx.query<WrappedKey>('select id, wrapping_key as "wrappingKey", wrapped from data_keys order by id');
}

/** Serializes changes of the data keys across all nodes. */
export async function lockDataKeys(tx: Transaction): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.dataKeys]);
}

export async function insertDataKey(
  tx: Transaction,
  { id, wrappingKey, wrapped }: WrappedKey,
): Promise<void> {
  await tx.query(
    `insert into data_keys (id, wrapping_key, wrapped, created_at_ns) values ($1, $2, $3, ${CLOCK_NS})`,
    [id, wrappingKey, wrapped],
  );
}

export async function replaceWrapping(
  tx: Transaction,
  { id, wrappingKey, wrapped }: WrappedKey,
): Promise<void> {
  await tx.query('update data_keys set wrapping_key = $2, wrapped = $3 where id = $1', [
    id,
    wrappingKey,
    wrapped,
  ]);
}

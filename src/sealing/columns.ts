import type { Vault } from '../kernel/vault.ts';

/**
 * Sealed values in columns of type jsonb: a JSON string, where rows from before sealing have an object. So a column needs no
 * other type, and both forms can be told apart until the older rows are sealed (`older-rows.ts`).
 */

/** The text of the JSON value to store; null for an absent one. */
export function sealJson(vault: Vault, value: object | null | undefined, place: string): string | null {
  return value === null || value === undefined ? null : `"${vault.seal(JSON.stringify(value), place)}"`;
}

/** The value of the column as the driver has parsed it: null, sealed, or from before sealing. */
export function openJson<Value>(vault: Vault, stored: Value | string, place: string): Value {
  return typeof stored === 'string' ? (JSON.parse(vault.open(stored, place)) as Value) : stored;
}

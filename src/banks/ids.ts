import { createHash } from 'node:crypto';
import { isId } from '../kernel/id.ts';

/** Ids of payments and files as messages carry them: without dashes, because Max35Text does not hold a UUID with a suffix. */
export const plainId = (id: string): string => id.replaceAll('-', '');

/** The id that an identifier of a message stands for; undefined if it is not one that Ferry made. Banks may change its case. */
export function idOf(text: string | undefined): string | undefined {
  const hex = (text ?? '').trim().toLowerCase();
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return isId(id) ? id : undefined;
}

/** Numbers of accounts as they are compared: blanks and case do not matter. */
export const plainAccount = (number: string): string => number.replaceAll(/\s/g, '').toUpperCase();

/** The UETR of a payment: networks require a UUID of version 4, and ids are of version 7. The same payment always has the same. */
export function uetrOf(key: string): string {
  const bytes = createHash('sha256').update(`ferry UETR ${key}`).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

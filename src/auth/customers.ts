import type { Queryable } from '../database/database.ts';
import { isId } from '../kernel/id.ts';
import { LIMITS } from '../limits.ts';
import { type Customer, customerById, customerByName } from './store.ts';

/** Printable, without leading or trailing space. */
const NAME = /^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]*[^\p{C}\p{Z}])?$/u;

export function isName(text: string): boolean {
  return text.length <= LIMITS.partyNameLengthMax && NAME.test(text);
}

/** By id or name. No name has the form of an id (see `createCustomer`), so the value identifies one customer at most. */
export async function findCustomer(tx: Queryable, idOrName: string): Promise<Customer | undefined> {
  if (isId(idOrName)) return customerById(tx, idOrName);
  return isName(idOrName) ? customerByName(tx, idOrName) : undefined;
}

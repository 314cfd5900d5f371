import { openItems } from './books.ts';
import { type Belongings, exampleFor, type Operation, pathFor, withDigest } from './openapi.ts';
import type { Answer } from './service.ts';

/** Calls the operation with its example, and with records of the customer. */
export async function callExample(operation: Operation, own: Belongings): Promise<Answer> {
  const path = await pathFor(operation, own);
  const body = await withDigest(operation, own, path, exampleFor(operation, own, 'shown'));
  if (operation.id === 'matchItems') body.item_ids = await openItems(own.customer);
  return own.customer.call(operation.method, path, body);
}

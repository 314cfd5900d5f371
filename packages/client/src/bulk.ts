import type { Answer, Input } from './client.ts';
import { type FerryProblem, problemOf } from './problems.ts';

type Order = Input<'createPlatformTransfers'>['transfers'][number];
type Bulk = Answer<'createPlatformTransfers'>['results'];
type Send = (transfers: readonly Order[]) => Promise<Bulk>;

/** A transfer without a `ref_id` gets one. */
export type BulkOrder = Omit<Order, 'ref_id'> & { readonly ref_id?: string };
export type BulkResult = { readonly refId: string } & (
  | { readonly transfer: NonNullable<Bulk[number]['transfer']>; readonly problem?: undefined }
  | { readonly transfer?: undefined; readonly problem: FerryProblem }
);

/** Of one request. */
export const BULK_MAX = 1_000;
/** How often transfers that the service could not execute at the moment are sent again. */
const ATTEMPTS = 5;
const PAUSE_MS = 1_000;

const isTemporary = ({ status }: { status: number }): boolean => status === 503 || status === 500;

function resultOf({ ref_id: refId, status, transfer, problem }: Bulk[number]): BulkResult {
  if (transfer !== undefined) return { refId, transfer };
  return { refId, problem: problemOf(status, JSON.stringify(problem), undefined, refId) };
}

/**
 * Sends transfers in requests of at most 1,000, and those that were unavailable again under the same `ref_id`, so that none is
 * executed twice.
 */
export async function sendEach(orders: readonly Order[], send: Send): Promise<BulkResult[]> {
  const results = new Map<string, BulkResult>();
  let waiting = orders;
  for (let attempt = 1; waiting.length > 0; attempt += 1) {
    if (attempt > 1) await new Promise((resume) => setTimeout(resume, PAUSE_MS));
    const again = new Set<string>();
    for (let at = 0; at < waiting.length; at += BULK_MAX) {
      for (const one of await send(waiting.slice(at, at + BULK_MAX))) {
        results.set(one.ref_id, resultOf(one));
        if (isTemporary(one) && attempt < ATTEMPTS) again.add(one.ref_id);
      }
    }
    waiting = waiting.filter(({ ref_id: refId }) => again.has(refId));
  }
  return orders.map(({ ref_id: refId }) => results.get(refId)!);
}

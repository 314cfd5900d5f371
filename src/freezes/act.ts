import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Queryable } from '../database/database.ts';
import { untilRunningEnded } from '../database/running.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { Freeze, Frozen } from './freeze.ts';
import { findFreeze, insertFreeze, liftFreeze, type NewFreeze } from './store.ts';

/** Counts payments of frozen parties that are past the check of the freezes, and may reach a rail at this moment. */
export type UnderWay = (database: Queryable) => Promise<number>;

const POLL_MS = 20;

/**
 * Freezes, and returns when nothing more is submitted to a rail because of what was decided before:
 *
 * 1. The freeze is committed: every transaction that begins from here on sees it.
 * 2. Transactions that began earlier have ended. Intents that they committed are visible now.
 * 3. The calls of rails that follow from those intents have ended, or have had the time that a call can take.
 *
 * If 2 or 3 takes too long, the answer says so. The freeze stays.
 */
export async function freeze(
  database: Database,
  order: NewFreeze,
  underWay: readonly UnderWay[],
): Promise<Frozen> {
  const made = await insertFreeze(database, order);
  if (made === undefined) throw notFound(order.scope.toLowerCase(), order.subjectId!);
  const isInForce = await untilRunningEnded(database);
  const deadline = performance.now() + LIMITS.freezeWaitMs;
  for (;;) {
    const counts = await Promise.all(underWay.map((count) => count(database)));
    const submissionsUnderWay = counts.reduce((sum, count) => sum + count, 0);
    if (submissionsUnderWay === 0 || performance.now() >= deadline)
      return { freeze: made, isInForce, submissionsUnderWay };
    await sleep(POLL_MS);
  }
}

export async function lift(database: Database, id: string, by: string, because: string): Promise<Freeze> {
  const lifted = await liftFreeze(database, id, by, because);
  if (lifted !== undefined) return lifted;
  const known = await findFreeze(database, id);
  if (known === undefined) throw notFound('freeze', id);
  throw new Problem('invalid-state', `Freeze ${id} is LIFTED already.`, { status: 'LIFTED' });
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Queryable } from '../database/database.ts';
import { untilRunningEnded } from '../database/running.ts';
import type { Actor } from '../kernel/actor.ts';
import { notFound } from '../kernel/problem.ts';
import { runAlone } from '../ledger/alone.ts';
import { LIMITS } from '../limits.ts';
import { freezeCommand, liftCommand, type NewFreeze } from './commands.ts';
import type { Freeze, Frozen } from './freeze.ts';
import { findFreeze } from './store.ts';

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
  // Not in the queue of the write path: a freeze does not wait for what it stops.
  const made = await runAlone(database, freezeCommand(order));
  return { freeze: made, ...(await untilFrozen(database, underWay)) };
}

/** Steps 2 and 3. */
export async function untilFrozen(
  database: Database,
  underWay: readonly UnderWay[],
): Promise<Omit<Frozen, 'freeze'>> {
  const isInForce = await untilRunningEnded(database);
  const deadline = performance.now() + LIMITS.freezeWaitMs;
  for (;;) {
    const counts = await Promise.all(underWay.map((count) => count(database)));
    const submissionsUnderWay = counts.reduce((sum, count) => sum + count, 0);
    if (submissionsUnderWay === 0 || performance.now() >= deadline) return { isInForce, submissionsUnderWay };
    await sleep(POLL_MS);
  }
}

export async function knownFreeze(database: Queryable, id: string): Promise<Freeze> {
  const known = await findFreeze(database, id);
  if (known === undefined) throw notFound('freeze', id);
  return known;
}

export async function lift(database: Database, id: string, actor: Actor, reason: string): Promise<Freeze> {
  return runAlone(database, liftCommand(await knownFreeze(database, id), { actor, reason }));
}

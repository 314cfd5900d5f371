import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '../limits.ts';
import type { Queryable } from './database.ts';

const POLL_MS = 5;

/**
 * True once every transaction that was writing at the time of the call has ended; false if one takes too long. A batch
 * gets its transaction id before it reads anything. So when this returns true, every batch that did not see a change made
 * before the call has ended, and the change is in force.
 */
export async function untilRunningEnded(
  database: Queryable,
  waitMs: number = LIMITS.statusWaitMs,
): Promise<boolean> {
  // A new transaction id, which is above all that were assigned before. (A snapshot ends above the last one that ended.)
  const [now] = await database.query<{ next: string }>('select pg_current_xact_id()::text as next');
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline) {
    const [row] = await database.query<{ ended: boolean }>(
      'select pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 as ended',
      [now!.next],
    );
    if (row!.ended) return true;
    await sleep(POLL_MS);
  }
  return false;
}

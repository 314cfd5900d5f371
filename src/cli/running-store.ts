import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../database/database.ts';
import { LIMITS } from '../limits.ts';

const POLL_MS = 5;

/**
 * True once every transaction that was writing at the time of the call has ended, false when one takes too long. Batches
 * are writers before they look at anything: those that saw what was there before a change are over then, and all others
 * see the change. So whoever changed something can say that it is in force.
 */
export async function untilRunningEnded(
  database: Queryable,
  waitMs: number = LIMITS.statusWaitMs,
): Promise<boolean> {
  // An id of its own: all that were given out before are below it. (A snapshot ends above the last one that is over.)
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

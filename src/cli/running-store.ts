import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../database/database.ts';
import { LIMITS } from '../limits.ts';

const POLL_MS = 5;

/**
 * Resolves when every transaction that was writing at the time of the call has ended. Batches lock their balances, which
 * makes them writers, before they look at anything else: those that saw what was there before a change are over then, and
 * all others see the change. So whoever changed something can say that it is in force.
 */
export async function untilRunningEnded(database: Queryable): Promise<void> {
  const [now] = await database.query<{ next: string }>(
    'select pg_snapshot_xmax(pg_current_snapshot())::text as next',
  );
  const deadline = Date.now() + LIMITS.statusWaitMs;
  while (Date.now() < deadline) {
    const [row] = await database.query<{ ended: boolean }>(
      'select pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 as ended',
      [now!.next],
    );
    if (row!.ended) return;
    await sleep(POLL_MS);
  }
}

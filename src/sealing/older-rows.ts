import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { OlderRows } from '../kernel/capability.ts';
import { createLoop } from '../kernel/loop.ts';
import type { Worker } from '../kernel/worker.ts';
import { LIMITS } from '../limits.ts';
import { claimTable, isAllSealed, recordProgress } from './older-rows-store.ts';

/**
 * Seals the rows that releases before sealing have left, table by table and a bounded number at a time, while the service
 * runs: stores read both forms. Migrations cannot do this, because no key is in the database. A batch that is repeated finds
 * its rows sealed, so a node that is killed leaves nothing to repair.
 */
type Turn =
  | { readonly kind: 'sealed'; readonly table: string }
  | { readonly kind: 'finished' }
  | { readonly kind: 'busy' };

async function sealBatch(database: Database, tables: readonly OlderRows[]): Promise<Turn> {
  const names = tables.map(({ table }) => table);
  const progress = await claimTable(database, names, LIMITS.sealLeaseMs);
  if (progress === undefined) return { kind: (await isAllSealed(database, names)) ? 'finished' : 'busy' };
  const { sealNext, table } = tables.find((one) => one.table === progress.name)!;
  // A node that takes longer than its lease only repeats, or lets another one repeat, what has no effect.
  const lastKey = await sealNext(progress.afterKey, LIMITS.sealRowsMax);
  await recordProgress(database, table, lastKey);
  return { kind: 'sealed', table };
}

export function olderRowsWorker(
  database: Database,
  tables: readonly OlderRows[],
  log: Pick<Logger, 'info' | 'warn'>,
): Worker {
  let startedMs = 0;
  let reportedMs = 0;
  let batches = 0;

  /** Silent if it is done at once, as nearly always. */
  function report(now: number, facts: object, message: string): void {
    if (now - startedMs < LIMITS.sealReportMs) return;
    reportedMs = now;
    log.info({ ...facts, seconds: Math.round((now - startedMs) / 1_000) }, message);
  }

  const loop = createLoop({
    async turn() {
      const beganMs = performance.now();
      const turn = await sealBatch(database, tables);
      const now = performance.now();
      if (turn.kind === 'busy') return LIMITS.sealLookMs;
      if (turn.kind === 'finished') {
        if (batches > 0) report(now, {}, 'all rows from before sealing are sealed');
        void loop.stop();
        return 0;
      }
      batches += 1;
      if (now - reportedMs >= LIMITS.sealReportMs)
        report(now, { table: turn.table, rows: batches * LIMITS.sealRowsMax }, 'sealing rows from before');
      // Half of the time is left to requests.
      return now - beganMs;
    },
    failed(error) {
      log.warn({ err: error }, 'could not seal rows from before sealing');
      return LIMITS.sealLookMs;
    },
  });
  return {
    name: 'sealing of older rows',
    stage: 'background',
    start() {
      startedMs = performance.now();
      loop.start(0);
    },
    stop: loop.stop,
  };
}

import type { Database } from '../database/database.ts';
import { repeat } from '../kernel/repeat.ts';
import { atMost, type Worker } from '../kernel/worker.ts';
import { LIMITS } from '../limits.ts';
import { endWakes, wakes } from './store.ts';

/** Makes up to that many due that waited for a freeze and belong to no frozen party. Returns how many it found. */
export type Resume = (database: Database, max: number) => Promise<number>;

export type ResumeWorker = Worker & {
  /** True if there may be more to do. */
  runDue(): Promise<boolean>;
};

/** After a freeze was lifted: what waited for it becomes due, a bounded number at a time. */
export function createResumeWorker(
  database: Database,
  resumes: readonly Resume[],
  failed: (error: unknown) => void,
): ResumeWorker {
  async function runDue(): Promise<boolean> {
    const ids = await wakes(database);
    if (ids.length === 0) return false;
    const counts = await Promise.all(resumes.map((resume) => resume(database, LIMITS.freezeResumedMax)));
    if (counts.some((count) => count >= LIMITS.freezeResumedMax)) return true;
    await endWakes(database, ids);
    return false;
  }
  const loop = repeat(LIMITS.freezeResumePollMs, async () => ((await runDue()) ? 'again' : 'wait'), failed);
  return {
    name: 'freezes',
    stage: 'background',
    start: () => loop.start(),
    stop: () => atMost(LIMITS.workerStopMs, loop.stop()),
    runDue,
  };
}

import type { Database } from '../../database/database.ts';
import { DatabaseUnavailable } from '../../database/failure.ts';
import { LIMITS } from '../../limits.ts';
import { timelineOfPrimary, writeMarker } from '../store.ts';

/**
 * Proof that the synchronous standby has what was found in the database. If a commit's wait for the standby is interrupted,
 * PostgreSQL still makes the commit visible; if the primary then fails, the standby is promoted without it. A later commit
 * is confirmed only together with everything before it. Without synchronous replication it is an ordinary commit.
 */
export type Confirmation = {
  /** Resolves with the timeline of the primary that has confirmed everything committed before the call. */
  confirm(): Promise<string>;
  /** The standby has not confirmed for so long that new commits would not be confirmed either. */
  isOverdue(): boolean;
};

/**
 * One confirmation at a time, on one connection with a long timeout, however many callers wait for it. While the standby is
 * down, the server keeps the session of every client that gives up on its commit, until no sessions are left.
 */
export function createConfirmation(database: Database): Confirmation {
  let startedMs: number | undefined;
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<string> | undefined;

  async function commitMarker(): Promise<string> {
    const connection = await database.reserve({ patient: true });
    const timer = setTimeout(() => connection.discard(), LIMITS.confirmationMs);
    timer.unref();
    try {
      await connection.query('begin');
      const timeline = await timelineOfPrimary(connection);
      if (timeline === undefined) throw new DatabaseUnavailable(new Error('the server is a standby'));
      await writeMarker(connection);
      await connection.commit();
      return timeline;
    } finally {
      clearTimeout(timer);
      connection.release();
    }
  }

  async function run(): Promise<string> {
    next = undefined;
    startedMs = performance.now();
    try {
      return await commitMarker();
    } finally {
      startedMs = undefined;
    }
  }

  return {
    confirm() {
      // The confirmation in flight may have begun before the rows were committed, so callers share the next one.
      if (next === undefined) {
        next = running.then(run, run);
        running = next;
        next.catch(() => undefined);
      }
      return next;
    },
    isOverdue: () => startedMs !== undefined && performance.now() - startedMs > LIMITS.confirmationOverdueMs,
  };
}

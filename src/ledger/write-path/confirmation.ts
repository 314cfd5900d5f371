import type { Database } from '../../database/database.ts';
import { DatabaseUnavailable } from '../../database/failure.ts';
import { LIMITS } from '../../limits.ts';
import { timelineOfPrimary, writeMarker } from '../store.ts';

/**
 * Proof that the synchronous standby has what was found in the database. PostgreSQL makes a commit visible whose wait for
 * the standby was cut off; if the primary dies then, the standby is promoted without it. A commit made after the rows were
 * found is confirmed only together with them. Without synchronous replication it is an ordinary commit.
 */
export type Confirmation = {
  /** Resolves with the timeline of the primary that has confirmed all that was committed before the call. */
  confirm(): Promise<string>;
  /** The standby has not confirmed for so long that new commits would only wait as well. */
  isOverdue(): boolean;
};

/**
 * One confirmation at a time, on one connection, and a patient one, however many wait for it: a server whose standby is
 * down keeps the session of every client that gives up on its commit, until it has no sessions left.
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
      // The one in flight may have begun before the rows were there, so callers share the next one.
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

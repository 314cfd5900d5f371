import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, Database } from '../../database/database.ts';
import { unavailable } from '../../kernel/problem.ts';
import { LIMITS } from '../../limits.ts';
import { isStored, type TransactionOutcome, timelineOfPrimary } from '../store.ts';
import type { Doubt } from './batch.ts';
import type { Confirmation } from './confirmation.ts';
import type { WritePathObserver } from './observer.ts';
import { answerAll, rejectAll, rejectUnknown, type Waiting } from './queue.ts';

type Dependencies = {
  readonly database: Database;
  readonly confirmation: Confirmation;
  readonly observer: WritePathObserver;
};

/** What one server says of a commit in doubt; with its timeline, if it has the commit. */
type Finding =
  | { readonly outcome: 'committed'; readonly timeline: string }
  | { readonly outcome: Exclude<TransactionOutcome, 'committed'>; readonly timeline?: undefined };

/** All questions on one connection: two connections might lead to two servers. */
async function lookUp(doubt: Doubt, connection: Connection): Promise<Finding> {
  const timeline = await timelineOfPrimary(connection);
  // A standby, or a primary that was left behind by a promotion, does not know what the commit's server did.
  if (timeline === undefined || timeline < doubt.timeline) return { outcome: 'in progress' };
  const outcome = await doubt.ended(connection);
  if (outcome !== 'committed') return { outcome };
  // A server that crashed before the commit was on disk has forgotten the transaction, and reuses its id: so
  // "committed" counts only together with a row of this very batch. Without one the batch was lost.
  const stored = await isStored(connection, doubt.evidence);
  if (stored === undefined) return { outcome: null };
  return stored ? { outcome: 'committed', timeline } : { outcome: 'aborted' };
}

/**
 * Finds out what became of a commit that was cut off, and answers its callers. The commands are never sent again before
 * that is known.
 */
export function createDoubtResolver({ database, confirmation, observer }: Dependencies) {
  async function outcomeOf(doubt: Doubt): Promise<TransactionOutcome> {
    const connection = await database.reserve();
    const { outcome, timeline } = await lookUp(doubt, connection).finally(() => connection.release());
    if (outcome !== 'committed') return outcome;
    // What was found counts once the standby has it, and on no other server than the one where it was found.
    return (await confirmation.confirm()) === timeline ? 'committed' : 'in progress';
  }

  /** Null when it will never be known. */
  async function untilKnown(doubt: Doubt, signal: AbortSignal): Promise<TransactionOutcome> {
    while (!signal.aborted) {
      const outcome = await outcomeOf(doubt).catch(() => 'in progress' as const);
      if (outcome !== 'in progress') return outcome;
      await sleep(LIMITS.commitInDoubtLookMs);
    }
    return null;
  }

  return async function resolveDoubt(batch: readonly Waiting[], doubt: Doubt): Promise<void> {
    const late = new AbortController();
    const tooLate = sleep(LIMITS.commitInDoubtMs, null, { signal: late.signal }).catch(() => null);
    const outcome = await Promise.race([untilKnown(doubt, late.signal), tooLate]);
    late.abort();
    if (outcome === 'committed') answerAll(batch, doubt.verdicts, observer);
    else if (outcome === 'aborted') {
      const detail =
        'The connection to the database was lost before the commit. Nothing was executed; retry.';
      rejectAll(batch, unavailable(detail));
    } else rejectUnknown(batch);
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, Database } from '../../database/database.ts';
import { unavailable } from '../../kernel/problem.ts';
import { LIMITS } from '../../limits.ts';
import { isSettled, isStored, type TransactionOutcome, timelineOfPrimary } from '../store.ts';
import type { Doubt } from './batch.ts';
import type { Confirmation } from './confirmation.ts';
import type { WritePathObserver } from './observer.ts';
import { answerAll, rejectAll, rejectUnknown, type Waiting } from './queue.ts';

type Dependencies = {
  readonly database: Database;
  readonly confirmation: Confirmation;
  readonly observer: WritePathObserver;
};

/** What one server knows about a commit in doubt; with its timeline, if it has the commit. */
type DoubtLookup =
  | { readonly outcome: 'committed'; readonly timeline: string }
  | { readonly outcome: Exclude<TransactionOutcome, 'committed'>; readonly timeline?: undefined };

/** All queries on one connection, because two connections might lead to two servers. */
async function lookUp(doubt: Doubt, connection: Connection): Promise<DoubtLookup> {
  const timeline = await timelineOfPrimary(connection);
  // A standby, or a primary of an earlier timeline, does not know what the server of the commit did.
  if (timeline === undefined || timeline < doubt.timeline) return { outcome: 'in progress' };
  const outcome = await doubt.ended(connection);
  if (outcome !== 'committed') return { outcome };
  if (!(await isSettled(connection, doubt.pid))) return { outcome: 'in progress' };
  // A server that crashed before the commit was on disk has lost the transaction, and reuses its id. So "committed" counts
  // only if a row of this batch is stored; otherwise the batch was lost.
  const stored = await isStored(connection, doubt.evidence);
  if (stored === undefined) return { outcome: null };
  return stored ? { outcome: 'committed', timeline } : { outcome: 'aborted' };
}

/** Finds out the outcome of a commit that was interrupted, and answers its callers. The commands are not sent again. */
export function createDoubtResolver({ database, confirmation, observer }: Dependencies) {
  async function outcomeOf(doubt: Doubt): Promise<TransactionOutcome> {
    const connection = await database.reserve();
    const { outcome, timeline } = await lookUp(doubt, connection).finally(() => connection.release());
    if (outcome !== 'committed') return outcome;
    // The result counts once the standby has confirmed it, and only on the server on which it was found.
    return (await confirmation.confirm()) === timeline ? 'committed' : 'in progress';
  }

  /** Null if the outcome cannot be found out. */
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

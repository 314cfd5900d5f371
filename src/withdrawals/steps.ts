import { backOffMs } from '../kernel/back-off.ts';
import type { Command } from '../ledger/command.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { type Asked, askRail, rentOn, submitTo } from '../rails/call.ts';
import type { Rail, Rails, SubmitResult } from '../rails/rail.ts';
import { type Ended, type Ending, endCommand, failedByRail } from './outcome.ts';
import type { Claimed } from './states.ts';
import {
  intendCommand,
  type ProgressTables,
  paymentOf,
  type Seen,
  type Step,
  stepCommand,
} from './transitions.ts';
import { confirming, forgotten, outcomeUnknown, refusedAgain, submitted, unavailable } from './words.ts';

/** Where a test can stop a worker for good; one name for each side of every commit and of every call. */
export const CHECKPOINTS = [
  'claimed, before anything else',
  'before the intent is committed',
  'after the intent is committed, before the rail is called',
  'after the rail answered, before its answer is committed',
  'after the answer is committed',
  'before the rail is asked',
  'after the rail was asked, before the outcome is committed',
  'after the outcome is committed',
] as const;
export type Checkpoint = (typeof CHECKPOINTS)[number];

export type PayoutDependencies = {
  readonly writePath: WritePath;
  readonly rails: Rails;
  readonly tables: ProgressTables;
  readonly timing: PayoutTiming;
  readonly checkpoint?: (name: Checkpoint, transferId: string) => Promise<void>;
  /** Contradictions: somebody has to look. */
  readonly trouble: (what: string, facts: object) => void;
};

export type PayoutTiming = {
  readonly leaseMs: number;
  readonly callTimeoutMs: number;
  readonly backoffFirstMs: number;
  readonly backoffMaxMs: number;
  /** How far this clock is ahead of the database's: nothing, except where a test lets an hour pass. */
  offsetNs(): bigint;
};

/** What a worker learnt about the rail by the way: whether it answers; nothing, if it was not called. */
export type Reach = 'reached' | 'unavailable' | 'not called';

/** Twice as long each time, and never in step with the others. */
function jitteredBackOffMs({ backoffFirstMs, backoffMaxMs }: PayoutTiming, failures: number): number {
  const fullMs = backOffMs({ firstMs: backoffFirstMs, maxMs: backoffMaxMs }, failures + 1);
  return fullMs * (0.5 + Math.random() / 2);
}

/** Brings one claimed withdrawal a step further. Rail calls happen here, between transactions, never inside one. */
export function createPayout(dependencies: PayoutDependencies) {
  const { writePath, rails, tables, timing, trouble } = dependencies;
  const checkpoint = dependencies.checkpoint ?? (async () => undefined);

  async function commit<Answer>(command: Command<Answer>): Promise<Answer> {
    const outcome = await writePath.submit(command);
    if (outcome.replayed) throw new Error('a command without a key cannot be a replay');
    return outcome.answer;
  }

  async function step(seen: Seen, change: Step): Promise<Seen | undefined> {
    const work = await commit(stepCommand(seen, change, tables));
    return work === 'stale' ? undefined : { ...seen, work };
  }

  async function end(seen: Seen, ending: Ending): Promise<Ended> {
    const report = { rail: seen.work.rail, ending, seenVersion: seen.work.version };
    const ended = await commit(endCommand(seen.transfer, report, tables));
    if (ended.effect === 'contradiction') {
      trouble('a rail contradicts how a withdrawal ended', { transferId: seen.transfer.id, ending });
    }
    await checkpoint('after the outcome is committed', seen.transfer.id);
    return ended;
  }

  /** Not available: the same again later, in the same state. */
  async function postpone(seen: Seen): Promise<Reach> {
    const { rail, state, failures } = seen.work;
    await step(seen, {
      state,
      delayMs: jitteredBackOffMs(timing, failures),
      failures: failures + 1,
      words: state === 'UNKNOWN' ? outcomeUnknown(rail) : unavailable(rail),
    });
    return 'unavailable';
  }

  /** Records the intent, then calls. Also from UNKNOWN, once the rail is certain that the request was lost. */
  async function submit(seen: Seen, rail: Rail): Promise<Reach> {
    const { id } = seen.transfer;
    // Rent is reserved with the first intent and never again.
    const firstTime = seen.work.attempts === 0 && rail.rentOf !== undefined;
    const rentLamports = firstTime
      ? await rentOn(rail, paymentOf(seen.transfer, undefined, tables.assets), timing.callTimeoutMs)
      : 0n;
    if (rentLamports === undefined) return postpone(seen);
    await checkpoint('before the intent is committed', id);
    const started = performance.now();
    const intended = await commit(intendCommand(seen, { rentLamports, leaseMs: timing.leaseMs }, tables));
    if (intended.kind === 'end') {
      await end(seen, intended.ending);
      return 'not called';
    }
    if (intended.kind !== 'submit') return 'not called';
    await checkpoint('after the intent is committed, before the rail is called', id);
    // This process may have stood still since. The key would make a second request harmless; it is not made at all.
    if (performance.now() - started > timing.leaseMs / 2) return 'not called';
    const result = await submitTo(rail, intended.payment, timing.callTimeoutMs);
    await checkpoint('after the rail answered, before its answer is committed', id);
    const wasUnknown = seen.work.state === 'UNKNOWN';
    const reach = await recordAnswer({ ...seen, work: intended.work }, result, wasUnknown);
    await checkpoint('after the answer is committed', id);
    return reach;
  }

  /**
   * After an unknown outcome the answer is about this request only. The request before it may have been paid: "duplicate
   * reference" would even be a sign of that. So neither `final` nor `retry` ends or restarts anything then; the rail is
   * asked, and only its answer to that ends the withdrawal.
   */
  async function recordAnswer(seen: Seen, result: SubmitResult, wasUnknown: boolean): Promise<Reach> {
    const { rail, failures, transferId } = seen.work;
    if (result.kind === 'accepted') {
      const words = submitted(rail);
      await step(seen, { state: 'SUBMITTED', delayMs: result.nextAskMs, failures: 0, words });
      return 'reached';
    }
    if (result.meaning === 'final' && !wasUnknown) {
      await end(seen, failedByRail(result.reason));
      return 'reached';
    }
    const delayMs = jitteredBackOffMs(timing, failures);
    if (result.meaning === 'final') {
      const { reason } = result;
      trouble('a rail refused a request after an unknown outcome', { transferId, rail, reason });
      const words = refusedAgain(rail, reason);
      await step(seen, { state: 'UNKNOWN', delayMs, failures: failures + 1, words });
      return 'reached';
    }
    if (result.meaning === 'retry' && !wasUnknown) {
      const words = unavailable(rail);
      await step(seen, { state: 'QUEUED', delayMs, failures: failures + 1, words, forgetsPayment: true });
      return 'unavailable';
    }
    await step(seen, { state: 'UNKNOWN', delayMs, failures: failures + 1, words: outcomeUnknown(rail) });
    return 'unavailable';
  }

  async function ask(seen: Seen, rail: Rail): Promise<Reach> {
    const { id } = seen.transfer;
    await checkpoint('before the rail is asked', id);
    const asked = await askRail(rail, id, timing.callTimeoutMs);
    await checkpoint('after the rail was asked, before the outcome is committed', id);
    return recordState(seen, rail, asked);
  }

  async function recordState(seen: Seen, rail: Rail, asked: Asked): Promise<Reach> {
    const { work } = seen;
    switch (asked.kind) {
      case 'unavailable':
        return postpone(seen);
      case 'completed':
        await end(seen, asked);
        return 'reached';
      case 'failed':
        await end(seen, failedByRail(asked.reason));
        return 'reached';
      case 'pending': {
        const { confirmations: count, nextAskMs: delayMs, ...onChain } = asked;
        const words =
          count === undefined || count.have === 0 ? submitted(work.rail) : confirming(work.rail, count);
        await step(seen, { state: 'SUBMITTED', delayMs, failures: 0, words, onChain });
        return 'reached';
      }
      default:
        return neverHeard(seen, rail);
    }
  }

  /**
   * The rail does not know the key. If it had taken the payment on, that is its fault and a case for people. If not,
   * the request may still be on its way until the rail's horizon has passed; after that it is made again, under the
   * same key, so that even a rail that is wrong about its horizon pays once.
   */
  async function neverHeard(seen: Seen, rail: Rail): Promise<Reach> {
    const { work, nowNs } = seen;
    if (work.state === 'SUBMITTED') {
      trouble('a rail no longer knows a payment that it took on', { transferId: work.transferId });
      const delayMs = timing.backoffMaxMs;
      await step(seen, {
        state: 'SUBMITTED',
        delayMs,
        failures: work.failures + 1,
        words: forgotten(work.rail),
      });
      return 'reached';
    }
    const leftMs = rail.horizonMs - Number(nowNs - work.intentAtNs!) / 1e6;
    if (leftMs <= 0) return submit(seen, rail);
    await step(seen, {
      state: 'UNKNOWN',
      delayMs: leftMs + 1,
      failures: work.failures,
      words: outcomeUnknown(work.rail),
    });
    return 'reached';
  }

  /** Found as it was left by somebody who did not come back: it may have been called. */
  async function adopt(seen: Seen): Promise<Seen | undefined> {
    const { rail, failures } = seen.work;
    const delayMs = timing.leaseMs;
    return step(seen, { state: 'UNKNOWN', delayMs, failures, words: outcomeUnknown(rail) });
  }

  return async function advance(claimed: Claimed): Promise<Reach> {
    const seen: Seen = { ...claimed, offsetNs: timing.offsetNs() };
    const { work } = seen;
    await checkpoint('claimed, before anything else', work.transferId);
    // Only rails that are there have a lane to claim from.
    const rail = rails.find(work.rail)!;
    if (work.state === 'QUEUED') return submit(seen, rail);
    if (work.state !== 'SUBMITTING') return ask(seen, rail);
    const adopted = await adopt(seen);
    return adopted === undefined ? 'not called' : ask(adopted, rail);
  };
}

import { backOffMs } from '../kernel/back-off.ts';
import type { Command } from '../ledger/command.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { type Asked, askRail, rentOn, submitTo } from '../rails/call.ts';
import type { Rail, Rails, SubmitResult } from '../rails/rail.ts';
import { type Ended, type Ending, endCommand, failedByRail } from './outcome.ts';
import { beforeScreening, type ScreeningParts, screenNow } from './screen.ts';
import type { Claimed } from './states.ts';
import {
  intendCommand,
  type ProgressTables,
  paymentOf,
  requestedOf,
  type Seen,
  type Step,
  stepCommand,
} from './transitions.ts';
import { confirming, forgotten, outcomeUnknown, refusedAgain, submitted, unavailable } from './words.ts';

/** Points at which a test can stop a worker for good: before and after every commit and every call of a rail. */
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

export type StepDependencies = {
  readonly writePath: WritePath;
  readonly rails: Rails;
  readonly tables: ProgressTables;
  readonly timing: PayoutTiming;
  readonly screening: ScreeningParts;
  readonly checkpoint?: (name: Checkpoint, transferId: string) => Promise<void>;
  /** Something that an operator has to investigate, such as a contradiction. */
  readonly trouble: (what: string, facts: object) => void;
};

export type PayoutTiming = {
  readonly leaseMs: number;
  readonly callTimeoutMs: number;
  readonly backoffFirstMs: number;
  readonly backoffMaxMs: number;
  /** How far this clock is ahead of the database's: 0, except in tests that let an hour pass. */
  offsetNs(): bigint;
};

/** What a step learned about the rail: whether it answers. */
export type RailReach = 'reached' | 'unavailable' | 'not called';

/** With jitter, so that withdrawals that failed together are not retried together. */
function jitteredBackOffMs({ backoffFirstMs, backoffMaxMs }: PayoutTiming, failures: number): number {
  const fullMs = backOffMs({ firstMs: backoffFirstMs, maxMs: backoffMaxMs }, failures + 1);
  return fullMs * (0.5 + Math.random() / 2);
}

/** Executes the next step of a claimed withdrawal. Rails are called here, between transactions, never inside one. */
export async function advance(parts: StepDependencies, claimed: Claimed): Promise<RailReach> {
  const seen: Seen = { ...claimed, offsetNs: parts.timing.offsetNs() };
  const { work } = seen;
  await parts.checkpoint?.('claimed, before anything else', work.transferId);
  // Only withdrawals of configured rails are claimed.
  const rail = parts.rails.find(work.rail)!;
  if (work.state === 'QUEUED') return submit(parts, seen, rail);
  if (work.state !== 'SUBMITTING') return ask(parts, seen, rail);
  const adopted = await adopt(parts, seen);
  return adopted === undefined ? 'not called' : ask(parts, adopted, rail);
}

async function commit<Answer>({ writePath }: StepDependencies, command: Command<Answer>): Promise<Answer> {
  const outcome = await writePath.submit(command);
  if (outcome.replayed) throw new Error('a command without a key cannot be a replay');
  return outcome.answer;
}

async function step(parts: StepDependencies, seen: Seen, change: Step): Promise<Seen | undefined> {
  const work = await commit(parts, stepCommand(seen, change, parts.tables));
  return work === 'stale' ? undefined : { ...seen, work };
}

async function end(parts: StepDependencies, seen: Seen, ending: Ending): Promise<Ended> {
  const report = { rail: seen.work.rail, ending, seenVersion: seen.work.version };
  const ended = await commit(parts, endCommand(seen.transfer, report, parts.tables));
  if (ended.effect === 'contradiction') {
    parts.trouble('a rail contradicts how a withdrawal ended', { transferId: seen.transfer.id, ending });
  }
  await parts.checkpoint?.('after the outcome is committed', seen.transfer.id);
  return ended;
}

/** The rail is unavailable: retries later, in the same state. */
async function postpone(parts: StepDependencies, seen: Seen): Promise<RailReach> {
  const { rail, state, failures } = seen.work;
  await step(parts, seen, {
    state,
    delayMs: jitteredBackOffMs(parts.timing, failures),
    failures: failures + 1,
    words: state === 'UNKNOWN' ? outcomeUnknown(rail) : unavailable(rail),
  });
  return 'unavailable';
}

/**
 * Has the withdrawal screened, if a policy requires that and it has not passed. The request is recorded before the hook is called,
 * and the answer before anything else happens. Undefined if the withdrawal has to wait, or has ended.
 */
async function screened(parts: StepDependencies, seen: Seen): Promise<Seen | undefined> {
  const before = beforeScreening(seen, parts.timing.leaseMs);
  if (before === undefined) return seen;
  const asked = await step(parts, seen, before);
  if (asked === undefined) return undefined;
  const backOff = jitteredBackOffMs(parts.timing, seen.work.failures);
  const after = await screenNow(parts.screening, asked, parts.tables.assets, backOff);
  if (after.kind === 'end') {
    await end(parts, asked, after.ending);
    return undefined;
  }
  const recorded = await step(parts, asked, after.step);
  // There may be a second hook.
  return after.kind === 'wait' || recorded === undefined ? undefined : screened(parts, recorded);
}

/** Records the intent, then calls the rail. From QUEUED, or from UNKNOWN once it is certain that the request was lost. */
async function submit(parts: StepDependencies, claimed: Seen, rail: Rail): Promise<RailReach> {
  const { tables, timing, checkpoint } = parts;
  const seen = await screened(parts, claimed);
  if (seen === undefined) return 'not called';
  const { id } = seen.transfer;
  // Rent is reserved with the first intent, and only then.
  const isFirst = seen.work.attempts === 0 && rail.rentOf !== undefined;
  const rentLamports = isFirst
    ? await rentOn(rail, paymentOf(seen.transfer, undefined, tables.assets), timing.callTimeoutMs)
    : 0n;
  if (rentLamports === undefined) return postpone(parts, seen);
  await checkpoint?.('before the intent is committed', id);
  const started = performance.now();
  const intended = await commit(
    parts,
    intendCommand(seen, { rentLamports, leaseMs: timing.leaseMs }, tables),
  );
  if (intended.kind === 'end') {
    await end(parts, seen, intended.ending);
    return 'not called';
  }
  if (intended.kind !== 'submit') return 'not called';
  await checkpoint?.('after the intent is committed, before the rail is called', id);
  // If this process was suspended in the meantime, another worker may have the lease. The idempotency key would make a
  // second request harmless, but none is sent.
  if (performance.now() - started > timing.leaseMs / 2) return 'not called';
  const result = await submitTo(rail, intended.payment, timing.callTimeoutMs);
  await checkpoint?.('after the rail answered, before its answer is committed', id);
  const wasUnknown = seen.work.state === 'UNKNOWN';
  const reach = await recordAnswer(parts, { ...seen, work: intended.work }, result, wasUnknown);
  await checkpoint?.('after the answer is committed', id);
  return reach;
}

/**
 * After an unknown outcome, the answer to a second request says nothing about the first one, which may have been paid: a
 * rejection as "duplicate reference" even suggests that. So neither `final` nor `retry` ends or restarts the withdrawal
 * then: the rail is asked, and only its answer to `ask` ends the withdrawal.
 */
async function recordAnswer(
  parts: StepDependencies,
  seen: Seen,
  result: SubmitResult,
  wasUnknown: boolean,
): Promise<RailReach> {
  const { rail, failures, transferId } = seen.work;
  if (result.kind === 'accepted') {
    const words = submitted(rail);
    await step(parts, seen, { state: 'SUBMITTED', delayMs: result.nextAskMs, failures: 0, words });
    return 'reached';
  }
  if (result.meaning === 'final' && !wasUnknown) {
    await end(parts, seen, failedByRail(rail, result));
    return 'reached';
  }
  const again = { delayMs: jitteredBackOffMs(parts.timing, failures), failures: failures + 1 };
  if (result.meaning === 'final') {
    const { privateReason: reason = result.reason } = result;
    parts.trouble('a rail rejected a repeated request after an unknown outcome', {
      transferId,
      rail,
      reason,
    });
    await step(parts, seen, { ...again, state: 'UNKNOWN', words: refusedAgain(rail) });
    return 'reached';
  }
  if (result.meaning === 'retry' && !wasUnknown) {
    await step(parts, seen, { ...again, state: 'QUEUED', words: unavailable(rail), forgetsPayment: true });
    return 'unavailable';
  }
  await step(parts, seen, { ...again, state: 'UNKNOWN', words: outcomeUnknown(rail) });
  return 'unavailable';
}

async function ask(parts: StepDependencies, seen: Seen, rail: Rail): Promise<RailReach> {
  const { id } = seen.transfer;
  await parts.checkpoint?.('before the rail is asked', id);
  const asked = await askRail(
    rail,
    id,
    requestedOf(seen.transfer, parts.tables.assets),
    parts.timing.callTimeoutMs,
  );
  await parts.checkpoint?.('after the rail was asked, before the outcome is committed', id);
  return recordState(parts, seen, rail, asked);
}

async function recordState(
  parts: StepDependencies,
  seen: Seen,
  rail: Rail,
  asked: Asked,
): Promise<RailReach> {
  const { work } = seen;
  switch (asked.kind) {
    case 'unavailable':
      return postpone(parts, seen);
    case 'completed':
      await end(parts, seen, asked);
      return 'reached';
    case 'failed':
      await end(parts, seen, failedByRail(work.rail, asked));
      return 'reached';
    case 'pending': {
      const { confirmations: count, nextAskMs: delayMs, ...onChain } = asked;
      const words =
        count === undefined || count.have === 0 ? submitted(work.rail) : confirming(work.rail, count);
      await step(parts, seen, { state: 'SUBMITTED', delayMs, failures: 0, words, onChain });
      return 'reached';
    }
    default:
      return notKnown(parts, seen, rail);
  }
}

/**
 * The rail does not know the payment. If it had accepted the payment, the rail is wrong, and an operator has to
 * investigate. If it had not, the request may still be in transit until the rail's horizon has passed. After that the
 * request is sent again under the same key, so that a rail that exceeds its horizon still pays only once.
 */
async function notKnown(parts: StepDependencies, seen: Seen, rail: Rail): Promise<RailReach> {
  const { work, nowNs } = seen;
  if (work.state === 'SUBMITTED') {
    parts.trouble('a rail no longer knows a payment that it accepted', { transferId: work.transferId });
    await step(parts, seen, {
      state: 'SUBMITTED',
      delayMs: parts.timing.backoffMaxMs,
      failures: work.failures + 1,
      words: forgotten(work.rail),
    });
    return 'reached';
  }
  const leftMs = rail.horizonMs - Number(nowNs - work.intentAtNs!) / 1e6;
  if (leftMs <= 0) return submit(parts, seen, rail);
  await step(parts, seen, {
    state: 'UNKNOWN',
    delayMs: leftMs + 1,
    failures: work.failures,
    words: outcomeUnknown(work.rail),
  });
  return 'reached';
}

/** Takes over from a worker that crashed after it had recorded its intent: the rail may have been called. */
async function adopt(parts: StepDependencies, seen: Seen): Promise<Seen | undefined> {
  const { rail, failures } = seen.work;
  const delayMs = parts.timing.leaseMs;
  return step(parts, seen, { state: 'UNKNOWN', delayMs, failures, words: outcomeUnknown(rail) });
}

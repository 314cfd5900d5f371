import { backOffMs } from '../kernel/back-off.ts';
import { LIMITS } from '../limits.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** From one attempt to the next, before jitter. Together three days, and the last one is repeated until then. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  12 * HOUR,
  12 * HOUR,
  12 * HOUR,
  12 * HOUR,
  8 * HOUR,
];

/** The longest that a delivery waits after 0, 1, 2, … attempts: more than jitter makes of its delay. */
export const DELAYS_MS_MAX: readonly number[] = [0, ...RETRY_DELAYS_MS.map((delayMs) => (delayMs * 6) / 5)];

/** The same for a probe. */
export const PROBE_MS_MAX = (LIMITS.webhookProbeMaxMs * 6) / 5;

const PROBE_BACK_OFF = { firstMs: LIMITS.webhookProbeMinMs, maxMs: LIMITS.webhookProbeMaxMs };

/** A tenth more or less, so that what failed together does not come back together. */
export function withJitter(delayMs: number, random: number): number {
  return Math.round(delayMs * (0.9 + 0.2 * random));
}

/**
 * A delivery is due at its time, and also when that is further away than any delay after so many attempts: then it was
 * written by a clock that was ahead, such as that of a database server that failed since.
 */
export function dueMs({ attempts, dueAtMs }: { attempts: number; dueAtMs: number }, nowMs: number): number {
  return dueAtMs - nowMs > DELAYS_MS_MAX[Math.min(attempts, RETRY_DELAYS_MS.length)]! ? nowMs : dueAtMs;
}

export type Tried = { readonly attempts: number; readonly firstTryMs: number };

/** When a delivery is tried again after it failed; undefined when it is given up. */
export function nextTryMs(
  { attempts, firstTryMs }: Tried,
  nowMs: number,
  random: number,
): number | undefined {
  const lastMs = firstTryMs + LIMITS.webhookGiveUpMs;
  if (nowMs >= lastMs) return undefined;
  const delayMs = RETRY_DELAYS_MS[Math.min(attempts, RETRY_DELAYS_MS.length) - 1]!;
  return Math.min(nowMs + withJitter(delayMs, random), lastMs);
}

/** Of one endpoint. While `probeAtMs` is set the breaker is open: one request at a time, to see whether it is back. */
export type Breaker = {
  readonly failures: number;
  readonly failingSinceMs: number | null;
  readonly probeAtMs: number | null;
};

export const CLOSED: Breaker = { failures: 0, failingSinceMs: null, probeAtMs: null };

/** When an open breaker lets the next request through: at its time, or now when that cannot be right, as above. */
export function probeMs({ probeAtMs }: Breaker, nowMs: number): number | null {
  return probeAtMs !== null && probeAtMs - nowMs > PROBE_MS_MAX ? nowMs : probeAtMs;
}

/**
 * Only the first failure of a delivery opens the breaker, however often it fails again: one event that a receiver never
 * takes must not keep the others from it.
 */
export function afterFailure(breaker: Breaker, attempts: number, nowMs: number, random: number): Breaker {
  const failingSinceMs = breaker.failingSinceMs ?? nowMs;
  const nextProbeMs = probeMs(breaker, nowMs);
  const isOpen = nextProbeMs !== null;
  // Under way when the breaker opened: says nothing that is not known.
  if (isOpen && nowMs < nextProbeMs) return breaker;
  if (!isOpen && attempts > 1) return { ...breaker, failingSinceMs };
  const failures = breaker.failures + 1;
  const beyond = failures - LIMITS.webhookBreakerFailures;
  if (beyond < 0) return { failures, failingSinceMs, probeAtMs: null };
  const delayMs = backOffMs(PROBE_BACK_OFF, beyond + 1);
  return { failures, failingSinceMs, probeAtMs: nowMs + withJitter(delayMs, random) };
}

/**
 * The secret of the endpoint cannot be opened: nothing was sent, and every other event would fare the same. Opens the
 * breaker at once, so that events wait in the feed, and none is given up for a fault that is ours.
 */
export function afterUnreadable(breaker: Breaker, nowMs: number, random: number): Breaker {
  const failures = Math.max(breaker.failures, LIMITS.webhookBreakerFailures - 1);
  return afterFailure({ ...breaker, failures }, 1, nowMs, random);
}

/** Why an endpoint is to be disabled; undefined while it is not. */
export function disableReason(
  breaker: Breaker,
  status: number | undefined,
  nowMs: number,
): string | undefined {
  if (status === 410) return 'The receiver answered 410 Gone.';
  if (breaker.failingSinceMs === null || nowMs - breaker.failingSinceMs < LIMITS.webhookGiveUpMs)
    return undefined;
  return `No delivery has succeeded since ${new Date(breaker.failingSinceMs).toISOString()}.`;
}

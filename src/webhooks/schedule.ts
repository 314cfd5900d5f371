import { backOffMs } from '../kernel/back-off.ts';
import { LIMITS } from '../limits.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Delays between attempts, before jitter. They add up to three days; the last one repeats until then. */
const RETRY_DELAYS_MS: readonly number[] = [
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

/** An upper bound of the delay after 0, 1, 2, … attempts, jitter included. */
export const DELAYS_MS_MAX: readonly number[] = [0, ...RETRY_DELAYS_MS.map((delayMs) => (delayMs * 6) / 5)];

/** The same for a probe. */
export const PROBE_MS_MAX = (LIMITS.webhookProbeMaxMs * 6) / 5;

const PROBE_BACK_OFF = { firstMs: LIMITS.webhookProbeMinMs, maxMs: LIMITS.webhookProbeMaxMs };

/** Up to a tenth more or less, so that deliveries that failed together are not retried together. */
function withJitter(delayMs: number, random: number): number {
  return Math.round(delayMs * (0.9 + 0.2 * random));
}

/**
 * When a delivery is due: at its stored time; or now, if that time is further away than any delay after this number of
 * attempts, because a clock that was ahead wrote it, such as that of a database server that has failed since.
 */
export function dueMs({ attempts, dueAtMs }: { attempts: number; dueAtMs: number }, nowMs: number): number {
  return dueAtMs - nowMs > DELAYS_MS_MAX[Math.min(attempts, RETRY_DELAYS_MS.length)]! ? nowMs : dueAtMs;
}

export type Tried = { readonly attempts: number; readonly firstTryMs: number };

/** When a failed delivery is retried; undefined when no further attempt is made. */
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

/** The circuit breaker of one endpoint. While `probeAtMs` is set it is open: one request at a time probes the receiver. */
export type Breaker = {
  readonly failures: number;
  readonly failingSinceMs: number | null;
  readonly probeAtMs: number | null;
};

export const CLOSED: Breaker = { failures: 0, failingSinceMs: null, probeAtMs: null };

/** When an open breaker allows the next probe: at its stored time, or now, if that time cannot be right (see `dueMs`). */
export function probeMs({ probeAtMs }: Breaker, nowMs: number): number | null {
  return probeAtMs !== null && probeAtMs - nowMs > PROBE_MS_MAX ? nowMs : probeAtMs;
}

/**
 * Only the first failure of a delivery counts towards opening the breaker: one event that a receiver always rejects must
 * not hold up the others.
 */
export function afterFailure(breaker: Breaker, attempts: number, nowMs: number, random: number): Breaker {
  const failingSinceMs = breaker.failingSinceMs ?? nowMs;
  const nextProbeMs = probeMs(breaker, nowMs);
  const isOpen = nextProbeMs !== null;
  // The attempt was in flight when the breaker opened: its failure does not count.
  if (isOpen && nowMs < nextProbeMs) return breaker;
  if (!isOpen && attempts > 1) return { ...breaker, failingSinceMs };
  const failures = breaker.failures + 1;
  const beyond = failures - LIMITS.webhookBreakerFailures;
  if (beyond < 0) return { failures, failingSinceMs, probeAtMs: null };
  const delayMs = backOffMs(PROBE_BACK_OFF, beyond + 1);
  return { failures, failingSinceMs, probeAtMs: nowMs + withJitter(delayMs, random) };
}

/** Why to disable the endpoint; undefined if it stays enabled. */
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

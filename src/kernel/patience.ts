import { LIMITS } from '../limits.ts';
import { createGenerations } from './generations.ts';

/**
 * Refusals cost the service as much as a small request. A caller that repeats refused requests without a pause would keep the
 * thread busy with them, so the refusals of one client, or of one address without a valid token, are sent at a bounded rate:
 * the first few at once, further ones later and later.
 */
export type Patience = {
  /** How long to wait before the next refusal of this caller is sent. */
  delayMs(caller: string, nowMs: number): number;
};

export function createPatience(): Patience {
  /** When the refusals of a caller so far would have been sent, had all of them kept the interval. */
  const sentUntilMs = createGenerations<{ atMs: number }>(LIMITS.refusedCallersMax);
  const { refusalIntervalMs, refusalsAtOnceMax, refusalDelayMaxMs } = LIMITS;
  const aheadMs = refusalsAtOnceMax * refusalIntervalMs;
  return {
    delayMs(caller, nowMs) {
      let sent = sentUntilMs.get(caller);
      if (sent === undefined) {
        sent = { atMs: nowMs };
        sentUntilMs.set(caller, sent);
      }
      sent.atMs = Math.min(
        Math.max(sent.atMs, nowMs) + refusalIntervalMs,
        nowMs + aheadMs + refusalDelayMaxMs,
      );
      return Math.max(0, sent.atMs - nowMs - aheadMs);
    },
  };
}

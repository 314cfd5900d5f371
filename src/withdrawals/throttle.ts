import { backOffMs } from '../kernel/back-off.ts';
import { LIMITS } from '../limits.ts';
import type { RailReach } from './steps.ts';

/**
 * Limits the withdrawals that a node has in flight with one rail, and is its circuit breaker.
 *
 *            railFailuresMax failures in a row              the pause is over
 *   closed ────────────────────────────────────> open ────────────────────────> probing
 *      ^                                           ^       one withdrawal at a time │
 *      │               success                     └──────────── failure ───────────┤
 *      └────────────────────────────────────────────────────────────────────────────┘
 *
 * While a rail is unavailable, it is probed with a single withdrawal after each pause. So a hundred thousand withdrawals
 * that wait for it cost nothing, and other rails are not delayed.
 */
export type RailThrottle = {
  /** How many more withdrawals may be claimed now. */
  free(): number;
  enter(): void;
  leave(): void;
  /** The result of a step. */
  learn(reach: RailReach): void;
};

export function createRailThrottle(backoffFirstMs: number, nowMs: () => number): RailThrottle {
  let inFlight = 0;
  let failures = 0;
  let pauses = 0;
  let openUntilMs = 0;
  const isClosed = (): boolean => failures < LIMITS.railFailuresMax;
  return {
    free() {
      if (isClosed()) return LIMITS.railCallsMax - inFlight;
      return nowMs() < openUntilMs || inFlight > 0 ? 0 : 1;
    },
    enter() {
      inFlight += 1;
    },
    leave() {
      inFlight -= 1;
    },
    learn(reach) {
      if (reach === 'not called') return;
      if (reach === 'reached') {
        failures = 0;
        pauses = 0;
        return;
      }
      failures += 1;
      // Calls that were in flight together and fail are one outage: they start one pause.
      if (isClosed() || nowMs() < openUntilMs) return;
      pauses += 1;
      openUntilMs = nowMs() + backOffMs({ firstMs: backoffFirstMs, maxMs: LIMITS.railPauseMaxMs }, pauses);
    },
  };
}

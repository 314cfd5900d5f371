import { backOffMs } from '../kernel/back-off.ts';
import { LIMITS } from '../limits.ts';
import type { Reach } from './steps.ts';

/**
 * One rail's share of a node: how many withdrawals it has in flight, and a circuit breaker.
 *
 *            railFailuresMax failures in a row              the pause is over
 *   closed ────────────────────────────────────> open ────────────────────────> probing
 *      ^                                           ^       one withdrawal at a time │
 *      │               success                     └──────────── failure ───────────┤
 *      └────────────────────────────────────────────────────────────────────────────┘
 *
 * An unavailable rail is tried with a single payment now and then, so that a hundred thousand waiting withdrawals cost
 * nothing, and other rails are not delayed.
 */
export type RailLane = {
  /** How many more withdrawals may be claimed now. */
  free(): number;
  enter(): void;
  leave(): void;
  learn(reach: Reach): void;
};

export function createLane(backoffFirstMs: number, nowMs: () => number): RailLane {
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
      // Many calls that fail at once are one outage, not many.
      if (isClosed() || nowMs() < openUntilMs) return;
      pauses += 1;
      openUntilMs = nowMs() + backOffMs({ firstMs: backoffFirstMs, maxMs: LIMITS.railPauseMaxMs }, pauses);
    },
  };
}

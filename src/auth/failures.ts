import { createGenerations } from '../kernel/generations.ts';
import { LIMITS } from '../limits.ts';

/**
 * Failed logins per source address. They never count against the client that they name: its id is not secret, and an
 * attacker who knows it must not be able to lock it out. A right login from the same address succeeds as well, because
 * credentials are checked first, which takes microseconds. Each node counts on its own.
 */
export type Failures = {
  /** Counts one. Returns the seconds until the next attempt, zero if there were only a few. */
  count(source: string): number;
};

type Counted = { count: number; readonly endsAtMs: number };

export function createFailures(windowMs: number = LIMITS.failedLoginsWindowMs): Failures {
  const counted = createGenerations<Counted>(LIMITS.failedLoginSourcesMax);
  return {
    count(source) {
      const nowMs = performance.now();
      const found = counted.get(source);
      if (found === undefined || found.endsAtMs <= nowMs) {
        counted.set(source, { count: 1, endsAtMs: nowMs + windowMs });
        return 0;
      }
      found.count += 1;
      return found.count > LIMITS.failedLoginsMax ? Math.ceil((found.endsAtMs - nowMs) / 1_000) : 0;
    },
  };
}

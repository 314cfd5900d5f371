import { type Budget, createBudget, refill, waitMs } from '../kernel/budget.ts';
import { createGenerations } from '../kernel/generations.ts';
import { Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';

/** Counts a request to sign in; throws a problem if the source has made too many. Each node counts for itself. */
export type CountAttempt = (source: string) => void;

export function createCountAttempt(): CountAttempt {
  const budgets = createGenerations<Budget>(LIMITS.signInSourcesMax);
  return (source) => {
    const nowMs = performance.now();
    let budget = budgets.get(source);
    if (budget === undefined) {
      budget = createBudget(LIMITS.signInsPerSecond, LIMITS.signInBurstSeconds, nowMs);
      budgets.set(source, budget);
    }
    refill(budget, nowMs);
    const retryMs = waitMs(budget, 1);
    if (retryMs > 0) {
      throw new Problem(
        'rate-limited',
        `Too many requests to sign in from this address. Wait ${Math.ceil(retryMs / 1_000)} seconds.`,
        { retry_after_ms: retryMs },
        Math.ceil(retryMs / 1_000),
      );
    }
    budget.points -= 1;
  };
}

import { type Budget, createBudget, refill, waitMs } from '../kernel/budget.ts';
import { createGenerations } from '../kernel/generations.ts';
import { LIMITS } from '../limits.ts';
import { TokenError } from './token-request.ts';

/** Counts a token of the client; throws if it has asked for too many. Each node counts for itself. */
export type TakeToken = (clientId: string) => void;

export function createTakeToken(): TakeToken {
  const budgets = createGenerations<Budget>(LIMITS.knownClientsMax);
  return (clientId) => {
    const nowMs = performance.now();
    let budget = budgets.get(clientId);
    if (budget === undefined) {
      budget = createBudget(LIMITS.clientTokensPerSecond, LIMITS.rateSeconds, nowMs);
      budgets.set(clientId, budget);
    }
    refill(budget, nowMs);
    const retryMs = waitMs(budget, 1);
    if (retryMs > 0) {
      throw new TokenError(
        'temporarily_unavailable',
        `The client requests more than ${LIMITS.clientTokensPerSecond} tokens a second. A token is valid for an hour: reuse it.`,
        429,
        Math.ceil(retryMs / 1_000),
      );
    }
    budget.points -= 1;
  };
}

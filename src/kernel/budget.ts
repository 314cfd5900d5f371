/**
 * A token bucket: points arrive at a steady rate, up to a maximum that can be spent at once. Requests take points, and are
 * refused while there are too few.
 */
export type Budget = {
  readonly perSecond: number;
  readonly pointsMax: number;
  points: number;
  /** When `points` was computed; monotonic. */
  atMs: number;
};

export function createBudget(perSecond: number, seconds: number, nowMs: number): Budget {
  const pointsMax = perSecond * seconds;
  return { perSecond, pointsMax, points: pointsMax, atMs: nowMs };
}

export function refill(budget: Budget, nowMs: number): void {
  const arrived = ((nowMs - budget.atMs) * budget.perSecond) / 1_000;
  budget.points = Math.min(budget.pointsMax, budget.points + arrived);
  budget.atMs = nowMs;
}

/** A request that costs more than the maximum takes all of it: otherwise it could never be executed. */
export function pointsFrom(budget: Budget, points: number): number {
  return Math.min(points, budget.pointsMax);
}

/** How long until a refilled budget has these points; zero if it has them. */
export function waitMs(budget: Budget, points: number): number {
  const missing = pointsFrom(budget, points) - budget.points;
  return missing <= 0 ? 0 : Math.ceil((missing * 1_000) / budget.perSecond);
}

/** The request cost less than it took. */
export function giveBack(budget: Budget, taken: number, cost: number): void {
  const saved = pointsFrom(budget, taken) - pointsFrom(budget, cost);
  if (saved > 0) budget.points = Math.min(budget.pointsMax, budget.points + saved);
}

/**
 * A token bucket: units arrive at a steady rate, up to a maximum that can be spent at once. Requests take units, and are
 * refused while there are too few.
 */
export type Budget = {
  readonly perSecond: number;
  readonly unitsMax: number;
  units: number;
  /** When `units` was computed; monotonic. */
  atMs: number;
};

export function createBudget(perSecond: number, seconds: number, nowMs: number): Budget {
  const unitsMax = perSecond * seconds;
  return { perSecond, unitsMax, units: unitsMax, atMs: nowMs };
}

export function refill(budget: Budget, nowMs: number): void {
  const arrived = ((nowMs - budget.atMs) * budget.perSecond) / 1_000;
  budget.units = Math.min(budget.unitsMax, budget.units + arrived);
  budget.atMs = nowMs;
}

/** A request that costs more than the maximum takes all of it: otherwise it could never be executed. */
export function unitsFrom(budget: Budget, units: number): number {
  return Math.min(units, budget.unitsMax);
}

/** How long until a refilled budget has these units; zero if it has them. */
export function waitMs(budget: Budget, units: number): number {
  const missing = unitsFrom(budget, units) - budget.units;
  return missing <= 0 ? 0 : Math.ceil((missing * 1_000) / budget.perSecond);
}

export function giveBack(budget: Budget, units: number): void {
  budget.units = Math.min(budget.unitsMax, budget.units + units);
}

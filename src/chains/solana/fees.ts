import type { PriorityPolicy } from './settings.ts';

/** What every signature costs, in lamports. */
export const LAMPORTS_PER_SIGNATURE = 5_000n;

const MICRO = 1_000_000n;

export const priorityLamports = (computeBudget: number, price: bigint): bigint =>
  (BigInt(computeBudget) * price + MICRO - 1n) / MICRO;

/** The price of a compute unit that more than so many percent of recent blocks have asked for, within the bounds. */
export function marketPrice(
  recent: readonly bigint[],
  { priceMin, priceMax, percentile }: PriorityPolicy,
): bigint {
  const sorted = recent.toSorted((a, b) => (a < b ? -1 : Number(a > b)));
  const place = Math.ceil((sorted.length * percentile) / 100) - 1;
  const price = sorted[Math.max(place, 0)] ?? 0n;
  if (price < priceMin) return priceMin;
  return price > priceMax ? priceMax : price;
}

/**
 * The price of the next version. The first pays the market's price. A later one is made only if the market has passed the last
 * one, and pays at least a quarter more, so that a slowly rising market does not lead to a version for each block. Undefined if
 * the last version is good enough, or already pays the most.
 */
export function nextPrice(
  market: bigint,
  lastPrice: bigint | undefined,
  { priceMax }: PriorityPolicy,
): bigint | undefined {
  if (lastPrice === undefined) return market;
  if (market <= lastPrice || lastPrice >= priceMax) return undefined;
  const raised = (lastPrice * 5n + 3n) / 4n;
  const price = market > raised ? market : raised;
  return price > priceMax ? priceMax : price;
}

/** A fifth more than the simulation has used: the state of accounts may change what a transfer costs. */
export const computeLimit = (used: number, max: number): number =>
  Math.min(Math.ceil(used * 1.2) + 1_000, max);

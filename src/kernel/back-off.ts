/** Delays between failed attempts: the first one, then twice as long each time, up to a maximum. */
export type BackOff = { readonly firstMs: number; readonly maxMs: number };

/** The delay after this many consecutive failures, counted from one. */
export function backOffMs({ firstMs, maxMs }: BackOff, failures: number): number {
  // With 2^30 every maximum is reached; larger powers would overflow to Infinity.
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
}

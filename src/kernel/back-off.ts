/** Delays between attempts that fail: the first, then twice as long each time, up to a maximum. */
export type BackOff = { readonly firstMs: number; readonly maxMs: number };

/** The delay after so many failures in a row, counted from one. */
export function backOffMs({ firstMs, maxMs }: BackOff, failures: number): number {
  // Beyond 2^30 the maximum is reached in any case, and the power would lose its meaning.
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
}

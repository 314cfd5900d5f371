import type { Instant } from './instant.ts';

/** The current time, for comparisons with stored times. Intervals are measured with `performance.now()`. */
export type Clock = {
  now(): Instant;
  /** Whole milliseconds since 1970. */
  nowMs(): number;
};

import type { Instant } from './instant.ts';

/** What time it is, for whatever is compared with stored times. Intervals are measured with `performance.now()`. */
export type Clock = {
  now(): Instant;
  /** Whole milliseconds since 1970. */
  nowMs(): number;
};

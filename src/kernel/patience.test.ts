import { describe, expect, it } from 'vitest';
import { LIMITS } from '../limits.ts';
import { createPatience } from './patience.ts';

const { refusalsAtOnceMax, refusalIntervalMs, refusalDelayMaxMs } = LIMITS;

describe('patience', () => {
  it('sends the first refusals of a caller at once, and further ones at an interval', () => {
    const patience = createPatience();
    const delays = Array.from({ length: refusalsAtOnceMax + 3 }, () => patience.delayMs('a', 0));
    expect(delays.slice(0, refusalsAtOnceMax)).toEqual(Array.from({ length: refusalsAtOnceMax }, () => 0));
    expect(delays.slice(refusalsAtOnceMax)).toEqual([1, 2, 3].map((count) => count * refusalIntervalMs));
    expect(patience.delayMs('b', 0)).toBe(0);
  });

  it('bounds the delay, and forgets what was long ago', () => {
    const patience = createPatience();
    for (let count = 0; count < 5_000; count += 1)
      expect(patience.delayMs('a', 0)).toBeLessThanOrEqual(refusalDelayMaxMs);
    expect(patience.delayMs('a', 0)).toBe(refusalDelayMaxMs);
    expect(patience.delayMs('a', 10 * refusalDelayMaxMs)).toBe(0);
  });
});

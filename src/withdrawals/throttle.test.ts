import { describe, expect, it } from 'vitest';
import { LIMITS } from '../limits.ts';
import { createRailThrottle } from './throttle.ts';

const FIRST_PAUSE_MS = 100;

function throttleAt(startMs: number) {
  let nowMs = startMs;
  const throttle = createRailThrottle(FIRST_PAUSE_MS, () => nowMs);
  return {
    throttle,
    advance: (milliseconds: number) => {
      nowMs += milliseconds;
    },
    fail: (times: number) => {
      for (let count = 0; count < times; count += 1) throttle.learn('unavailable');
    },
  };
}

describe('the throttle of a rail', () => {
  it('allows as many withdrawals at once as the limit says', () => {
    const { throttle } = throttleAt(0);
    expect(throttle.free()).toBe(LIMITS.railCallsMax);
    throttle.enter();
    expect(throttle.free()).toBe(LIMITS.railCallsMax - 1);
    throttle.leave();
    expect(throttle.free()).toBe(LIMITS.railCallsMax);
  });

  it('pauses after consecutive failures, and then probes with a single withdrawal', () => {
    const { throttle, advance, fail } = throttleAt(1_000);
    fail(LIMITS.railFailuresMax - 1);
    expect(throttle.free()).toBe(LIMITS.railCallsMax);
    fail(1);
    expect(throttle.free()).toBe(0);
    advance(FIRST_PAUSE_MS);
    expect(throttle.free()).toBe(1);
    throttle.enter();
    expect(throttle.free()).toBe(0);
  });

  it('doubles the pause after every failed probe, up to a maximum', () => {
    const { throttle, advance, fail } = throttleAt(1_000);
    fail(LIMITS.railFailuresMax);
    for (let pauseMs = FIRST_PAUSE_MS; pauseMs < LIMITS.railPauseMaxMs; pauseMs *= 2) {
      advance(pauseMs - 1);
      expect(throttle.free()).toBe(0);
      advance(1);
      expect(throttle.free()).toBe(1);
      fail(1);
    }
    advance(LIMITS.railPauseMaxMs);
    expect(throttle.free()).toBe(1);
  });

  it('counts the failures of calls that were in flight together as one outage', () => {
    const { throttle, advance, fail } = throttleAt(1_000);
    fail(LIMITS.railFailuresMax + 50);
    advance(FIRST_PAUSE_MS);
    expect(throttle.free()).toBe(1);
  });

  it('allows the full number again after one answer', () => {
    const { throttle, fail } = throttleAt(1_000);
    fail(LIMITS.railFailuresMax);
    throttle.learn('not called');
    expect(throttle.free()).toBe(0);
    throttle.learn('reached');
    expect(throttle.free()).toBe(LIMITS.railCallsMax);
  });
});

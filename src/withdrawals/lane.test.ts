import { describe, expect, it } from 'vitest';
import { LIMITS } from '../limits.ts';
import { createLane } from './lane.ts';

const FIRST_PAUSE_MS = 100;

function laneAt(startMs: number) {
  let nowMs = startMs;
  const lane = createLane(FIRST_PAUSE_MS, () => nowMs);
  return {
    lane,
    advance: (milliseconds: number) => {
      nowMs += milliseconds;
    },
    fail: (times: number) => {
      for (let count = 0; count < times; count += 1) lane.learn('unavailable');
    },
  };
}

describe('the lane of a rail', () => {
  it('has room for as many withdrawals as the rail may have at once', () => {
    const { lane } = laneAt(0);
    expect(lane.free()).toBe(LIMITS.railCallsMax);
    lane.enter();
    expect(lane.free()).toBe(LIMITS.railCallsMax - 1);
    lane.leave();
    expect(lane.free()).toBe(LIMITS.railCallsMax);
  });

  it('pauses after failures in a row, and then tries a single withdrawal', () => {
    const { lane, advance, fail } = laneAt(1_000);
    fail(LIMITS.railFailuresMax - 1);
    expect(lane.free()).toBe(LIMITS.railCallsMax);
    fail(1);
    expect(lane.free()).toBe(0);
    advance(FIRST_PAUSE_MS);
    expect(lane.free()).toBe(1);
    lane.enter();
    expect(lane.free()).toBe(0);
  });

  it('doubles its pause with every probe that fails, up to a maximum', () => {
    const { lane, advance, fail } = laneAt(1_000);
    fail(LIMITS.railFailuresMax);
    for (let pauseMs = FIRST_PAUSE_MS; pauseMs < LIMITS.railPauseMaxMs; pauseMs *= 2) {
      advance(pauseMs - 1);
      expect(lane.free()).toBe(0);
      advance(1);
      expect(lane.free()).toBe(1);
      fail(1);
    }
    advance(LIMITS.railPauseMaxMs);
    expect(lane.free()).toBe(1);
  });

  it('takes failures of calls that were in flight together for one outage', () => {
    const { lane, advance, fail } = laneAt(1_000);
    fail(LIMITS.railFailuresMax + 50);
    advance(FIRST_PAUSE_MS);
    expect(lane.free()).toBe(1);
  });

  it('has full room again after one answer', () => {
    const { lane, fail } = laneAt(1_000);
    fail(LIMITS.railFailuresMax);
    lane.learn('not called');
    expect(lane.free()).toBe(0);
    lane.learn('reached');
    expect(lane.free()).toBe(LIMITS.railCallsMax);
  });
});

import { describe, expect, it } from 'vitest';
import { createBudget, giveBack, pointsFrom, refill, waitMs } from './budget.ts';

describe('a budget', () => {
  it('has unused points of a few seconds, and gets more at its rate', () => {
    const budget = createBudget(100, 2, 1_000);
    expect(waitMs(budget, 200)).toBe(0);
    budget.points -= 200;
    expect(waitMs(budget, 1)).toBe(10);
    refill(budget, 1_500);
    expect(budget.points).toBe(50);
    expect(waitMs(budget, 60)).toBe(100);
    refill(budget, 60_000);
    expect(budget.points).toBe(200);
  });

  it('lets a request pass that costs more than it can ever have', () => {
    const budget = createBudget(10, 2, 0);
    expect(pointsFrom(budget, 81)).toBe(20);
    expect(waitMs(budget, 81)).toBe(0);
    budget.points -= pointsFrom(budget, 81);
    expect(waitMs(budget, 81)).toBe(2_000);
  });

  it('never has more than its maximum, whatever is given back', () => {
    const budget = createBudget(10, 2, 0);
    giveBack(budget, 6, 1);
    expect(budget.points).toBe(20);
  });

  it('gets back no more than was taken from it', () => {
    const budget = createBudget(10, 2, 0);
    budget.points -= pointsFrom(budget, 81);
    giveBack(budget, 81, 3);
    expect(budget.points).toBe(17);
    giveBack(budget, 2, 50);
    expect(budget.points).toBe(17);
  });

  it('allows its rate over a long time, however the requests are spread', () => {
    const budget = createBudget(100, 2, 0);
    let served = 0;
    for (let nowMs = 0; nowMs < 100_000; nowMs += 1) {
      refill(budget, nowMs);
      const points = 1 + (nowMs % 7);
      if (waitMs(budget, points) > 0) continue;
      budget.points -= points;
      served += points;
    }
    expect(served).toBeLessThanOrEqual(100 * 100 + 200);
    expect(served).toBeGreaterThan(100 * 100 - 10);
  });
});

import { describe, expect, it } from 'vitest';
import { createGate } from './gate.ts';

const LOOK_MS = 20;
const TARGET_MS = 100;
const INTERVAL_MS = 100;
const WAITING_MIN = 50;

/** A queue that serves so many a second, in simulated time; arrivals pass the gate. */
function simulate(servedPerSecond: number, turnMs = LOOK_MS, targetMs = TARGET_MS) {
  let waiting = 0;
  let entered = 0;
  let due = 0;
  const gate = createGate({
    queue: { waiting: () => waiting, entered: () => entered },
    targetMs,
    crowd: WAITING_MIN,
    waitingMin: WAITING_MIN,
    intervalMs: INTERVAL_MS,
  });
  const totals = { served: 0, refused: 0, waitingPeak: 0 };
  return {
    gate,
    totals,
    waiting: () => waiting,
    run(seconds: number, arrivalsPerSecond: number, lateMs = 0): typeof totals {
      const before = { ...totals };
      totals.waitingPeak = 0;
      for (let look = 0; look < (seconds * 1_000) / turnMs; look += 1) {
        for (let arrival = 0; arrival < (arrivalsPerSecond * turnMs) / 1_000; arrival += 1) {
          if (waiting >= gate.waitingMax) {
            gate.refused();
            totals.refused += 1;
          } else {
            waiting += 1;
            entered += 1;
          }
        }
        due += (servedPerSecond * turnMs) / 1_000;
        const served = Math.min(waiting, Math.floor(due));
        due = waiting === served ? 0 : due - served;
        waiting -= served;
        totals.served += served;
        totals.waitingPeak = Math.max(totals.waitingPeak, waiting);
        gate.look(turnMs, lateMs);
      }
      return {
        served: totals.served - before.served,
        refused: totals.refused - before.refused,
        waitingPeak: totals.waitingPeak,
      };
    },
  };
}

describe('a gate', () => {
  it('refuses nothing while the queue keeps up', () => {
    const { run, gate } = simulate(5_000);
    expect(run(5, 4_900).refused).toBe(0);
    expect(gate.waitingMax).toBe(Number.POSITIVE_INFINITY);
  });

  it('serves a burst that is over within the interval, however many requests it has', () => {
    const { run } = simulate(5_000);
    run(1, 4_000);
    expect(run(0.1, 9_000).refused).toBe(0);
    expect(run(2, 4_000).refused).toBe(0);
  });

  it('lets in what the queue serves in time at three times its rate: it never runs empty, and nobody waits long', () => {
    const { run, gate } = simulate(5_000);
    run(1, 15_000);
    const { served, refused, waitingPeak } = run(10, 15_000);
    expect(gate.isShedding()).toBe(true);
    expect(served).toBeGreaterThan(0.98 * 50_000);
    expect(refused).toBeGreaterThan(0.98 * 100_000);
    // 5,000 a second serve 500 in the target of 100 ms.
    expect(waitingPeak).toBeLessThan(700);
    expect(gate.waitMs).toBeLessThan(1.5 * TARGET_MS);
  });

  it('lets in what the queue serves until the next turn of the event loop, however long a turn takes', () => {
    const turnMs = 100;
    const { run, gate } = simulate(5_000, turnMs, LOOK_MS);
    run(1, 15_000, turnMs - LOOK_MS);
    const { served, waitingPeak } = run(10, 15_000, turnMs - LOOK_MS);
    expect(gate.isShedding()).toBe(true);
    expect(served).toBeGreaterThan(0.95 * 50_000);
    expect(waitingPeak).toBeLessThan(1_200);
  });

  it('adapts to a queue that is served more slowly than before', () => {
    const fast = simulate(5_000);
    fast.run(1, 4_000);
    const slow = simulate(1_000);
    slow.run(1, 3_000);
    expect(slow.run(5, 3_000).waitingPeak).toBeLessThan(150);
  });

  it('opens again after an interval without a refusal', () => {
    const { run, gate } = simulate(5_000);
    run(2, 15_000);
    expect(gate.isShedding()).toBe(true);
    run(0.5, 2_000);
    expect(gate.isShedding()).toBe(false);
    expect(run(2, 4_500).refused).toBe(0);
  });

  it('always lets a few wait, even if they are not served at all or the machine is slow', () => {
    const stuck = simulate(0);
    stuck.run(2, 1_000);
    expect(stuck.gate.waitMs).toBe(Number.POSITIVE_INFINITY);
    expect(stuck.gate.waitingMax).toBe(WAITING_MIN);
    const slow = simulate(1_000);
    expect(slow.run(5, 900, 5 * TARGET_MS).refused).toBe(0);
    expect(slow.gate.isShedding()).toBe(false);
  });
});

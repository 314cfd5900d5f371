import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import { backOffMs } from '../kernel/back-off.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import { type Repeated, repeat } from '../kernel/repeat.ts';
import { LIMITS } from '../limits.ts';
import type { Claimed } from './states.ts';
import { createPayout, type PayoutDependencies, type PayoutTiming, type Reach } from './steps.ts';
import { claimDue, type Lane, pullBack, wakeWithdrawals } from './store.ts';

export const PAYOUT_TIMING: PayoutTiming = {
  leaseMs: LIMITS.withdrawalLeaseMs,
  callTimeoutMs: LIMITS.railCallTimeoutMs,
  backoffFirstMs: LIMITS.railBackoffFirstMs,
  backoffMaxMs: LIMITS.railBackoffMaxMs,
  offsetNs: () => 0n,
};

export type WithdrawalWorker = Pick<Repeated, 'start' | 'stop'> & {
  /** Claims what is due now and waits until all of it is a step further. Says how many there were. */
  runDue(): Promise<number>;
};

type Dependencies = PayoutDependencies & {
  readonly database: Database;
  readonly failed: (error: unknown) => void;
  /** For whoever watches. */
  readonly called?: (rail: string, reach: 'reached' | 'unavailable') => void;
};

/** One rail's share of this node: what it has in hand, and whether the rail answers. */
type LaneState = { inHand: number; failures: number; pauses: number; closedUntilMs: number };

/**
 * Looks for withdrawals that are due and brings each a step further. Any number of nodes do this side by side. Rails
 * have lanes of their own: one that is slow or down takes nothing from the others. One that is down is tried with a
 * single payment now and then, so that a hundred thousand waiting ones cost nothing.
 */
export function createWithdrawalWorker(dependencies: Dependencies): WithdrawalWorker {
  const { database, rails, timing, failed } = dependencies;
  const advance = createPayout(dependencies);
  const lanes = new Map<string, LaneState>(
    rails.list.map(({ name }) => [name, { inHand: 0, failures: 0, pauses: 0, closedUntilMs: 0 }]),
  );
  const running = new Set<Promise<void>>();
  let nextLookAheadMs = 0;

  /** Monotonic: a lane that is closed for a second opens after a second, whatever is done to the wall clock. */
  const nowMs = (): number => performance.now() + Number(timing.offsetNs() / NS_PER_MS);

  function free(lane: LaneState): number {
    if (lane.failures < LIMITS.railFailuresMax) return LIMITS.railCallsMax - lane.inHand;
    return nowMs() < lane.closedUntilMs || lane.inHand > 0 ? 0 : 1;
  }

  function learn(rail: string, lane: LaneState, reach: Reach): void {
    if (reach === 'not called') return;
    dependencies.called?.(rail, reach);
    if (reach === 'reached') {
      lane.failures = 0;
      lane.pauses = 0;
      return;
    }
    lane.failures += 1;
    // Many that fail at once are one outage, not many.
    if (lane.failures < LIMITS.railFailuresMax || nowMs() < lane.closedUntilMs) return;
    lane.pauses += 1;
    const backOff = { firstMs: timing.backoffFirstMs, maxMs: LIMITS.railPauseMaxMs };
    lane.closedUntilMs = nowMs() + backOffMs(backOff, lane.pauses);
  }

  async function handle(claimed: Claimed): Promise<void> {
    const lane = lanes.get(claimed.work.rail)!;
    try {
      learn(claimed.work.rail, lane, await advance(claimed));
    } catch (error) {
      // Its lease runs out, and somebody looks at it again.
      failed(error);
    } finally {
      lane.inHand -= 1;
    }
  }

  /** The longest times that are set: back-off and lease where the rail is not asked, otherwise what rails wish for. */
  async function lookAhead(offsetNs: bigint): Promise<void> {
    if (performance.now() < nextLookAheadMs) return;
    const rowsMax = LIMITS.withdrawalsWokenMax;
    const soonNs = BigInt(Math.max(timing.backoffMaxMs, timing.leaseMs)) * NS_PER_MS;
    const askNs = BigInt(LIMITS.withdrawalAskMaxMs) * NS_PER_MS;
    const moved = await pullBack(database, [...lanes.keys()], offsetNs, { soonNs, askNs, rowsMax });
    nextLookAheadMs = moved === rowsMax ? 0 : performance.now() + LIMITS.withdrawalAheadLookMs;
  }

  async function claim(): Promise<Promise<void>[]> {
    const offsetNs = timing.offsetNs();
    await wakeWithdrawals(database, offsetNs, LIMITS.withdrawalsWokenMax);
    await lookAhead(offsetNs);
    const open: Lane[] = [];
    for (const [rail, lane] of lanes) {
      const places = free(lane);
      if (places > 0) open.push({ rail, free: places });
    }
    if (open.length === 0) return [];
    const claimed = await claimDue(database, open, offsetNs, BigInt(timing.leaseMs) * NS_PER_MS);
    return claimed.map((one) => {
      lanes.get(one.work.rail)!.inHand += 1;
      const task = handle(one).finally(() => running.delete(task));
      running.add(task);
      return task;
    });
  }

  const loop = repeat(
    LIMITS.withdrawalPollMs,
    async () => ((await claim()).length > 0 ? 'again' : 'wait'),
    failed,
  );
  return {
    start: (firstDelayMs) => loop.start(firstDelayMs),
    async stop() {
      await loop.stop();
      // A call that hangs is left: after the process has ended it is as unknown as after a crash, and is asked about.
      await Promise.race([Promise.all(running), sleep(LIMITS.workerStopMs, undefined, { ref: false })]);
    },
    async runDue() {
      const tasks = await claim();
      await Promise.all(tasks);
      return tasks.length;
    },
  };
}

import type { Database } from '../database/database.ts';
import { NS_PER_MS } from '../kernel/instant.ts';
import { repeat } from '../kernel/repeat.ts';
import { atMost, type Worker } from '../kernel/worker.ts';
import { LIMITS } from '../limits.ts';
import type { Transfer } from '../transfers/transfer.ts';
import type { Claimed } from './states.ts';
import { advance, type PayoutTiming, type StepDependencies } from './steps.ts';
import { type ClaimLimit, claimDue, pullBack, wakeWithdrawals } from './store.ts';
import { createRailThrottle, type RailThrottle } from './throttle.ts';

export const PAYOUT_TIMING: PayoutTiming = {
  leaseMs: LIMITS.withdrawalLeaseMs,
  callTimeoutMs: LIMITS.railCallTimeoutMs,
  backoffFirstMs: LIMITS.railBackoffFirstMs,
  backoffMaxMs: LIMITS.railBackoffMaxMs,
  offsetNs: () => 0n,
};

export type WithdrawalWorker = Worker & {
  /** Claims what is due now, and waits until a step of each was executed. Returns how many were claimed. */
  runDue(): Promise<number>;
};

export type WorkerDependencies = StepDependencies & {
  readonly database: Database;
  readonly transfersById: (ids: readonly string[]) => Promise<ReadonlyMap<string, Transfer>>;
  readonly failed: (error: unknown) => void;
  /** For metrics. */
  readonly called?: (rail: string, reach: 'reached' | 'unavailable') => void;
};

async function handle(parts: WorkerDependencies, throttle: RailThrottle, claimed: Claimed): Promise<void> {
  const { rail } = claimed.work;
  throttle.enter();
  try {
    const reach = await advance(parts, claimed);
    if (reach !== 'not called') parts.called?.(rail, reach);
    throttle.learn(reach);
  } catch (error) {
    // The withdrawal is claimed again when the lease has expired.
    parts.failed(error);
  } finally {
    throttle.leave();
  }
}

/** Claims due withdrawals and executes the next step of each. Any number of nodes can do this at the same time. */
export function createWithdrawalWorker(parts: WorkerDependencies): WithdrawalWorker {
  const { database, rails, timing, failed } = parts;
  // Monotonic, so that a change of the wall clock does not affect pauses.
  const nowMs = (): number => performance.now() + Number(timing.offsetNs() / NS_PER_MS);
  const throttles = new Map(
    rails.list.map(({ name }) => [name as string, createRailThrottle(timing.backoffFirstMs, nowMs)]),
  );
  const running = new Set<Promise<void>>();
  let nextRepairMs = 0;

  /** Calls `pullBack` at an interval. Its bounds are the longest times that workers set. */
  async function repairDueTimes(offsetNs: bigint): Promise<void> {
    if (performance.now() < nextRepairMs) return;
    const rowsMax = LIMITS.withdrawalsWokenMax;
    const soonNs = BigInt(Math.max(timing.backoffMaxMs, timing.leaseMs)) * NS_PER_MS;
    const askNs = BigInt(LIMITS.withdrawalAskMaxMs) * NS_PER_MS;
    const moved = await pullBack(database, [...throttles.keys()], offsetNs, { soonNs, askNs, rowsMax });
    nextRepairMs = moved === rowsMax ? 0 : performance.now() + LIMITS.withdrawalAheadLookMs;
  }

  async function claim(): Promise<Promise<void>[]> {
    const offsetNs = timing.offsetNs();
    await wakeWithdrawals(database, offsetNs, LIMITS.withdrawalsWokenMax);
    await repairDueTimes(offsetNs);
    const limits: ClaimLimit[] = [];
    for (const [rail, throttle] of throttles) {
      const free = throttle.free();
      if (free > 0) limits.push({ rail, free });
    }
    if (limits.length === 0) return [];
    const claimed = await claimDue(database, limits, offsetNs, BigInt(timing.leaseMs) * NS_PER_MS);
    if (claimed.length === 0) return [];
    const transfers = await parts.transfersById(claimed.map(({ work }) => work.transferId));
    return claimed.map(({ work, nowNs }) => {
      const transfer = transfers.get(work.transferId)!;
      const task = handle(parts, throttles.get(work.rail)!, { work, nowNs, transfer }).finally(() =>
        running.delete(task),
      );
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
    name: 'withdrawals',
    stage: 'edge',
    start: () => loop.start(),
    // A rail call that hangs is abandoned. Its outcome is then unknown, as after a crash, and the rail is asked.
    stop: () =>
      atMost(
        LIMITS.workerStopMs,
        loop.stop().then(() => Promise.all(running)),
      ),
    async runDue() {
      const tasks = await claim();
      await Promise.all(tasks);
      return tasks.length;
    },
  };
}

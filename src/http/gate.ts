import type { Queue } from '../kernel/queue.ts';
import { LIMITS } from '../limits.ts';

/**
 * Decides how many requests may wait in a queue, by how long they wait (as CoDel does for packets, RFC 8289):
 *
 *            many wait, and longer than the target, for an interval
 *   OPEN  ───────────────────────────────────────────────────────────>  SHEDDING
 *         <───────────────────────────────────────────────────────────
 *                an interval without a refusal or a long wait
 *
 * In OPEN any number may wait, so that a burst is served. In SHEDDING as many as the queue serves within the target: it never
 * runs empty, and every request that is let in is served in time. A short queue is no overload, however slow the machine.
 *
 * Requests are let in only when the event loop reads them, all at once in every turn. In an overload with thousands of
 * connections a turn takes long, so as many more may wait as are served until the next one.
 */
export type Gate = {
  /** New requests are refused while this many wait. */
  readonly waitingMax: number;
  /** How long a request that enters now has to wait, as estimated at the last look. */
  readonly waitMs: number;
  isShedding(): boolean;
  /** Called at a regular interval. `lateMs` is how long requests wait before the service reads them. */
  look(elapsedMs: number, lateMs: number): void;
  /** Called for every request that was refused. */
  refused(): void;
};

export type GateOptions = {
  readonly queue: Queue;
  readonly targetMs: number;
  /** With fewer, it does not begin to shed. */
  readonly crowd: number;
  /** How many may always wait: enough to keep the queue busy. */
  readonly waitingMin: number;
  readonly intervalMs?: number;
};

/** The rate at which the queue is served is averaged over about this time. */
const AVERAGED_MS = 300;

/** Requests per millisecond that leave the queue. While nothing waits, that says nothing about what it could serve. */
function createServiceRate(queue: Queue): { measure(elapsedMs: number): number } {
  let waiting = queue.waiting();
  let entered = queue.entered();
  let perMs = 0;
  return {
    measure(elapsedMs) {
      const [waitedBefore, enteredBefore] = [waiting, entered];
      waiting = queue.waiting();
      entered = queue.entered();
      if (waitedBefore === 0 && waiting === 0) return perMs;
      const left = Math.max(0, waitedBefore + entered - enteredBefore - waiting);
      const weight = perMs === 0 ? 1 : 1 - Math.exp(-elapsedMs / AVERAGED_MS);
      perMs += (left / elapsedMs - perMs) * weight;
      return perMs;
    },
  };
}

export function createGate(options: GateOptions): Gate {
  const { queue, targetMs, crowd, waitingMin, intervalMs = LIMITS.admissionIntervalMs } = options;
  const rate = createServiceRate(queue);
  let isShedding = false;
  let waitingMax = Number.POSITIVE_INFINITY;
  let waitMs = 0;
  /** How late the event loop is, averaged. */
  let lagMs = 0;
  let hasRefused = false;
  /** How long the condition for the other state has held; undefined if it does not hold. */
  let heldMs: number | undefined;

  function isOtherwise(): boolean {
    const isLong = waitMs > targetMs;
    return isShedding ? !isLong && !hasRefused : isLong && queue.waiting() >= crowd;
  }

  return {
    get waitingMax() {
      return waitingMax;
    },
    get waitMs() {
      return waitMs;
    },
    isShedding: () => isShedding,
    look(elapsedMs, lateMs) {
      const perMs = rate.measure(elapsedMs);
      lagMs += (lateMs - lagMs) * (1 - Math.exp(-elapsedMs / AVERAGED_MS));
      const waiting = queue.waiting();
      waitMs = lateMs + (waiting === 0 ? 0 : waiting / perMs);
      heldMs = isOtherwise() ? (heldMs === undefined ? 0 : heldMs + elapsedMs) : undefined;
      hasRefused = false;
      if (heldMs !== undefined && heldMs >= intervalMs) {
        isShedding = !isShedding;
        heldMs = undefined;
      }
      waitingMax = isShedding
        ? Math.max(waitingMin, perMs * targetMs) + perMs * lagMs
        : Number.POSITIVE_INFINITY;
    },
    refused() {
      hasRefused = true;
    },
  };
}

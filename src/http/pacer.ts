import type { IncomingMessage, ServerResponse } from 'node:http';
import { LIMITS } from '../limits.ts';

/**
 * Starts reads only as fast as the thread and the database have time for them. A page of a thousand rows occupies the thread
 * for 20 ms, and ten of them at once for 200, during which no transfer makes progress. So while the thread is late, reads wait
 * here, and get about a third of its time: after one that delayed everything else, the next one waits for twice as long.
 *
 *                the thread is late, for an interval
 *   DIRECT  ───────────────────────────────────────────>  PACED
 *           <───────────────────────────────────────────
 *             it is on time for an interval, and no read waits
 */
export type Pacer = {
  /** Whether a read has to wait here. */
  isBusy(): boolean;
  hold(read: Held): void;
  /** Reads that have not been started. */
  waiting(): number;
  /** Takes back the read that has waited for the shortest time. */
  takeBack(): Held | undefined;
  /** Called at a regular interval with how late the thread is. */
  look(elapsedMs: number, lateMs: number): void;
  stop(): void;
};

export type Held = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
};

/** At first one read per step, then twice as many with each step that was on time. */
const STEP_MS = 1;
const STEP_READS_MAX = 64;

function start({ request, response, handle }: Held): void {
  // The client may have disconnected meanwhile.
  if (!response.closed) handle(request, response);
}

/** `hasRoom` is false while enough reads wait for a connection of the database. */
export function createPacer(hasRoom: () => boolean): Pacer {
  const held: Held[] = [];
  let isPaced = false;
  /** How long the condition for the other state has lasted. */
  let lastedMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let reads = 1;

  function schedule(delayMs: number): void {
    const dueMs = performance.now() + delayMs;
    timer = setTimeout(() => {
      timer = undefined;
      step(performance.now() - dueMs);
    }, delayMs);
  }

  function step(lateMs: number): void {
    if (lateMs > LIMITS.pacedLateMs) {
      reads = 1;
      schedule(2 * lateMs);
      return;
    }
    for (let count = 0; count < reads && held.length > 0 && hasRoom(); count += 1) start(held.shift()!);
    reads = Math.min(2 * reads, STEP_READS_MAX);
    if (held.length > 0) schedule(STEP_MS);
  }

  return {
    isBusy: () => isPaced || held.length > 0 || !hasRoom(),
    hold(read) {
      held.push(read);
      if (timer === undefined) schedule(STEP_MS);
    },
    waiting: () => held.length,
    takeBack: () => held.pop(),
    look(elapsedMs, lateMs) {
      const isLate = lateMs > LIMITS.pacedFromLateMs;
      const isOtherwise = isPaced ? !isLate && held.length === 0 : isLate;
      lastedMs = isOtherwise ? lastedMs + elapsedMs : 0;
      if (lastedMs < LIMITS.admissionIntervalMs) return;
      isPaced = !isPaced;
      lastedMs = 0;
    },
    stop() {
      clearTimeout(timer);
      for (const read of held.splice(0)) start(read);
    },
  };
}

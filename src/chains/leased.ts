import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { createLoop } from '../kernel/loop.ts';
import { atMost, type Worker } from '../kernel/worker.ts';
import { LIMITS } from '../limits.ts';
import { endLease, holdLease, LeaseLost, renewLease, type Task } from './lease-store.ts';

/** Work that one node does at a time: its turns run while it holds the lease. */
export type LeasedWorker = Worker & {
  wake(): void;
  /** One turn now, for tests. Undefined if another node has the lease; otherwise whether something was done. */
  run(): Promise<boolean | undefined>;
};

type Options = {
  readonly name: string;
  readonly database: Database;
  readonly task: Task;
  readonly log: Pick<Logger, 'warn'>;
  /** How long to pause after a turn in which nothing was done. */
  readonly pauseMs: number;
  readonly leaseMs?: number | undefined;
  turn(signal: AbortSignal): Promise<boolean>;
};

export function createLeasedWorker(options: Options): LeasedWorker {
  const { name, database, task, log, pauseMs, turn, leaseMs = LIMITS.chainLeaseMs } = options;
  const stopping = new AbortController();
  let isFailing = false;

  /** Undefined if another node has the lease. */
  async function runOnce(): Promise<boolean | undefined> {
    if (!(await holdLease(database, task, leaseMs))) return undefined;
    const ended = new AbortController();
    const signal = AbortSignal.any([stopping.signal, ended.signal]);
    // A long turn keeps its lease; a turn that has lost it ends, and could commit nothing anyway.
    const renewal = setInterval(() => {
      renewLease(database, task, leaseMs).then(
        (isHeld) =>
          isHeld || ended.abort(new LeaseLost(`another node works on ${task.network} ${task.task}`)),
        () => undefined,
      );
    }, leaseMs / 3);
    renewal.unref();
    try {
      return await turn(signal);
    } finally {
      clearInterval(renewal);
    }
  }

  const loop = createLoop({
    async turn() {
      const done = await runOnce();
      isFailing = false;
      if (done === undefined) return LIMITS.chainLeaseTryMs;
      return done ? 0 : pauseMs;
    },
    failed(error) {
      if (!isFailing && !(error instanceof LeaseLost))
        log.warn({ err: error, ...task }, `the ${name} could not go on`);
      isFailing = true;
      return Math.max(pauseMs, LIMITS.chainLeaseTryMs);
    },
  });

  return {
    name,
    stage: 'edge',
    start: () => loop.start(),
    async stop() {
      stopping.abort(new Error('the service stops'));
      await atMost(LIMITS.workerStopMs, loop.stop());
      // If the database does not answer, the lease ends by its time.
      await endLease(database, task).catch(() => undefined);
    },
    wake: loop.wake,
    run: runOnce,
  };
}

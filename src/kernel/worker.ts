import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Workers start stage by stage and stop in the opposite order, so that none runs without what it depends on:
 *
 *   start ──>  core             ledger         background              edge
 *              server clock     write path     roll-up, audit,         HTTP server,
 *              signing keys                    settlement engine,      withdrawals,
 *              event order                     webhook deliveries      rail notices   <── stop
 *
 * The edge is what talks to the outside world: it stops first, so that no new work arrives.
 */
const STAGES = ['core', 'ledger', 'background', 'edge'] as const;

/** Something that runs in the background of a node, from the start of the service to its end. */
export type Worker = {
  /** For logs and errors: `settlement engine`. */
  readonly name: string;
  readonly stage: (typeof STAGES)[number];
  start(): void | Promise<void>;
  /** Also called for a worker that was never started: a start can fail halfway. */
  stop(): void | Promise<void>;
};

/** One after the other, in the order of the stages. The first worker that fails ends the start. */
export async function startWorkers(workers: readonly Worker[]): Promise<void> {
  for (const stage of STAGES) {
    for (const worker of workers) if (worker.stage === stage) await worker.start();
  }
}

/** In the opposite order; workers of the same stage stop side by side. */
export async function stopWorkers(workers: readonly Worker[]): Promise<void> {
  for (const stage of STAGES.toReversed()) {
    const group = workers.filter((worker) => worker.stage === stage);
    await Promise.all(group.map(async (worker) => worker.stop()));
  }
}

/** Resolves when the work has ended or the time is up. */
export async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  await Promise.race([work, sleep(milliseconds, undefined, { signal: ended.signal })]);
  ended.abort();
}

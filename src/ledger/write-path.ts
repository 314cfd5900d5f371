import type { Database } from '../database/database.ts';
import type { Assets } from '../kernel/asset.ts';
import { createModes } from '../kernel/mode.ts';
import { type Problem, unavailable } from '../kernel/problem.ts';
import type { Queue } from '../kernel/queue.ts';
import { LIMITS } from '../limits.ts';
import type { Command, Outcome } from './command.ts';
import { sizeOf } from './group.ts';
import { createCache } from './write-path/cache.ts';
import { type Confirmation, createConfirmation } from './write-path/confirmation.ts';
import { createDoubtResolver } from './write-path/doubt.ts';
import { createExecutor, type Executor } from './write-path/execute.ts';
import { createFlights } from './write-path/flights.ts';
import type { WritePathObserver } from './write-path/observer.ts';
import { createOptimisticLane, type OptimisticLane } from './write-path/optimistic-lane.ts';
import { createPessimisticLane, type PessimisticLane } from './write-path/pessimistic-lane.ts';
import type { Progress, Waiting } from './write-path/queue.ts';

export { TROUBLES, type WritePathObserver } from './write-path/observer.ts';

/**
 * The only way to write. Every change of value, and everything that must be consistent with one, is a command. It waits in
 * one of two lanes while earlier batches commit, and is then committed in one batch with the other commands that wait.
 *
 *                 submit                          stop                 both lanes are idle
 *   caller ───────────────> RUNNING ───────────────────> STOPPING ───────────────────────> STOPPED
 *
 * Commands that may be decided on cached balances take the optimistic lane, unless it is in back-off. All others, and those
 * that the optimistic lane passes on, take the pessimistic lane.
 */
export type WritePath = {
  /** Commands that wait for a batch, or for the commit of theirs. */
  readonly queue: Queue;
  /** Resolves once the command is committed. Rejects with the problem that refused it. */
  submit<Answer>(command: Command<Answer>): Promise<Outcome<Answer>>;
  /** Submits many commands at once, and resolves once each of them is committed or refused. Rejects if all would be too many. */
  submitAll<Answer>(commands: readonly Command<Answer>[]): Promise<readonly Ended<Answer>[]>;
  /** Another node has changed so many balances that cached ones are probably stale: reads them again instead of failing batches. */
  forgetBalances(): void;
  /** Rejects new commands, and finishes those that wait. */
  stop(): Promise<void>;
};

/** How a command ended: with an outcome, or with the error that `submit` would reject with. */
export type Ended<Answer> = { readonly outcome: Outcome<Answer> } | { readonly error: unknown };

type Dependencies = {
  readonly database: Database;
  readonly assets: Assets;
  readonly observer: WritePathObserver;
};

type Lanes = { readonly optimistic: OptimisticLane; readonly pessimistic: PessimisticLane };

/** Starts batches in both lanes: at once, or after this turn of the event loop, so that its requests share a batch. */
type Pump = { now(): void; soon(): void };

function createPump(lanes: () => Lanes, hasBecomeIdle: () => void): Pump {
  let isScheduled = false;
  function now(): void {
    const { pessimistic, optimistic } = lanes();
    pessimistic.pump();
    optimistic.pump();
    if (pessimistic.isIdle() && optimistic.isIdle()) hasBecomeIdle();
  }
  return {
    now,
    soon() {
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(() => {
        isScheduled = false;
        now();
      });
    },
  };
}

/** Why no command is accepted now, as a sentence. */
function refusal(
  isRunning: boolean,
  confirmation: Confirmation,
  queued: number,
  submitted: number,
): string | undefined {
  if (!isRunning) return 'The service is shutting down. Nothing was executed; retry.';
  if (confirmation.isOverdue()) {
    return 'The standby of the database does not confirm commits. Nothing was executed; retry.';
  }
  if (queued + submitted <= LIMITS.queueCommandsMax) return undefined;
  return `The service is overloaded: ${queued} requests are queued. Nothing was executed; retry.`;
}

export function createWritePath({ database, assets, observer }: Dependencies): WritePath {
  const cache = createCache();
  const flights = createFlights();
  const confirmation = createConfirmation(database);
  const resolveDoubt = createDoubtResolver({ database, confirmation, observer });
  const modes = createModes<{ name: 'RUNNING' | 'STOPPING' | 'STOPPED' }>(
    'the write path',
    { name: 'RUNNING' },
    { RUNNING: ['STOPPING'], STOPPING: ['STOPPED'], STOPPED: [] },
  );
  const progress: Progress = { submitted: 0, answered: 0 };
  const whenStopped = Promise.withResolvers<void>();
  const queued = (): number => lanes.pessimistic.queued + lanes.optimistic.queued;
  const pump = createPump(
    () => lanes,
    () => {
      if (!modes.is('STOPPING')) return;
      modes.become({ name: 'STOPPED' });
      lanes.optimistic.close();
      whenStopped.resolve();
    },
  );
  const executor: Executor = createExecutor({
    database,
    assets,
    observer,
    cache,
    landed: flights.landed,
    resolveDoubt(batch, doubt) {
      const endDoubt = lanes.pessimistic.beginDoubt();
      return resolveDoubt(batch, doubt).finally(endDoubt);
    },
  });
  const shared = { database, executor, observer, queued, pump };
  const pessimistic = createPessimisticLane(shared);
  const optimistic = createOptimisticLane({
    ...shared,
    assets,
    cache,
    flights,
    passOn: pessimistic.push,
    recover: pessimistic.recover,
  });
  const lanes: Lanes = { optimistic, pessimistic };

  /** Commands that are pushed together share a batch as far as possible: their caller waits for the last of them. */
  function push(all: readonly Waiting[]): void {
    const takes = optimistic.takes();
    const isFast = ({ command }: Waiting): boolean => takes && command.optimistic === true;
    const fast = all.every(isFast) ? all : all.filter(isFast);
    if (fast.length < all.length) pessimistic.push(all.filter((one) => !isFast(one)));
    const batchesBefore = Math.floor(optimistic.queued / LIMITS.secondBatchCommandsMin);
    optimistic.push(fast);
    // One turn may bring hundreds of commands, and take as long as a batch: send a batch before the turn ends.
    const isBatch = Math.floor(optimistic.queued / LIMITS.secondBatchCommandsMin) > batchesBefore;
    if (isBatch && flights.inFlight() > 0) pump.now();
    else pump.soon();
  }

  /** Counts commands in, or says why they are not accepted. */
  function enter(size: number): Problem | undefined {
    const detail = refusal(modes.is('RUNNING'), confirmation, queued(), size);
    if (detail !== undefined) return unavailable(detail);
    progress.submitted += size;
    return undefined;
  }

  return {
    queue: { waiting: () => progress.submitted - progress.answered, entered: () => progress.submitted },
    submit<Answer>(command: Command<Answer>): Promise<Outcome<Answer>> {
      const refused = enter(sizeOf(command));
      if (refused !== undefined) return Promise.reject(refused);
      return new Promise((resolve, reject) => {
        push([{ command, progress, resolve: resolve as Waiting['resolve'], reject }]);
      });
    },
    submitAll<Answer>(commands: readonly Command<Answer>[]): Promise<readonly Ended<Answer>[]> {
      if (commands.length === 0) return Promise.resolve([]);
      const refused = enter(commands.length);
      if (refused !== undefined) return Promise.reject(refused);
      return new Promise((resolve) => {
        const ended: Ended<Answer>[] = [];
        let waiting = commands.length;
        const end = (index: number, one: Ended<Answer>): void => {
          ended[index] = one;
          waiting -= 1;
          if (waiting === 0) resolve(ended);
        };
        push(
          commands.map((command, index) => ({
            command,
            progress,
            resolve: (outcome) => end(index, { outcome: outcome as Outcome<Answer> }),
            reject: (error) => end(index, { error }),
          })),
        );
      });
    },
    forgetBalances: cache.forgetAllBalances,
    stop() {
      if (modes.is('RUNNING')) {
        modes.become({ name: 'STOPPING' });
        pump.now();
      }
      return whenStopped.promise;
    },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/id.ts';
import { createLoop } from '../kernel/loop.ts';
import { createModes } from '../kernel/mode.ts';
import { type Repeated, repeat } from '../kernel/repeat.ts';
import { LIMITS } from '../limits.ts';
import { forgetDeleted, forgetDeliveries } from './delivery-store.ts';
import type { Endpoint } from './endpoint.ts';
import { claimEndpoints } from './lease-store.ts';
import { createRecorder } from './recorder.ts';
import { type Runner, startRunner } from './runner.ts';
import type { Sender } from './sender.ts';
import { limitStatements } from './turns.ts';
import type { RunnerTiming, WorkDependencies } from './work.ts';

export type DispatcherOptions = {
  readonly database: Database;
  readonly sender: Sender;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  disable(endpoint: Endpoint, reason: string): Promise<void>;
  readonly attempted?: (isDelivered: boolean) => void;
  /** The database's clock, because stored retry times are compared with it. Tests have their own. */
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly random?: () => number;
  readonly concurrency?: number;
  readonly timing?: Partial<RunnerTiming & { pollMs: number; stopMs: number }>;
};

/**
 * Claims endpoints that have deliveries to send, and starts a runner for each; other nodes do the same with other
 * endpoints.
 *
 *           start              stop               the runners have ended, or stopMs is over
 *   READY ────────> RUNNING ────────> DRAINING ────────────────────────────────────────────> CLOSED
 *     └──────────────── stop ────────────^
 *
 * Attempts that are in flight when it closes are not recorded: another node repeats them when the lease has expired.
 */
export type Dispatcher = {
  /** The feeds of these customers have grown; without customers, all endpoints are checked. */
  wake(customerIds?: readonly string[]): void;
  start(): void;
  stop(): Promise<void>;
};

const STOP_MS = 4_000;
/** Endpoints that one query claims: the others are left for other nodes. */
const CLAIMS_MAX = 25;

const createDispatcherModes = () =>
  createModes<{ name: 'READY' | 'RUNNING' | 'DRAINING' | 'CLOSED' }>(
    'the webhook dispatcher',
    { name: 'READY' },
    { READY: ['RUNNING', 'DRAINING'], RUNNING: ['DRAINING'], DRAINING: ['CLOSED'], CLOSED: [] },
  );

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { sender, log } = options;
  const { pollMs = LIMITS.webhookPollMs, stopMs = STOP_MS, ...timing } = options.timing ?? {};
  const database = limitStatements(options.database, LIMITS.webhookStatementsMax);
  const modes = createDispatcherModes();
  const retention = createRetention(database, log);
  const runners = createRunners(runnerDependencies(options, database, timing, () => modes.is('CLOSED')));
  const wanted = createWanted(pollMs);
  let isFailing = false;
  let closed: Promise<void> | undefined;

  function wake(customerIds?: readonly string[]): void {
    wanted.add(customerIds);
    loop.wake();
  }

  const loop = createLoop({
    spacingMs: LIMITS.webhookLookIntervalMs,
    async turn(isWoken) {
      // When a runner ends, its customer is checked again: events may have come while the lease was being released.
      const hasMore = await runners.claim(wanted.take(isWoken), (customerId) => wake([customerId]));
      isFailing = false;
      if (hasMore) wanted.add();
      return hasMore ? 0 : pollMs;
    },
    failed(error) {
      if (!isFailing) log.warn({ err: error }, 'could not look for webhook deliveries');
      isFailing = true;
      return pollMs;
    },
  });

  async function drain(): Promise<void> {
    modes.become({ name: 'DRAINING' });
    runners.stop();
    await Promise.all([loop.stop(), retention.stop()]);
    // The last turn may have claimed more.
    runners.stop();
    await Promise.race([runners.ended(), sleep(stopMs, undefined, { ref: false })]);
    modes.become({ name: 'CLOSED' });
    sender.close();
  }

  return {
    wake(customerIds) {
      runners.wake(customerIds);
      wake(customerIds);
    },
    start() {
      modes.become({ name: 'RUNNING' });
      loop.start();
      retention.start();
    },
    stop() {
      closed ??= drain();
      return closed;
    },
  };
}

/** The runners of this node, one for each endpoint that it has leased. */
function createRunners(dependencies: WorkDependencies) {
  const { database, timing, nowMs } = dependencies;
  const runners = new Map<string, Runner>();

  return {
    /** Claims endpoints of these customers, or of all. Returns whether there may be more to claim. */
    async claim(
      customerIds: readonly string[] | undefined,
      ended: (customerId: string) => void,
    ): Promise<boolean> {
      const limit = Math.min(LIMITS.webhookRunnersMax - runners.size, CLAIMS_MAX);
      if (limit <= 0) return false;
      const token = newId();
      const { leaseMs } = timing;
      const claims = await claimEndpoints(database, { token, nowMs: nowMs(), leaseMs, limit, customerIds });
      for (const claim of claims) {
        const runner = startRunner(dependencies, { ...claim, token });
        runners.set(claim.endpointId, runner);
        void runner.ended.then(() => {
          runners.delete(claim.endpointId);
          ended(claim.customerId);
        });
      }
      return claims.length === limit;
    },
    wake(customerIds: readonly string[] | undefined): void {
      const isMeant = (runner: Runner): boolean => customerIds?.includes(runner.customerId) ?? true;
      for (const runner of runners.values()) if (isMeant(runner)) runner.wake();
    },
    stop(): void {
      for (const runner of runners.values()) runner.stop();
    },
    ended: () => Promise.all([...runners.values()].map((runner) => runner.ended)),
  };
}

/** Collects the customers whose endpoints the next turn checks; `undefined` means all customers. */
function createWanted(pollMs: number) {
  let wanted: Set<string> | 'all' = 'all';
  let checkedAllMs = 0;
  return {
    add(customerIds?: readonly string[]): void {
      if (customerIds === undefined) wanted = 'all';
      else if (wanted !== 'all') for (const customerId of customerIds) wanted.add(customerId);
    },
    take(isWoken: boolean): string[] | undefined {
      // Frequent wake-ups must not prevent the poll, which finds everything that is due.
      const isAll = wanted === 'all' || !isWoken || performance.now() - checkedAllMs >= pollMs;
      const taken = isAll ? undefined : Array.from(wanted);
      if (isAll) checkedAllMs = performance.now();
      wanted = new Set();
      return taken;
    },
  };
}

function runnerDependencies(
  options: DispatcherOptions,
  database: Database,
  timing: Partial<RunnerTiming>,
  isAbandoned: () => boolean,
): WorkDependencies {
  const { sender, log, clock, attempted } = options;
  return {
    database,
    sender,
    recorder: createRecorder(database, log),
    log,
    disable: options.disable,
    attempted,
    nowMs: () => clock.nowMs(),
    random: options.random ?? Math.random,
    isAbandoned,
    concurrency: options.concurrency ?? LIMITS.webhookConcurrency,
    timing: {
      leaseMs: LIMITS.webhookLeaseMs,
      renewMs: LIMITS.webhookLeaseRenewMs,
      attemptMs: LIMITS.webhookTimeoutMs + LIMITS.webhookResponseBodyMs + 1_000,
      lingerMs: 500,
      ...timing,
    },
  };
}

function createRetention(database: Database, log: Pick<Logger, 'warn'>): Repeated {
  return repeat(
    LIMITS.webhookRetentionIntervalMs,
    async () => {
      const rowsMax = LIMITS.webhookRetentionRowsMax;
      await forgetDeleted(database);
      const count = await forgetDeliveries(database, LIMITS.webhookRetentionMs, rowsMax);
      return count === rowsMax ? 'again' : 'wait';
    },
    (error) => log.warn({ err: error }, 'could not delete old webhook deliveries'),
  );
}

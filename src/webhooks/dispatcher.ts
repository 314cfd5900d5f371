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
import { type Claim, claimEndpoints } from './lease-store.ts';
import { createRecorder } from './recorder.ts';
import { type Runner, startRunner } from './runner.ts';
import type { Sealer } from './secrets.ts';
import type { Sender } from './sender.ts';
import { limitStatements } from './turns.ts';
import type { RunnerTiming, WorkDependencies } from './work.ts';

export type DispatcherOptions = {
  readonly database: Database;
  readonly sender: Sender;
  readonly sealer: Sealer;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  disable(endpoint: Endpoint, reason: string): Promise<void>;
  readonly attempted?: (isDelivered: boolean) => void;
  /** The database's clock: retries go by it, since stored times are compared with it. Tests have their own. */
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly random?: () => number;
  readonly concurrency?: number;
  readonly timing?: Partial<RunnerTiming & { pollMs: number; stopMs: number }>;
};

/**
 * Claims endpoints that have something to do, and starts a runner for each; other nodes do the same with other endpoints.
 *
 *           start              stop               the runners have ended, or stopMs is over
 *   READY ────────> RUNNING ────────> DRAINING ────────────────────────────────────────────> CLOSED
 *     └──────────────── stop ────────────^
 *
 * What is in flight when it closes counts as not tried: another node repeats it when the lease has run out.
 */
export type Dispatcher = {
  /** The feeds of these customers have grown; without customers: look at all of them. */
  wake(customerIds?: readonly string[]): void;
  start(): void;
  stop(): Promise<void>;
};

const STOP_MS = 4_000;
/** Endpoints that one look claims: other nodes look as well. */
const CLAIMS_MAX = 25;

const createDispatcherModes = () =>
  createModes<{ name: 'READY' | 'RUNNING' | 'DRAINING' | 'CLOSED' }>(
    'the webhook dispatcher',
    { name: 'READY' },
    { READY: ['RUNNING', 'DRAINING'], RUNNING: ['DRAINING'], DRAINING: ['CLOSED'], CLOSED: [] },
  );

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { sender, log, clock } = options;
  const { pollMs = LIMITS.webhookPollMs, stopMs = STOP_MS, ...timing } = options.timing ?? {};
  const database = limitStatements(options.database, LIMITS.webhookStatementsMax);
  const modes = createDispatcherModes();
  const forgetting = createForgetting(database, log);
  const runners = new Map<string, Runner>();
  const forRunners = runnerDependencies(options, database, timing, () => modes.is('CLOSED'));
  const wanted = createWanted(pollMs);
  let isFailing = false;
  let closed: Promise<void> | undefined;

  function start(token: string, claimed: Claim): void {
    const { endpointId, customerId } = claimed;
    const runner = startRunner(forRunners, { ...claimed, token });
    runners.set(endpointId, runner);
    void runner.ended.then(() => {
      runners.delete(endpointId);
      // Events may have come while the lease was being released.
      wake([customerId]);
    });
  }

  /** Says whether there may be more to claim. */
  async function claim(customerIds: readonly string[] | undefined): Promise<boolean> {
    const limit = Math.min(LIMITS.webhookRunnersMax - runners.size, CLAIMS_MAX);
    if (limit <= 0) return false;
    const token = newId();
    const { leaseMs } = forRunners.timing;
    const claims = await claimEndpoints(database, {
      token,
      nowMs: clock.nowMs(),
      leaseMs,
      limit,
      customerIds,
    });
    for (const one of claims) start(token, one);
    return claims.length === limit;
  }

  function wake(customerIds?: readonly string[]): void {
    wanted.add(customerIds);
    loop.wake();
  }

  const loop = createLoop({
    spacingMs: LIMITS.webhookLookIntervalMs,
    async turn(isWoken) {
      const hasMore = await claim(wanted.take(isWoken));
      isFailing = false;
      if (hasMore) wanted.add();
      return hasMore ? 0 : pollMs;
    },
    failed(error) {
      if (!isFailing) log.warn({ err: error }, 'webhook deliveries cannot be looked for');
      isFailing = true;
      return pollMs;
    },
  });

  async function drain(): Promise<void> {
    modes.become({ name: 'DRAINING' });
    for (const runner of runners.values()) runner.stop();
    await Promise.all([loop.stop(), forgetting.stop()]);
    // The last look may have claimed more.
    for (const runner of runners.values()) runner.stop();
    const ended = Promise.all([...runners.values()].map((runner) => runner.ended));
    await Promise.race([ended, sleep(stopMs, undefined, { ref: false })]);
    modes.become({ name: 'CLOSED' });
    sender.close();
  }

  return {
    wake(customerIds) {
      const isMeant = (runner: Runner): boolean => customerIds?.includes(runner.customerId) ?? true;
      for (const runner of runners.values()) if (isMeant(runner)) runner.wake();
      wake(customerIds);
    },
    start() {
      modes.become({ name: 'RUNNING' });
      loop.start();
      forgetting.start();
    },
    stop() {
      closed ??= drain();
      return closed;
    },
  };
}

/** Whose endpoints the next look is for; undefined stands for everybody's. */
function createWanted(pollMs: number) {
  let wanted: Set<string> | 'all' = 'all';
  let lookedAtAllMs = 0;
  return {
    add(customerIds?: readonly string[]): void {
      if (customerIds === undefined) wanted = 'all';
      else if (wanted !== 'all') for (const customerId of customerIds) wanted.add(customerId);
    },
    take(isWoken: boolean): string[] | undefined {
      // Wake-ups in quick succession must not keep it from looking at everything that is due.
      const isAll = wanted === 'all' || !isWoken || performance.now() - lookedAtAllMs >= pollMs;
      const taken = isAll ? undefined : Array.from(wanted);
      if (isAll) lookedAtAllMs = performance.now();
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
  const { sender, sealer, log, clock, attempted } = options;
  return {
    database,
    sender,
    sealer,
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

function createForgetting(database: Database, log: Pick<Logger, 'warn'>): Repeated {
  return repeat(
    LIMITS.webhookRetentionIntervalMs,
    async () => {
      const rowsMax = LIMITS.webhookRetentionRowsMax;
      await forgetDeleted(database);
      const count = await forgetDeliveries(database, LIMITS.webhookRetentionMs, rowsMax);
      return count === rowsMax ? 'again' : 'wait';
    },
    (error) => log.warn({ err: error }, 'old webhook deliveries could not be deleted'),
  );
}

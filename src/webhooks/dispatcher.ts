import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/id.ts';
import { repeat } from '../kernel/repeat.ts';
import { LIMITS } from '../limits.ts';
import { forgetDeleted, forgetDeliveries } from './delivery-store.ts';
import type { Endpoint } from './endpoint.ts';
import { claimEndpoints } from './lease-store.ts';
import { createRecorder } from './recorder.ts';
import { type Runner, type RunnerTiming, startRunner } from './runner.ts';
import type { Sealer } from './secrets.ts';
import type { Sender } from './sender.ts';
import { limitStatements } from './turns.ts';

export type DispatcherOptions = {
  readonly database: Database;
  readonly sender: Sender;
  readonly sealer: Sealer;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  disable(endpoint: Endpoint, reason: string): Promise<void>;
  readonly attempted?: (isDelivered: boolean) => void;
  /** The database's: retries go by it, and what is stored is compared with it. Tests have one of their own. */
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly random?: () => number;
  readonly concurrency?: number;
  readonly timing?: Partial<RunnerTiming & { pollMs: number; stopMs: number }>;
};

export type Dispatcher = {
  /** The feeds of these customers have grown; without customers, look at everything. */
  wake(customerIds?: readonly string[]): void;
  start(): void;
  stop(): Promise<void>;
};

const STOP_MS = 4_000;
/** Endpoints that one look takes: others look as well. */
const CLAIMS_MAX = 25;

/** Finds endpoints that have something to do and takes on as many as fit; other nodes do the same with the others. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { sender, sealer, log, clock } = options;
  const { pollMs = LIMITS.webhookPollMs, stopMs = STOP_MS, ...timing } = options.timing ?? {};
  const runnerTiming: RunnerTiming = {
    leaseMs: LIMITS.webhookLeaseMs,
    renewMs: LIMITS.webhookLeaseRenewMs,
    attemptMs: LIMITS.webhookTimeoutMs + LIMITS.webhookResponseBodyMs + 1_000,
    lingerMs: 500,
    ...timing,
  };
  const database = limitStatements(options.database, LIMITS.webhookStatementsMax);
  const recorder = createRecorder(database, log);
  const runners = new Map<string, Runner>();
  let isStopped = true;
  let isAbandoned = false;
  let isFailing = false;
  let interrupt: (() => void) | undefined;
  let running: Promise<void> | undefined;
  /** Customers with news since the last look, or everybody. */
  let wanted: Set<string> | 'all' | undefined;

  function take(token: string, claim: { endpointId: string; customerId: string }): void {
    const runner = startRunner(
      {
        database,
        sender,
        sealer,
        recorder,
        log,
        disable: options.disable,
        attempted: options.attempted,
        nowMs: () => clock.nowMs(),
        random: options.random ?? Math.random,
        isAbandoned: () => isAbandoned,
        concurrency: options.concurrency ?? LIMITS.webhookConcurrency,
        timing: runnerTiming,
      },
      { ...claim, token },
    );
    runners.set(claim.endpointId, runner);
    void runner.ended.then(() => {
      runners.delete(claim.endpointId);
      // What came while it was being given back.
      wake([claim.customerId]);
    });
  }

  async function look(): Promise<void> {
    const customers = wanted === 'all' || wanted === undefined ? undefined : [...wanted];
    wanted = undefined;
    const limit = Math.min(LIMITS.webhookRunnersMax - runners.size, CLAIMS_MAX);
    if (limit <= 0) return;
    const token = newId();
    const claims = await claimEndpoints(database, {
      token,
      nowMs: clock.nowMs(),
      leaseMs: runnerTiming.leaseMs,
      limit,
      customerIds: customers,
    });
    for (const claim of claims) take(token, claim);
    if (claims.length === limit) wanted = 'all';
  }

  function wake(customerIds?: readonly string[]): void {
    if (customerIds === undefined) wanted = 'all';
    else if (wanted !== 'all') {
      wanted ??= new Set();
      for (const customerId of customerIds) wanted.add(customerId);
    }
    interrupt?.();
  }

  async function pause(): Promise<void> {
    if (wanted !== undefined || isStopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        wanted = 'all';
        resolve();
      }, pollMs);
      timer.unref();
      interrupt = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    interrupt = undefined;
  }

  async function run(): Promise<void> {
    let polledMs = 0;
    for (;;) {
      if (isStopped) return;
      // News in quick succession must not keep it from looking at what is due.
      if (performance.now() - polledMs >= pollMs) wanted = 'all';
      if (wanted === 'all') polledMs = performance.now();
      try {
        await look();
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.warn({ err: error }, 'webhook deliveries cannot be looked for');
        isFailing = true;
      }
      await sleep(LIMITS.webhookLookIntervalMs, undefined, { ref: false });
      await pause();
    }
  }

  const forgetting = repeat(
    LIMITS.webhookRetentionIntervalMs,
    async () => {
      const rowsMax = LIMITS.webhookRetentionRowsMax;
      await forgetDeleted(database);
      const count = await forgetDeliveries(database, LIMITS.webhookRetentionMs, rowsMax);
      return count === rowsMax ? 'again' : 'wait';
    },
    (error) => log.warn({ err: error }, 'old webhook deliveries could not be forgotten'),
  );

  return {
    wake(customerIds) {
      const isMeant = (runner: Runner): boolean => customerIds?.includes(runner.customerId) ?? true;
      for (const runner of runners.values()) if (isMeant(runner)) runner.wake();
      wake(customerIds);
    },
    start() {
      isStopped = false;
      wanted = 'all';
      running = run();
      forgetting.start();
    },
    async stop() {
      isStopped = true;
      interrupt?.();
      for (const runner of runners.values()) runner.stop();
      await running;
      await forgetting.stop();
      const ended = Promise.all([...runners.values()].map((runner) => runner.ended));
      // What is still under way then is not waited for: another node does it again when the lease has run out.
      await Promise.race([ended, sleep(stopMs, undefined, { ref: false })]);
      isAbandoned = true;
      sender.close();
    },
  };
}

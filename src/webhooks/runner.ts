import { failureOf } from '../database/failure.ts';
import { createModes, type Modes } from '../kernel/mode.ts';
import { createWakeUp, type WakeUp } from '../kernel/wake-up.ts';
import type { Claim } from './lease-store.ts';
import { createEndpointWork, type EndpointWork, type WorkDependencies } from './work.ts';

/**
 * Delivers to one endpoint, for as long as this node has its lease and there is work.
 *
 *               loaded                  nothing due soon
 *   LOADING ─────────────> DELIVERING ───────────────────> IDLE
 *    ^   │                  │  │  ^                        │ │
 *    │   │                  │  │  └──── work is due soon ──┘ │
 *    └───┼─ settings changed┴──┼───────────────────────────┤
 *        └─────────────────────┴──> STOPPING <─────────────┘
 *                                      │
 *                                      └── no attempt is in flight ──> ENDED
 *
 * It stops when the lease is lost, the endpoint is disabled, the service stops, something fails on this side, or it was idle
 * for `lingerMs`.
 */
export type Runner = {
  readonly customerId: string;
  /** Resolves when the lease is released or lost. */
  readonly ended: Promise<void>;
  /** There may be new events, or settings have changed. */
  wake(): void;
  /** Starts no more attempts, and waits for those in flight. */
  stop(): void;
};

type Mode =
  | { readonly name: 'LOADING' | 'DELIVERING' | 'STOPPING' | 'ENDED' }
  | { readonly name: 'IDLE'; readonly sinceMs: number };

type RunnerParts = {
  readonly modes: Modes<Mode>;
  readonly wakeUp: WakeUp;
  readonly work: EndpointWork;
  stop(): void;
};

const createRunnerModes = () =>
  createModes<Mode>(
    'the runner of a webhook endpoint',
    { name: 'LOADING' },
    {
      LOADING: ['DELIVERING', 'STOPPING'],
      DELIVERING: ['LOADING', 'IDLE', 'STOPPING'],
      IDLE: ['LOADING', 'DELIVERING', 'STOPPING'],
      STOPPING: ['ENDED'],
      ENDED: [],
    },
  );

/** One turn of the runner: loads or renews, takes events, starts attempts, and sleeps until there is more to do. */
function createTurn(
  { modes, wakeUp, work, stop }: RunnerParts,
  { lingerMs }: WorkDependencies['timing'],
): () => Promise<void> {
  async function load(): Promise<void> {
    if (!(await work.load())) return stop();
    // It may have been stopped in the meantime.
    if (modes.is('LOADING')) modes.become({ name: 'DELIVERING' });
  }

  async function renewIfDue(): Promise<void> {
    const renewed = await work.renewIfDue();
    if (renewed === 'lost') stop();
    else if (renewed === 'changed' && !modes.is('STOPPING')) modes.become({ name: 'LOADING' });
  }

  function becomeIdleOrBusy(): void {
    const mode = modes.now();
    if (work.hasWorkSoon()) {
      if (mode.name === 'IDLE') modes.become({ name: 'DELIVERING' });
    } else if (mode.name === 'DELIVERING') modes.become({ name: 'IDLE', sinceMs: performance.now() });
    else if (mode.name === 'IDLE' && performance.now() - mode.sinceMs >= lingerMs) stop();
  }

  return async () => {
    if (modes.is('LOADING')) await load();
    else await renewIfDue();
    if (modes.is('LOADING') || modes.is('STOPPING')) return;
    if (!work.isEnabled()) return stop();
    await work.takeEvents();
    if (modes.is('STOPPING')) return;
    work.startAttempts();
    becomeIdleOrBusy();
    if (modes.is('STOPPING')) return;
    await wakeUp.sleep(modes.is('IDLE') ? Math.min(work.dueInMs(), lingerMs) : work.dueInMs());
  };
}

export function startRunner(
  dependencies: WorkDependencies,
  claim: Claim & { readonly token: string },
): Runner {
  const { log, timing } = dependencies;
  const { endpointId, customerId } = claim;
  const modes = createRunnerModes();
  const wakeUp = createWakeUp();
  const work = createEndpointWork(dependencies, claim, {
    attemptEnded: wakeUp.wake,
    lost: stop,
    failed(error, deliveryId) {
      log.warn({ err: error, endpoint: endpointId, delivery: deliveryId }, 'could not process a delivery');
      fail(error);
    },
  });
  const turn = createTurn({ modes, wakeUp, work, stop }, timing);
  /** The next node that claims the endpoint would fail in the same way. */
  let isStuck = false;

  function stop(): void {
    if (!modes.is('STOPPING') && !modes.is('ENDED')) modes.become({ name: 'STOPPING' });
    wakeUp.wake();
  }

  function fail(error: unknown): void {
    isStuck ||= failureOf(error) === 'rejected';
    stop();
  }

  async function run(): Promise<void> {
    try {
      while (!modes.is('STOPPING')) await turn();
    } catch (error) {
      log.warn({ err: error, endpoint: endpointId }, 'deliveries to a webhook endpoint were interrupted');
      fail(error);
    }
    await work.attemptsEnded();
    // Otherwise the lease is kept until it expires: no node retries before that, and the log has one line per lease.
    if (!isStuck) await work.release();
    modes.become({ name: 'ENDED' });
  }

  return {
    customerId,
    ended: run(),
    wake() {
      work.expectEvents();
      // If it is full, the end of the next attempt wakes it.
      if (!work.isFull()) wakeUp.wake();
    },
    stop,
  };
}

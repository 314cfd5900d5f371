import { createInFlight, type InFlightDependencies, type InFlightOwner } from './in-flight.ts';
import { createIntake } from './intake.ts';
import { createLease } from './lease.ts';
import { type Claim, pendingDeliveries } from './lease-store.ts';
import { createQueue } from './queue.ts';
import { probeMs } from './schedule.ts';

export type RunnerTiming = {
  readonly leaseMs: number;
  readonly renewMs: number;
  /** Longest duration of an attempt: none is started under a lease that ends earlier. */
  readonly attemptMs: number;
  /** How long the lease of an endpoint without work is kept. */
  readonly lingerMs: number;
};

export type WorkDependencies = InFlightDependencies & { readonly timing: RunnerTiming };

/** The work of a node for one endpoint: the lease, the queue of deliveries, and the attempts in flight. */
export type EndpointWork = {
  /** Waits for the attempts in flight, then reads the endpoint and its deliveries. False when the lease is lost. */
  load(): Promise<boolean>;
  /** `changed`: the settings are no longer those that were loaded. */
  renewIfDue(): Promise<'valid' | 'changed' | 'lost'>;
  isEnabled(): boolean;
  takeEvents(): Promise<void>;
  startAttempts(): void;
  /** As many attempts are in flight as the endpoint may have. */
  isFull(): boolean;
  hasWorkSoon(): boolean;
  /** Time until the next action, unless a wake-up comes earlier. */
  dueInMs(): number;
  /** The feed may have new events. */
  expectEvents(): void;
  attemptsEnded(): Promise<unknown>;
  release(): Promise<void>;
};

export function createEndpointWork(
  dependencies: WorkDependencies,
  claim: Claim & { readonly token: string },
  callbacks: Pick<InFlightOwner, 'attemptEnded' | 'lost' | 'failed'>,
): EndpointWork {
  const { database, timing, nowMs, concurrency } = dependencies;
  const lease = createLease(dependencies, claim);
  const queue = createQueue();
  const intake = createIntake({ database, lease, queue, nowMs });
  const owner = { ...callbacks, lease, queue, attemptMs: timing.attemptMs };
  const inFlight = createInFlight(dependencies, owner);
  let loadedGeneration = -1n;

  /** While the breaker is open, no events are taken: they wait in the feed. */
  const takesEvents = (): boolean => inFlight.breaker().probeAtMs === null && intake.isWanted();

  function nextAttemptInMs(): number | undefined {
    const now = nowMs();
    const nextMs = probeMs(inFlight.breaker(), now) ?? queue.nextDueMs(now);
    return nextMs === undefined ? undefined : nextMs - now;
  }

  return {
    async load() {
      await inFlight.allEnded();
      const isRenewed = await lease.renew();
      const held = lease.held();
      if (!isRenewed || held === undefined) return false;
      queue.clear();
      inFlight.reset(held.breaker);
      loadedGeneration = held.generation;
      queue.add(await pendingDeliveries(database, claim.endpointId));
      intake.expectEvents();
      return true;
    },
    async renewIfDue() {
      if (lease.renewInMs() > 0) return 'valid';
      if (!(await lease.renew())) return 'lost';
      return lease.held()!.generation === loadedGeneration ? 'valid' : 'changed';
    },
    isEnabled: () => lease.held()!.endpoint.enabled,
    async takeEvents() {
      // Not while there is enough to send, and not in quick succession: events that come one by one are taken together.
      if (!takesEvents() || intake.dueInMs() > 0) return;
      if (queue.ready(nowMs(), concurrency).length >= concurrency) return;
      const taken = await intake.take(lease.held()!.endpoint, loadedGeneration);
      if (taken === 'changed') lease.renewSoon();
    },
    startAttempts: () => inFlight.startReady(lease.held()!.endpoint),
    isFull: inFlight.isFull,
    hasWorkSoon() {
      if (inFlight.count > 0 || takesEvents()) return true;
      const inMs = nextAttemptInMs();
      return inMs !== undefined && inMs <= timing.lingerMs;
    },
    dueInMs() {
      const renewInMs = lease.renewInMs();
      // Under a lease that ends too early no attempt is started, even if one is due: the next renewal decides.
      if (inFlight.isFull() || lease.leftMs() < timing.attemptMs) return renewInMs;
      const eventsInMs = takesEvents() ? Math.max(intake.dueInMs(), 1) : renewInMs;
      const attemptInMs = Math.max(nextAttemptInMs() ?? renewInMs, 1);
      return Math.min(renewInMs, eventsInMs, attemptInMs);
    },
    expectEvents: intake.expectEvents,
    attemptsEnded: inFlight.allEnded,
    release: lease.release,
  };
}

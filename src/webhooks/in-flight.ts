import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { attempt, outcomeOf } from './attempt.ts';
import type { Delivery } from './delivery.ts';
import { eventPayload, type Outcome } from './delivery-store.ts';
import type { Endpoint } from './endpoint.ts';
import type { Lease } from './lease.ts';
import type { Queue } from './queue.ts';
import type { Recorder } from './recorder.ts';
import { type Breaker, CLOSED, disableReason, probeMs } from './schedule.ts';
import type { Sender } from './sender.ts';

/** The attempts of one endpoint that are in flight, and the circuit breaker that their outcomes open and close. */
export type InFlight = {
  readonly count: number;
  breaker(): Breaker;
  /** Replaces the breaker with the stored one. */
  reset(breaker: Breaker): void;
  /** The endpoint has as many attempts in flight as it may: one, while the breaker is open. */
  isFull(): boolean;
  startReady(endpoint: Endpoint): void;
  allEnded(): Promise<unknown>;
};

export type InFlightDependencies = {
  readonly database: Database;
  readonly sender: Sender;
  readonly recorder: Recorder;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  disable(endpoint: Endpoint, reason: string): Promise<void>;
  /** For metrics. */
  readonly attempted?: ((isDelivered: boolean) => void) | undefined;
  /** The database's clock, which retries go by. */
  nowMs(): number;
  random(): number;
  /** The service no longer waits for attempts: one that ends now was aborted by the service, so it is not recorded. */
  isAbandoned(): boolean;
  readonly concurrency: number;
};

/** What the attempts belong to, and its callbacks. */
export type InFlightOwner = {
  readonly lease: Lease;
  readonly queue: Queue;
  /** Longest duration of an attempt: none is started under a lease that ends earlier. */
  readonly attemptMs: number;
  attemptEnded(): void;
  /** An outcome could not be recorded, because the lease is lost or the database unavailable. */
  lost(): void;
  /** An attempt failed on this side, not because of the receiver. */
  failed(error: unknown, deliveryId: string): void;
};

export function createInFlight(dependencies: InFlightDependencies, owner: InFlightOwner): InFlight {
  const { concurrency, nowMs } = dependencies;
  const { lease, queue } = owner;
  const attempts = new Set<Promise<void>>();
  let breaker: Breaker = CLOSED;

  const deliver = createDeliver(dependencies, owner, {
    get: () => breaker,
    set(next) {
      breaker = next;
    },
  });

  function start(endpoint: Endpoint, delivery: Delivery): void {
    queue.start(delivery);
    const attempting = deliver(endpoint, delivery)
      .catch((error: unknown) => owner.failed(error, delivery.id))
      .finally(() => {
        attempts.delete(attempting);
        owner.attemptEnded();
      });
    attempts.add(attempting);
  }

  return {
    get count() {
      return attempts.size;
    },
    breaker: () => breaker,
    reset(next) {
      breaker = next;
    },
    isFull: () => attempts.size >= (breaker.probeAtMs === null ? concurrency : 1),
    startReady(endpoint) {
      if (lease.leftMs() < owner.attemptMs) return;
      const now = nowMs();
      if (breaker.probeAtMs === null) {
        for (const delivery of queue.ready(now, concurrency - attempts.size)) start(endpoint, delivery);
        return;
      }
      const probe = attempts.size === 0 && now >= probeMs(breaker, now)! ? queue.probe() : undefined;
      if (probe !== undefined) start(endpoint, probe);
      // Nothing is pending: the next event becomes the probe.
      else if (queue.size === 0) breaker = { ...breaker, probeAtMs: null };
    },
    allEnded: () => Promise.all(attempts),
  };
}

/** One attempt, with its outcome recorded. */
function createDeliver(
  dependencies: InFlightDependencies,
  { lease, queue, lost }: InFlightOwner,
  breaker: { get(): Breaker; set(breaker: Breaker): void },
) {
  const { database, sender, recorder, nowMs, random } = dependencies;
  const { endpointId, token } = lease;
  const contextAt = (atMs: number) => ({ endpointId, token, nowMs: atMs, random });

  async function record(outcome: Outcome): Promise<boolean> {
    breaker.set(outcome.breaker);
    const isRecorded = await recorder.record(outcome);
    if (!isRecorded) lost();
    return isRecorded;
  }

  return async (endpoint: Endpoint, delivery: Delivery): Promise<void> => {
    const { eventId, payload } = delivery;
    const body = payload ?? (await eventPayload(database.of(lease.customerId), lease.customerId, eventId));
    const attempted = await attempt(sender, { endpoint, eventId, body, nowMs: nowMs() });
    if (dependencies.isAbandoned()) return;
    dependencies.attempted?.(attempted.isDelivered);
    const atMs = nowMs();
    const outcome = outcomeOf(attempted, delivery, breaker.get(), contextAt(atMs));
    // The next event of the resource waits until this outcome is recorded, so that a crash repeats this event only.
    if (!(await record(outcome))) return;
    learn(outcome, delivery, queue);
    const reason = attempted.isDelivered
      ? undefined
      : disableReason(breaker.get(), attempted.response?.status, atMs);
    if (reason === undefined) return;
    await dependencies.disable(endpoint, reason);
    lease.renewSoon();
  };
}

function learn(outcome: Outcome, delivery: Delivery, queue: Queue): void {
  delivery.attempts = outcome.attempts;
  delivery.firstTryMs = outcome.firstTryMs;
  delivery.dueAtMs = outcome.dueAtMs;
  delivery.payload = undefined;
  if (outcome.isBack) queue.makeAllDue();
  queue.end(delivery, outcome.status !== 'PENDING');
}

import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { failureOf } from '../database/failure.ts';
import { LIMITS } from '../limits.ts';
import { attempt, outcomeOf, unreadableOutcome } from './attempt.ts';
import type { Delivery } from './delivery.ts';
import { eventPayload, type Outcome } from './delivery-store.ts';
import type { Endpoint } from './endpoint.ts';
import { fanOut, type Held, pendingDeliveries, releaseLease, renewLease } from './lease-store.ts';
import { createQueue } from './queue.ts';
import type { Recorder } from './recorder.ts';
import { type Breaker, CLOSED, disableReason, probeMs } from './schedule.ts';
import { type Sealer, UnreadableSecret } from './secrets.ts';
import type { Sender } from './sender.ts';

export type RunnerTiming = {
  readonly leaseMs: number;
  readonly renewMs: number;
  /** An attempt is begun only when the lease lasts longer than it can take. */
  readonly attemptMs: number;
  /** How long an endpoint without work is kept. */
  readonly lingerMs: number;
};

export type RunnerDependencies = {
  /** For this work only: it shares few connections. */
  readonly database: Database;
  readonly sender: Sender;
  readonly sealer: Sealer;
  readonly recorder: Recorder;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  disable(endpoint: Endpoint, reason: string): Promise<void>;
  /** For whoever watches. */
  readonly attempted?: ((isDelivered: boolean) => void) | undefined;
  /** The database's clock, which retries go by. */
  nowMs(): number;
  random(): number;
  /** The service stops and has waited long enough: what ends now was cut off by us, and says nothing. */
  isAbandoned(): boolean;
  readonly concurrency: number;
  readonly timing: RunnerTiming;
};

export type Runner = {
  readonly endpointId: string;
  readonly customerId: string;
  /** Resolves when the endpoint is given back or lost. */
  readonly ended: Promise<void>;
  /** There is news in the feed, time has passed, or settings have changed. */
  wake(): void;
  /** Begins no more attempts; those under way are waited for. */
  stop(): void;
};

/** Delivers to one endpoint, as long as this node has its lease and there is something to do. */
export function startRunner(
  dependencies: RunnerDependencies,
  lease: { endpointId: string; customerId: string; token: string },
): Runner {
  const { database, sender, sealer, recorder, log, timing, nowMs, random } = dependencies;
  const { endpointId, token } = lease;
  const queue = createQueue();
  const underWay = new Set<Promise<void>>();
  let held: Held | undefined;
  let breaker: Breaker = CLOSED;
  let leaseEndsMs = 0;
  let renewedMs = 0;
  let refilledMs = 0;
  let loadedGeneration = -1n;
  let mayHaveNews = true;
  const stopping = new AbortController();
  /** It would be so again at once. */
  let isStuck = false;
  let isWoken = false;
  let interrupt: (() => void) | undefined;

  function wake(): void {
    isWoken = true;
    interrupt?.();
  }

  /** By this process's own clock, counted from before the question: never longer than the database has it. */
  async function renew(): Promise<boolean> {
    const askedMs = performance.now();
    try {
      const now = await renewLease(database, endpointId, token, timing.leaseMs);
      if (now === undefined) return false;
      held = now;
      leaseEndsMs = askedMs + timing.leaseMs;
    } catch (error) {
      log.warn({ err: error, endpoint: endpointId }, 'the lease of a webhook endpoint could not be renewed');
    }
    renewedMs = askedMs;
    return performance.now() < leaseEndsMs;
  }

  /** Settings have changed, or somebody asked for a replay: nothing in memory counts any more. */
  async function reload(): Promise<boolean> {
    await Promise.all(underWay);
    if (!(await renew()) || held === undefined) return false;
    queue.clear();
    breaker = held.breaker;
    loadedGeneration = held.generation;
    queue.add(await pendingDeliveries(database, endpointId));
    mayHaveNews = true;
    return true;
  }

  function room(): number {
    return Math.min(LIMITS.webhookFanOutMax, LIMITS.webhookPendingMax - queue.size);
  }

  /** An endpoint that does not answer gets nothing new: its events wait in the feed. */
  function takesNews(): boolean {
    return mayHaveNews && breaker.probeAtMs === null && room() >= LIMITS.webhookFanOutMax / 2;
  }

  function isFull(): boolean {
    return underWay.size >= (breaker.probeAtMs === null ? dependencies.concurrency : 1);
  }

  function refillInMs(): number {
    return refilledMs + LIMITS.webhookFanOutIntervalMs - performance.now();
  }

  async function refill({ endpoint }: Held): Promise<void> {
    // Not while it has enough to do, or had something a moment ago: events that come one by one are taken together.
    const { concurrency } = dependencies;
    if (!takesNews() || refillInMs() > 0 || queue.ready(nowMs(), concurrency).length >= concurrency) return;
    mayHaveNews = false;
    refilledMs = performance.now();
    const taken = await fanOut(database, endpoint, {
      token,
      generation: loadedGeneration,
      nowMs: nowMs(),
      limit: room(),
    });
    if (taken === 'changed') {
      renewedMs = 0;
      return;
    }
    queue.add(taken.deliveries);
    if (!taken.hasMore) return;
    mayHaveNews = true;
    refilledMs = 0;
  }

  function learn(outcome: Outcome, delivery: Delivery): void {
    delivery.attempts = outcome.attempts;
    delivery.firstTryMs = outcome.firstTryMs;
    delivery.dueAtMs = outcome.dueAtMs;
    delivery.payload = undefined;
    if (outcome.isBack) queue.makeAllDue();
  }

  /** The endpoint waits, as for a receiver that is down, until its secret was rotated or the right key is back. */
  async function putOff(delivery: Delivery): Promise<void> {
    if (breaker.probeAtMs === null)
      log.warn(
        { endpoint: endpointId },
        'nothing is sent to a webhook endpoint: its secret was sealed under another FERRY_SECRET_KEY',
      );
    const outcome = unreadableOutcome(delivery, breaker, { endpointId, token, nowMs: nowMs(), random });
    breaker = outcome.breaker;
    if (!(await recorder.record(outcome))) stopping.abort();
    queue.end(delivery, false);
  }

  async function deliver(endpoint: Endpoint, delivery: Delivery): Promise<void> {
    const body = delivery.payload ?? (await eventPayload(database, lease.customerId, delivery.eventId));
    const attempted = await attempt(sender, sealer, {
      endpoint,
      eventId: delivery.eventId,
      body,
      nowMs: nowMs(),
    }).catch((error: unknown) => {
      if (error instanceof UnreadableSecret) return 'unreadable' as const;
      throw error;
    });
    if (dependencies.isAbandoned()) return;
    if (attempted === 'unreadable') return putOff(delivery);
    dependencies.attempted?.(attempted.isDelivered);
    const atMs = nowMs();
    const outcome = outcomeOf(attempted, delivery, breaker, { endpointId, token, nowMs: atMs, random });
    breaker = outcome.breaker;
    // The next event of the resource waits until this is written down: after a crash it is this one that comes again.
    if (!(await recorder.record(outcome))) {
      stopping.abort();
      return;
    }
    learn(outcome, delivery);
    queue.end(delivery, outcome.status !== 'PENDING');
    const reason = attempted.isDelivered
      ? undefined
      : disableReason(breaker, attempted.response?.status, atMs);
    if (reason !== undefined) {
      await dependencies.disable(endpoint, reason);
      renewedMs = 0;
    }
  }

  function begin(endpoint: Endpoint, delivery: Delivery): void {
    queue.start(delivery);
    const attempting = deliver(endpoint, delivery)
      .catch((error: unknown) => {
        log.warn(
          { err: error, endpoint: endpointId, delivery: delivery.id },
          'a delivery failed on our side',
        );
        isStuck ||= failureOf(error) === 'rejected';
        stopping.abort();
      })
      .finally(() => {
        underWay.delete(attempting);
        wake();
      });
    underWay.add(attempting);
  }

  /** As many as the endpoint may have at once; one, while it is only being probed. */
  function beginReady({ endpoint }: Held): void {
    if (leaseEndsMs - performance.now() < timing.attemptMs) return;
    const now = nowMs();
    if (breaker.probeAtMs === null) {
      for (const delivery of queue.ready(now, dependencies.concurrency - underWay.size))
        begin(endpoint, delivery);
      return;
    }
    const probe = underWay.size === 0 && now >= probeMs(breaker, now)! ? queue.probe() : undefined;
    if (probe !== undefined) begin(endpoint, probe);
    // Nothing is left to probe with: the next event will tell.
    else if (queue.size === 0) breaker = { ...breaker, probeAtMs: null };
  }

  function hasWorkSoon(): boolean {
    if (underWay.size > 0 || takesNews()) return true;
    const now = nowMs();
    const next = probeMs(breaker, now) ?? queue.nextDueMs(now);
    return next !== undefined && next - now <= timing.lingerMs;
  }

  async function pause(milliseconds: number): Promise<void> {
    if (isWoken || milliseconds <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      interrupt = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    interrupt = undefined;
  }

  function pauseMs(): number {
    const renewInMs = renewedMs + timing.renewMs - performance.now();
    const now = nowMs();
    const next = probeMs(breaker, now) ?? queue.nextDueMs(now);
    const dueInMs = next === undefined || isFull() ? renewInMs : next - now;
    const newsInMs = takesNews() && !isFull() ? Math.max(refillInMs(), 1) : renewInMs;
    return Math.min(renewInMs, newsInMs, Math.max(dueInMs, 1));
  }

  async function work(): Promise<void> {
    let idleSinceMs: number | undefined;
    while (!stopping.signal.aborted) {
      isWoken = false;
      if (performance.now() >= renewedMs + timing.renewMs && !(await renew())) return;
      if (held === undefined || held.generation !== loadedGeneration) {
        if (!(await reload())) return;
      }
      if (!held!.endpoint.enabled || stopping.signal.aborted) return;
      await refill(held!);
      beginReady(held!);
      if (hasWorkSoon()) idleSinceMs = undefined;
      else {
        idleSinceMs ??= performance.now();
        if (performance.now() - idleSinceMs >= timing.lingerMs) return;
      }
      await pause(idleSinceMs === undefined ? pauseMs() : Math.min(pauseMs(), timing.lingerMs));
    }
  }

  async function run(): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.warn({ err: error, endpoint: endpointId }, 'delivering to a webhook endpoint was interrupted');
      isStuck ||= failureOf(error) === 'rejected';
    }
    await Promise.all(underWay);
    // Kept until it runs out: no node tries again before, and the log has a line for each lease, not for each turn.
    if (isStuck) return;
    await releaseLease(database, endpointId, token).catch(() => undefined);
  }

  return {
    endpointId,
    customerId: lease.customerId,
    ended: run(),
    wake() {
      mayHaveNews = true;
      // Otherwise the next attempt that ends will do.
      if (!isFull()) wake();
    },
    stop() {
      stopping.abort();
      wake();
    },
  };
}

import type { Static } from 'typebox';
import { event } from '../events/outbox.ts';
import { type Actor, actorOf, workerActor } from '../kernel/actor.ts';
import { newId } from '../kernel/id.ts';
import { type Instant, NS_PER_MS } from '../kernel/instant.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import { type Command, read, refuse, type View, type Write, write } from '../ledger/command.ts';
import { LIMITS } from '../limits.ts';
import { type Endpoint, presentEndpoint, WEBHOOK_SPACE } from './endpoint.ts';
import { DISABLED_EVENT, TEST_EVENT } from './event-types.ts';
import type { CreateWebhookRequest, UpdateWebhookRequest } from './schema.ts';
import { newSecret } from './secrets.ts';
import { endpointCounts, endpoints, newEndpoints } from './store.ts';

const ALL = ['*'];

export function tooManyEndpoints(): Problem {
  return new Problem(
    'forbidden',
    `You already have ${LIMITS.webhookEndpointsMax} webhook endpoints, which is the maximum. Delete one first.`,
    { max: LIMITS.webhookEndpointsMax },
  );
}

export function createEndpointCommand(
  caller: Caller,
  request: Static<typeof CreateWebhookRequest>,
): Command<Endpoint> {
  const id = newId();
  const { customerId } = caller;
  const { url, event_types: eventTypes = ALL, description, ref_id: refId } = request;
  // Created here, because rules are pure and may run more than once.
  const secret = newSecret();
  const fields = { url, event_types: eventTypes, description };
  return {
    actor: actorOf(caller),
    key:
      refId === undefined
        ? undefined
        : { customerId, space: WEBHOOK_SPACE, refId, resourceId: id, request: fields },
    customerId,
    balances: [],
    reads: [read(endpointCounts, customerId)],
    decide(view) {
      const count = view.row(endpointCounts, customerId) ?? 0;
      if (count >= LIMITS.webhookEndpointsMax) return refuse(tooManyEndpoints());
      const endpoint: Endpoint = {
        id,
        customerId,
        url,
        eventTypes,
        description: description ?? null,
        refId: refId ?? null,
        enabled: true,
        disabledReason: null,
        secret,
        previousSecret: null,
        previousUntilNs: null,
        createdAtNs: view.recordedAt,
        updatedAtNs: view.recordedAt,
        deletedAtNs: null,
      };
      const writes = [write(newEndpoints, id, endpoint), write(endpointCounts, customerId, count + 1)];
      return { accepted: true, causeId: id, postings: [], writes, answer: endpoint };
    },
  };
}

/** The customer's endpoint, unless it was deleted. */
function existing(view: View, customerId: string, id: string): Endpoint | undefined {
  const endpoint = view.row(endpoints, id);
  return endpoint?.customerId === customerId && endpoint.deletedAtNs === null ? endpoint : undefined;
}

/** Changes an endpoint. `change` returns the changed endpoint and other rows to write; undefined changes nothing. */
function changeCommand(
  actor: Actor,
  customerId: string,
  id: string,
  change: (endpoint: Endpoint, view: View) => { next: Endpoint; also?: Write[] } | undefined,
): Command<Endpoint> {
  return {
    actor,
    customerId,
    balances: [],
    reads: [read(endpoints, id)],
    decide(view) {
      const endpoint = existing(view, customerId, id);
      if (endpoint === undefined) return refuse(notFound('webhook', id));
      const changed = change(endpoint, view);
      const next = changed === undefined ? endpoint : { ...changed.next, updatedAtNs: view.recordedAt };
      const writes = changed === undefined ? [] : [write(endpoints, id, next), ...(changed.also ?? [])];
      return { accepted: true, causeId: id, postings: [], writes, answer: next };
    },
  };
}

export function updateEndpointCommand(
  caller: Caller,
  id: string,
  request: Static<typeof UpdateWebhookRequest>,
): Command<Endpoint> {
  return changeCommand(actorOf(caller), caller.customerId, id, (endpoint) => ({
    next: {
      ...endpoint,
      url: request.url ?? endpoint.url,
      eventTypes: request.event_types ?? endpoint.eventTypes,
      description: request.description ?? endpoint.description,
      enabled: request.enabled ?? endpoint.enabled,
      disabledReason: request.enabled === undefined ? endpoint.disabledReason : null,
    },
  }));
}

/** The row is kept, because its ref_id stays in use; its secrets are erased. */
export function deleteEndpointCommand(caller: Caller, id: string): Command<Endpoint> {
  return changeCommand(actorOf(caller), caller.customerId, id, (endpoint, { now }) => ({
    next: {
      ...endpoint,
      enabled: false,
      secret: null,
      previousSecret: null,
      previousUntilNs: null,
      deletedAtNs: now,
    },
  }));
}

export function rotateSecretCommand(caller: Caller, id: string): Command<Endpoint> {
  const secret = newSecret();
  return changeCommand(actorOf(caller), caller.customerId, id, (endpoint, { now }) => {
    const previousUntilNs = now + BigInt(LIMITS.webhookSecretOverlapMs) * NS_PER_MS;
    return { next: { ...endpoint, secret, previousSecret: endpoint.secret, previousUntilNs } };
  });
}

/** Delivers events, and disables endpoints that fail. */
const DELIVERING = workerActor('webhooks');

/** The service disables an endpoint. The event reaches the customer through the feed and other endpoints. */
export function disableEndpointCommand(customerId: string, id: string, reason: string): Command<Endpoint> {
  return changeCommand(DELIVERING, customerId, id, (endpoint, { now }) => {
    if (!endpoint.enabled) return undefined;
    const next: Endpoint = { ...endpoint, enabled: false, disabledReason: reason };
    const shown = presentEndpoint({ ...next, updatedAtNs: now });
    return { next, also: [event(DISABLED_EVENT, customerId, id, now, shown)] };
  });
}

/** How to find the event, whose id is known only when it is written. */
export type TestEvent = { readonly endpoint: Endpoint; readonly batchId: string; readonly atNs: Instant };

/** An ordinary event about the endpoint itself. */
export function testEventCommand(caller: Caller, id: string): Command<TestEvent> {
  const { customerId } = caller;
  return {
    actor: actorOf(caller),
    customerId,
    balances: [],
    reads: [read(endpoints, id)],
    decide(view) {
      const endpoint = existing(view, customerId, id);
      if (endpoint === undefined) return refuse(notFound('webhook', id));
      const writes = [event(TEST_EVENT, customerId, id, view.recordedAt, presentEndpoint(endpoint))];
      const answer = { endpoint, batchId: view.batchId, atNs: view.recordedAt };
      return { accepted: true, causeId: id, postings: [], writes, answer };
    },
  };
}

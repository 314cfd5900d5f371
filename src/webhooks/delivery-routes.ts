import type { Static } from 'typebox';
import { eventText } from '../events/event.ts';
import { findWritten } from '../events/group-store.ts';
import { parseComparable } from '../kernel/instant.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { invalidField, notFound, Problem } from '../kernel/problem.ts';
import { type Caller, type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { LIMITS } from '../limits.ts';
import { attempt } from './attempt.ts';
import { testEventCommand } from './commands.ts';
import { type DeliveryWithEvent, presentDelivery } from './delivery.ts';
import {
  endTestDelivery,
  findDelivery,
  insertTestDelivery,
  listDeliveries,
  replayDelivery,
  replaySince,
} from './delivery-store.ts';
import { type Endpoint, presentEndpoint } from './endpoint.ts';
import { DELIVERY, REPLAYED_DELIVERY, WEBHOOK } from './examples.ts';
import { endpointOf, TAG, type WebhookDependencies } from './routes.ts';
import {
  DeliveriesQuery,
  DeliveryList,
  DeliveryParams,
  DeliveryShape,
  ReplayRequest,
  WebhookShape,
} from './schema.ts';

type Shown = Static<typeof DeliveryShape>;
const present = (row: DeliveryWithEvent): Shown => presentDelivery(row) as Shown;

export function stillPending(): Problem {
  return new Problem('invalid-state', 'The delivery is still pending.', { status: 'PENDING' });
}

export function deliveryRoutes(dependencies: WebhookDependencies): Route[] {
  return [...listRoutes(dependencies), ...replayRoutes(dependencies), testRoute(dependencies)];
}

function listRoutes({ database }: WebhookDependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v2/events/webhooks/{id}/deliveries',
      operationId: 'listWebhookDeliveries',
      tag: TAG,
      summary: 'List deliveries to a webhook endpoint',
      description:
        'With the last request and response of each. Events that wait for an endpoint that does not answer have no delivery yet. Deliveries are kept for 30 days.',
      scope: 'events:read_event',
      params: IdParams,
      query: DeliveriesQuery,
      response: DeliveryList,
      problems: ['not-found'],
      answer: { items: [DELIVERY] },
      async handle({ caller, params, query }) {
        const own = database.of(caller.customerId);
        const endpoint = await endpointOf(own, params.id);
        const page = readPage(query, 'deliveries');
        const rows = await listDeliveries(own, endpoint, query, page);
        return { body: await pageOf(rows, page, present) };
      },
    }),
    route({
      method: 'GET',
      path: '/v2/events/webhooks/{id}/deliveries/{delivery_id}',
      operationId: 'getWebhookDelivery',
      tag: TAG,
      summary: 'Get a delivery',
      scope: 'events:read_event',
      params: DeliveryParams,
      response: DeliveryShape,
      problems: ['not-found'],
      answer: DELIVERY,
      async handle({ caller, params }) {
        const own = database.of(caller.customerId);
        const endpoint = await endpointOf(own, params.id);
        const delivery = await findDelivery(own, endpoint, params.delivery_id);
        if (delivery === undefined) throw notFound('delivery', params.delivery_id);
        return { body: present(delivery) };
      },
    }),
  ];
}

function replayRoutes({ database, changed }: WebhookDependencies): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v2/events/webhooks/{id}/deliveries/{delivery_id}/replay',
      operationId: 'replayWebhookDelivery',
      tag: TAG,
      summary: 'Send the event of a delivery again',
      description:
        'Creates a new delivery with the same `webhook-id`. It is tried at once, and retried like any other.',
      scope: 'events:write_webhook',
      alsoScope: 'events:read_event',
      params: DeliveryParams,
      response: DeliveryShape,
      problems: ['not-found', 'invalid-state'],
      answer: REPLAYED_DELIVERY,
      async handle({ caller, params }) {
        const own = database.of(caller.customerId);
        const endpoint = await endpointOf(own, params.id);
        const delivery = await findDelivery(own, endpoint, params.delivery_id);
        if (delivery === undefined) throw notFound('delivery', params.delivery_id);
        if (delivery.status === 'PENDING') throw stillPending();
        const id = await replayDelivery(database, delivery.id);
        changed(caller.customerId);
        return { body: present((await findDelivery(own, endpoint, id))!) };
      },
    }),
    route({
      method: 'POST',
      path: '/v2/events/webhooks/{id}/replay',
      operationId: 'replayWebhook',
      tag: TAG,
      summary: 'Send all events since a time again',
      description:
        'Sends all events since that time again, in order, each with its own `webhook-id`, if the endpoint subscribes to their type; including events from before the endpoint was created.',
      scope: 'events:write_webhook',
      alsoScope: 'events:read_event',
      params: IdParams,
      body: ReplayRequest,
      example: { since: '2026-01-01T00:00:00Z' },
      response: WebhookShape,
      problems: ['not-found'],
      answer: WEBHOOK,
      async handle({ caller, params, body }) {
        const endpoint = await endpointOf(database.of(caller.customerId), params.id);
        const since = parseComparable(body.since);
        if (since === undefined) throw invalidField('/since', 'must be an RFC 3339 time');
        await replaySince(database, endpoint.id, since);
        changed(caller.customerId);
        return { body: presentEndpoint(endpoint) };
      },
    }),
  ];
}

function testRoute(dependencies: WebhookDependencies): Route {
  const { database, writePath, sender } = dependencies;
  const inFlight = new Map<string, number>();

  /** Sent by the request itself, not through the queue of the endpoint, so that the answer contains the result. */
  async function sendTest(caller: Caller, known: Endpoint): Promise<DeliveryWithEvent> {
    const { id } = known;
    const outcome = await writePath.submit(testEventCommand(caller, id));
    if (outcome.replayed) throw new Error('a test has no idempotency key, and cannot be replayed');
    const { endpoint, batchId, atNs } = outcome.answer;
    const own = database.of(caller.customerId);
    const event = await findWritten(own, caller.customerId, { batchId, resourceId: id, atNs });
    const deliveryId = await insertTestDelivery(database, endpoint, event);
    const post = { endpoint, eventId: event.id, body: eventText(event), nowMs: dependencies.clock.nowMs() };
    const tried = await attempt(sender, post);
    const status = tried.isDelivered ? 'DELIVERED' : 'FAILED';
    await endTestDelivery(database, deliveryId, { ...tried, status });
    return (await findDelivery(own, endpoint, deliveryId))!;
  }

  return route({
    method: 'POST',
    path: '/v2/events/webhooks/{id}/test',
    operationId: 'testWebhook',
    tag: TAG,
    summary: 'Send a test event',
    description:
      'Sends an event of type `webhook_endpoint.test` at once, even if the endpoint is disabled or does not subscribe to it, and answers with the result. It is not retried.',
    scope: 'events:write_webhook',
    params: IdParams,
    response: DeliveryShape,
    problems: ['not-found'],
    answer: DELIVERY,
    async handle({ caller, params }) {
      const endpoint = await endpointOf(database.of(caller.customerId), params.id);
      const { customerId } = caller;
      const others = inFlight.get(customerId) ?? 0;
      if (others >= LIMITS.webhookTestsMax) {
        throw new Problem(
          'rate-limited',
          `${others} of your tests are already in progress, which is the maximum.`,
          { in_flight: others },
          10,
        );
      }
      inFlight.set(customerId, others + 1);
      try {
        return { body: present(await sendTest(caller, endpoint)) };
      } finally {
        const left = inFlight.get(customerId)! - 1;
        if (left === 0) inFlight.delete(customerId);
        else inFlight.set(customerId, left);
      }
    },
  });
}

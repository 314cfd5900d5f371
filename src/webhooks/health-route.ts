import type { Database } from '../database/database.ts';
import { formatInstant, NS_PER_MS } from '../kernel/instant.ts';
import { type Route, route } from '../kernel/route.ts';
import { closed, DateTime, Id } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { DELIVERY_STATUSES } from './delivery.ts';
import { WEBHOOK_HEALTH } from './examples.ts';
import { ENDPOINT_STATES, type EndpointHealth, endpointHealth } from './health-store.ts';

const EndpointHealthShape = Type.Object(
  {
    webhook_id: Id('The endpoint'),
    customer_id: Id('Its owner'),
    url: Type.String(),
    state: Type.Enum([...ENDPOINT_STATES], {
      description: 'FAILING: every attempt since `failing_since` has failed. DISABLED: nothing is sent',
    }),
    disabled_reason: Type.Optional(Type.String({ description: 'Why the service disabled it' })),
    failing_since: Type.Optional(DateTime('Since when every attempt has failed')),
    failures: Type.Integer({ description: 'Attempts that failed, one after another' }),
    pending: Type.Integer({
      description: `Deliveries that wait for an attempt; at most ${LIMITS.webhookHealthPendingMax} are counted`,
    }),
    oldest_pending_at: Type.Optional(DateTime('When the oldest of them was created')),
    latest: Type.Array(Type.Enum([...DELIVERY_STATUSES]), {
      description: `Statuses of the latest deliveries, newest first; at most ${LIMITS.webhookHealthDeliveries}`,
    }),
  },
  { ...closed, title: 'WebhookEndpointHealth' },
);

const Count = (what: string) =>
  Type.Integer({ description: `${what}; at most ${LIMITS.backlogCountMax} endpoints are counted` });

export const WebhookHealthShape = Type.Object(
  {
    delivering: Count('Endpoints that answer'),
    failing: Count('Endpoints that fail'),
    disabled: Count('Endpoints that are disabled'),
    items: Type.Array(EndpointHealthShape, {
      description: `The endpoint that has failed the longest first, then disabled ones, then those that answer; at most ${LIMITS.webhookHealthMax}`,
    }),
  },
  { ...closed, title: 'WebhookHealth' },
);

function present(one: EndpointHealth) {
  const { disabledReason, failingSinceMs, oldestPendingNs } = one;
  return {
    webhook_id: one.id,
    customer_id: one.customerId,
    url: one.url,
    state: one.state,
    ...(disabledReason !== null && { disabled_reason: disabledReason }),
    ...(failingSinceMs !== null && { failing_since: formatInstant(failingSinceMs * NS_PER_MS) }),
    failures: one.failures,
    pending: one.pending,
    ...(oldestPendingNs !== null && { oldest_pending_at: formatInstant(oldestPendingNs) }),
    latest: [...one.latest],
  };
}

/** The endpoints of all customers, for operators. */
export function healthRoute({ database }: { database: Database }): Route {
  return route({
    method: 'GET',
    path: '/v2/operator/webhooks',
    operationId: 'getWebhookHealth',
    tag: 'Operator',
    summary: 'See how the webhook endpoints of all customers answer',
    description: 'The worst first, each with its backlog and the outcome of its latest deliveries.',
    scope: 'operator:read',
    response: WebhookHealthShape,
    problems: [],
    answer: WEBHOOK_HEALTH,
    async handle() {
      const rows = await endpointHealth(database);
      const {
        FAILING: failing = 0,
        DISABLED: disabled = 0,
        DELIVERING: delivering = 0,
      } = rows[0]?.counts ?? {};
      return { body: { delivering, failing, disabled, items: rows.map(present) } };
    },
  });
}

import type { Logger } from 'pino';
import { createEventCatalogue } from '../events/types.ts';
import { type Capability, OPERATOR_TAG } from '../kernel/capability.ts';
import type { EventFamily } from '../kernel/event-types.ts';
import type { Signal } from '../kernel/signal.ts';
import { webhookBacklogs } from './backlog-store.ts';
import { disableEndpointCommand } from './commands.ts';
import { deliveryRoutes } from './delivery-routes.ts';
import { olderDeliveries } from './delivery-store.ts';
import { createDispatcher, type Dispatcher } from './dispatcher.ts';
import { WEBHOOK_EVENTS } from './event-types.ts';
import { healthRoute } from './health-route.ts';
import { WEBHOOK_PROBLEMS } from './problem-examples.ts';
import { type WebhookDependencies, webhookRoutes } from './routes.ts';
import { createSender, type Sender } from './sender.ts';

type Dependencies = Pick<WebhookDependencies, 'database' | 'writePath' | 'reach' | 'clock'> & {
  /** The event types of all other capabilities. */
  readonly eventTypes: readonly EventFamily[];
  /** The feeds of these customers have grown. */
  readonly feedGrown: Signal<readonly string[]>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** For metrics. */
  readonly attempted?: (isDelivered: boolean) => void;
};

function createDeliveries(dependencies: Dependencies, sender: Sender): Dispatcher {
  const { database, writePath, clock, log, attempted } = dependencies;
  return createDispatcher({
    database,
    clock,
    sender,
    log,
    async disable({ id, customerId }, reason) {
      log.info({ endpoint: id, reason }, 'disabling a webhook endpoint');
      await writePath.submit(disableEndpointCommand(customerId, id, reason));
    },
    ...(attempted && { attempted }),
  });
}

/** Webhook endpoints, and the delivery of events to them. */
export function createWebhooks(dependencies: Dependencies): Capability {
  const { database, feedGrown } = dependencies;
  const sender = createSender({ reach: dependencies.reach });
  const deliveries = createDeliveries(dependencies, sender);
  feedGrown.listen((customerIds) => deliveries.wake(customerIds));
  const shared: WebhookDependencies = {
    ...dependencies,
    catalogue: createEventCatalogue([...dependencies.eventTypes, WEBHOOK_EVENTS]),
    sender,
    changed: (customerId) => deliveries.wake([customerId]),
  };
  return {
    name: 'webhooks',
    routes: [...webhookRoutes(shared), ...deliveryRoutes(shared), healthRoute({ database })],
    tags: { Webhooks: 'The same events, sent to you.', ...OPERATOR_TAG },
    problemExamples: WEBHOOK_PROBLEMS,
    eventTypes: [{ ...WEBHOOK_EVENTS, resource: 'Webhook' }],
    workers: [
      { name: 'webhook deliveries', stage: 'background', start: deliveries.start, stop: deliveries.stop },
    ],
    backlogs: webhookBacklogs(database),
    olderRows: [olderDeliveries(database)],
  };
}

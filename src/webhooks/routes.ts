import type { CustomerReads, Database } from '../database/database.ts';
import type { EventCatalogue } from '../events/types.ts';
import type { Clock } from '../kernel/clock.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { invalidField, invalidRequest, notFound } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import type { Command } from '../ledger/command.ts';
import { createOnce } from '../ledger/create.ts';
import type { WritePath } from '../ledger/write-path.ts';
import {
  createEndpointCommand,
  deleteEndpointCommand,
  rotateSecretCommand,
  updateEndpointCommand,
} from './commands.ts';
import { type Endpoint, presentEndpoint, presentSecret, presentStanding } from './endpoint.ts';
import { CREATED_WEBHOOK, DELETED_WEBHOOK, ROTATED_WEBHOOK, UPDATED_WEBHOOK, WEBHOOK } from './examples.ts';
import {
  CreateWebhookRequest,
  UpdateWebhookRequest,
  WebhookList,
  WebhookShape,
  WebhooksQuery,
  WebhookWithSecretShape,
} from './schema.ts';
import type { Sender } from './sender.ts';
import { findAnyEndpoint, findStandings, listEndpoints } from './store.ts';
import { type Reach, urlFault } from './url.ts';

export type WebhookDependencies = {
  readonly database: Database;
  readonly writePath: WritePath;
  readonly catalogue: EventCatalogue;
  readonly sender: Sender;
  readonly reach: Reach;
  /** The database's clock. */
  readonly clock: Clock;
  /** There is something to deliver, or an endpoint has changed. */
  changed(customerId: string): void;
};

export const TAG = 'Webhooks';

/** An endpoint of the customer that is not deleted. */
export async function endpointOf(own: CustomerReads, id: string): Promise<Endpoint> {
  const endpoint = await findAnyEndpoint(own, own.customerId, id);
  if (endpoint === undefined || endpoint.deletedAtNs !== null) throw notFound('webhook', id);
  return endpoint;
}

async function submitChange(writePath: WritePath, command: Command<Endpoint>): Promise<Endpoint> {
  const outcome = await writePath.submit(command);
  if (outcome.replayed) throw new Error('a change has no idempotency key, and cannot be replayed');
  return outcome.answer;
}

async function checkRequest(
  request: { url?: string; event_types?: string[] },
  { reach, sender, catalogue }: WebhookDependencies,
): Promise<void> {
  const errors = catalogue.faultsOf('/event_types', request.event_types);
  const fault = request.url === undefined ? undefined : urlFault(request.url, reach);
  if (fault !== undefined) errors.push({ pointer: '/url', message: fault });
  if (errors.length > 0) throw invalidRequest(errors);
  // Every connection is checked as well, because a name may resolve differently later; this reports the error early.
  const hostFault = request.url === undefined ? undefined : await sender.hostFault(request.url);
  if (hostFault !== undefined) throw invalidField('/url', `must name a public address: ${hostFault}`);
}

export function webhookRoutes(dependencies: WebhookDependencies): Route[] {
  return [...readRoutes(dependencies), createRoute(dependencies), ...changeRoutes(dependencies)];
}

function createRoute(dependencies: WebhookDependencies): Route {
  const { database, writePath } = dependencies;
  return route({
    method: 'POST',
    path: '/v2/events/webhooks',
    operationId: 'createWebhook',
    tag: TAG,
    summary: 'Create a webhook endpoint',
    description:
      'Events from now on are sent to the URL, signed with the `secret` of the answer as the Standard Webhooks specification defines. The secret is shown once, in this answer: if the answer is lost, rotate the secret.',
    scope: 'events:write_webhook',
    alsoScope: 'events:read_event',
    body: CreateWebhookRequest,
    eventsTo: '{$request.body#/url}',
    example: {
      url: 'https://example.com/ferry',
      event_types: ['transfer.*'],
      ref_id: 'transfers-to-example',
    },
    response: WebhookWithSecretShape,
    problems: ['forbidden', 'already-exists'],
    answer: CREATED_WEBHOOK,
    async handle({ caller, body }) {
      await checkRequest(body, dependencies);
      let found: Endpoint | undefined;
      const { body: shown, replayed } = await createOnce(writePath, {
        command: createEndpointCommand(caller, body),
        load: (id) => findAnyEndpoint(database.of(caller.customerId), caller.customerId, id),
        // Without the secret, which the answer to a different request with the same ref_id must not contain.
        present(endpoint) {
          found = endpoint;
          return presentEndpoint(endpoint);
        },
      });
      return replayed === true ? { body: shown, replayed } : { body: { ...shown, ...presentSecret(found!) } };
    },
  });
}

function readRoutes({ database }: WebhookDependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v2/events/webhooks',
      operationId: 'listWebhooks',
      tag: TAG,
      summary: 'List webhook endpoints',
      scope: 'events:read_event',
      query: WebhooksQuery,
      response: WebhookList,
      problems: [],
      answer: { items: [WEBHOOK] },
      async handle({ caller, query }) {
        const page = readPage(query, 'webhooks');
        const own = database.of(caller.customerId);
        const rows = await listEndpoints(own, caller.customerId, query, page);
        const standings = await findStandings(
          own,
          rows.rows.map(({ id }) => id),
        );
        const present = (row: Endpoint) => ({
          ...presentEndpoint(row),
          ...presentStanding(standings.get(row.id)),
        });
        return { body: await pageOf(rows, page, present) };
      },
    }),
    route({
      method: 'GET',
      path: '/v2/events/webhooks/{id}',
      operationId: 'getWebhook',
      tag: TAG,
      summary: 'Get a webhook endpoint',
      scope: 'events:read_event',
      params: IdParams,
      response: WebhookShape,
      problems: ['not-found'],
      answer: WEBHOOK,
      async handle({ caller, params }) {
        const own = database.of(caller.customerId);
        const endpoint = await endpointOf(own, params.id);
        const standings = await findStandings(own, [endpoint.id]);
        return { body: { ...presentEndpoint(endpoint), ...presentStanding(standings.get(endpoint.id)) } };
      },
    }),
  ];
}

function changeRoutes(dependencies: WebhookDependencies): Route[] {
  const { database, writePath, changed } = dependencies;
  const common = { tag: TAG, scope: 'events:write_webhook', params: IdParams } as const;
  return [
    route({
      ...common,
      method: 'PUT',
      path: '/v2/events/webhooks/{id}',
      operationId: 'updateWebhook',
      alsoScope: 'events:read_event',
      summary: 'Change a webhook endpoint',
      description:
        'Omitted fields keep their values. A disabled endpoint keeps its place in the feed: when it is enabled again, all events since then are sent. Takes effect within two seconds on every node.',
      body: UpdateWebhookRequest,
      example: { event_types: ['transfer.*', 'settlement.*'], enabled: true },
      response: WebhookShape,
      problems: ['not-found'],
      answer: UPDATED_WEBHOOK,
      async handle({ caller, params, body }) {
        await endpointOf(database.of(caller.customerId), params.id);
        await checkRequest(body, dependencies);
        const endpoint = await submitChange(writePath, updateEndpointCommand(caller, params.id, body));
        changed(caller.customerId);
        return { body: presentEndpoint(endpoint) };
      },
    }),
    route({
      ...common,
      method: 'DELETE',
      path: '/v2/events/webhooks/{id}',
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook endpoint',
      description: 'Answers with the endpoint, and its `deleted_at`. Nothing more is sent to it.',
      response: WebhookShape,
      problems: ['not-found'],
      answer: DELETED_WEBHOOK,
      async handle({ caller, params }) {
        await endpointOf(database.of(caller.customerId), params.id);
        const endpoint = await submitChange(writePath, deleteEndpointCommand(caller, params.id));
        changed(caller.customerId);
        return { body: presentEndpoint(endpoint) };
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/v2/events/webhooks/{id}/rotate-secret',
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the secret of a webhook endpoint',
      description:
        'Answers with the new secret. For 24 hours both the new and the old secret sign, so that receivers can switch at any time.',
      response: WebhookWithSecretShape,
      problems: ['not-found'],
      answer: ROTATED_WEBHOOK,
      async handle({ caller, params }) {
        await endpointOf(database.of(caller.customerId), params.id);
        const endpoint = await submitChange(writePath, rotateSecretCommand(caller, params.id));
        changed(caller.customerId);
        return { body: { ...presentEndpoint(endpoint), ...presentSecret(endpoint) } };
      },
    }),
  ];
}

import { EventShape, EventType } from '../events/schema.ts';
import { listQuery, listShape, Several } from '../kernel/paging.ts';
import { closed, DateTime, Id, RefId, TEXT_PATTERN } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { DELIVERY_STATUSES } from './delivery.ts';

const Headers = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
});

const Url = Type.String({
  minLength: 1,
  maxLength: LIMITS.webhookUrlLengthMax,
  description: 'Where events are sent with POST. In production: https and a public address',
  examples: ['https://example.com/ferry'],
});
const EventTypes = Type.Array(EventType, {
  minItems: 1,
  maxItems: LIMITS.eventTypesMax,
  description: 'Types of events to send. Default: all, `["*"]`',
});
const Description = Type.String({ maxLength: LIMITS.descriptionLengthMax, pattern: TEXT_PATTERN });

export const CreateWebhookRequest = Type.Object(
  {
    url: Url,
    event_types: Type.Optional(EventTypes),
    description: Type.Optional(Description),
    ref_id: Type.Optional(RefId),
  },
  { ...closed, title: 'CreateWebhookRequest' },
);

export const UpdateWebhookRequest = Type.Object(
  {
    url: Type.Optional(Url),
    event_types: Type.Optional(EventTypes),
    description: Type.Optional(Description),
    enabled: Type.Optional(
      Type.Boolean({
        description:
          'An endpoint that is enabled again continues with the first event that it has not received',
      }),
    ),
  },
  { ...closed, minProperties: 1, title: 'UpdateWebhookRequest' },
);

const endpointFields = {
  id: Id('Identifier of the endpoint'),
  url: Type.String(),
  event_types: Type.Array(Type.String()),
  enabled: Type.Boolean(),
  description: Type.Optional(Type.String()),
  disabled_reason: Type.Optional(Type.String({ description: 'Why the service disabled it' })),
  ref_id: Type.Optional(Type.String()),
  failing_since: Type.Optional(
    DateTime('Since when every attempt has failed. Absent for a healthy endpoint'),
  ),
  next_attempt_at: Type.Optional(
    DateTime('When the next attempt is due. Present while the endpoint fails and is enabled'),
  ),
  previous_secret_expires_at: Type.Optional(DateTime('Until then the previous secret signs as well')),
  created_at: DateTime('When it was created'),
  updated_at: DateTime('When it was last changed'),
  deleted_at: Type.Optional(DateTime('When it was deleted')),
};

export const WebhookShape = Type.Object(endpointFields, { ...closed, title: 'Webhook' });

export const WebhookWithSecretShape = Type.Object(
  {
    ...endpointFields,
    secret: Type.Optional(
      Type.String({
        description: 'Signs what is sent to you (Standard Webhooks). Store it: it is not shown again',
        examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      }),
    ),
  },
  { ...closed, title: 'WebhookWithSecret' },
);

export const WebhooksQuery = listQuery({ ids: Several(Id('webhook'), 'Only these endpoints') }, [
  'created_at',
]);
export const WebhookList = listShape(WebhookShape, 'WebhookList');

export const DeliveryShape = Type.Object(
  {
    id: Id('Identifier of the delivery'),
    webhook_id: Id('The endpoint'),
    event_id: Id('The event, and the `webhook-id` of every attempt'),
    event_type: Type.String(),
    trigger: Type.Enum(['EVENT', 'REPLAY', 'TEST']),
    status: Type.Enum([...DELIVERY_STATUSES], {
      description:
        'PENDING until an attempt is answered with 2xx; FAILED if no attempt succeeds within three days',
    }),
    attempts: Type.Integer(),
    next_attempt_at: Type.Optional(DateTime('Earliest time of the next attempt')),
    request: Type.Optional(
      Type.Object(
        {
          url: Type.String(),
          headers: Headers,
          body: EventShape,
        },
        { ...closed, description: 'The request of the last attempt' },
      ),
    ),
    response: Type.Optional(
      Type.Object(
        {
          status: Type.Integer(),
          headers: Headers,
          body: Type.String({ description: `The first ${LIMITS.webhookResponseBytesMax} bytes` }),
          duration_ms: Type.Integer(),
        },
        { ...closed, description: 'The response to the last attempt; absent if there was none' },
      ),
    ),
    error: Type.Optional(Type.String({ description: 'Why there is no response' })),
    created_at: DateTime('When the delivery was created'),
    updated_at: DateTime('Time of the last attempt'),
  },
  { ...closed, title: 'WebhookDelivery' },
);

export const DeliveriesQuery = listQuery(
  {
    ids: Several(Id('delivery'), 'Only these deliveries'),
    statuses: Several(Type.Enum([...DELIVERY_STATUSES]), 'Only deliveries with these statuses'),
    event_ids: Several(Id('event'), 'Only deliveries of these events'),
  },
  ['created_at'],
);
export const DeliveryList = listShape(DeliveryShape, 'WebhookDeliveryList');

export const DeliveryParams = Type.Object(
  { id: Id('The endpoint'), delivery_id: Id('The delivery') },
  { additionalProperties: false },
);

export const ReplayRequest = Type.Object(
  { since: DateTime('Events since this time are sent again, in order') },
  { ...closed, title: 'ReplayWebhookRequest' },
);

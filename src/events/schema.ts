import { Several } from '../kernel/paging.ts';
import { closed, DateTime, Id } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { EVENT_TYPE_PATTERN } from './types.ts';

export const EventType = Type.String({
  pattern: EVENT_TYPE_PATTERN,
  maxLength: LIMITS.eventTypeLengthMax,
  description: 'A type of event, or a pattern: `*` matches any text',
  examples: ['transfer.*'],
});

export const EventShape = Type.Object(
  {
    id: Id('Identifier of the event, and the `webhook-id` of its deliveries'),
    type: Type.String({
      description: 'The kind of resource, and what happened to it',
      examples: ['transfer.wire_withdrawal.pending'],
    }),
    created_at: DateTime('When it happened'),
    resource_id: Id('The resource that the event is about'),
    data: Type.Object(
      {},
      { additionalProperties: true, description: 'The whole resource, as it was at that time' },
    ),
  },
  { ...closed, title: 'Event' },
);

const filters = {
  ids: Several(Id('event'), 'Only these events'),
  types: Several(EventType, 'Only events of these types'),
  resource_ids: Several(Id('resource'), 'Only events of these resources'),
};

const cursor = Type.Optional(
  Type.String({
    maxLength: 200,
    description:
      'next_page_cursor of an earlier page, or the id of the last event that was processed. Neither expires',
  }),
);

const times = Object.fromEntries(
  ['lt', 'lte', 'eq', 'gte', 'gt'].map((operator) => [
    `created_at.${operator}`,
    Type.Optional(DateTime(`created_at ${operator}`)),
  ]),
);

export const EventsQuery = Type.Object(
  {
    ...filters,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIMITS.pageLimitMax,
        description: `Default ${LIMITS.pageLimitDefault}`,
      }),
    ),
    wait_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LIMITS.eventWaitSecondsMax,
        description: 'How long to wait for events if there are none. Default 0',
      }),
    ),
    page_cursor: cursor,
    ...(times as object),
  },
  closed,
);

export const EventPage = Type.Object(
  {
    items: Type.Array(EventShape),
    next_page_cursor: Type.String({
      description: 'Where to continue. Always present, even if there are no items; never expires',
    }),
    has_more: Type.Boolean({
      description:
        'Whether there are more events already. A page may be short or empty although there are more',
    }),
  },
  { ...closed, title: 'EventPage' },
);

export const EventStreamQuery = Type.Object({ ...filters, page_cursor: cursor }, closed);

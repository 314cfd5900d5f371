import { Type } from 'typebox';
import { Several } from '../kernel/paging.ts';
import { closed, DateTime, Id } from '../kernel/shapes.ts';
import { LIMITS } from '../limits.ts';
import { EVENT_TYPE_PATTERN } from './types.ts';

export const EventType = Type.String({
  pattern: EVENT_TYPE_PATTERN,
  maxLength: LIMITS.eventTypeLengthMax,
  description: 'A type of event, or several: `*` stands for any text',
  examples: ['transfer.*'],
});

export const EventShape = Type.Object(
  {
    id: Id('Identifier of the event, and the `webhook-id` of its deliveries'),
    type: Type.String({
      description: 'What happened to which kind of resource',
      examples: ['transfer.wire_withdrawal.pending'],
    }),
    created_at: DateTime('When it happened'),
    resource_id: Id('The resource it happened to'),
    data: Type.Object({}, { additionalProperties: true, description: 'The whole resource, as it was then' }),
  },
  { ...closed, title: 'Event' },
);

const filters = {
  ids: Several(Id('event'), 'Only these events'),
  types: Several(EventType, 'Only events of these types'),
  resource_ids: Several(Id('resource'), 'Only events of these resources'),
};

const cursor = Type.Optional(
  Type.String({ maxLength: 200, description: 'next_page_cursor of an earlier page, however old' }),
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
        description: 'Wait that long for events when there are none yet. Default 0',
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
      description: 'Always there, also when there are no items: where to go on, now or whenever you like',
    }),
    has_more: Type.Boolean({
      description:
        'Whether more is there already. A page may be short, or empty, and still have more after it',
    }),
  },
  { ...closed, title: 'EventPage' },
);

export const EventStreamQuery = Type.Object({ ...filters, page_cursor: cursor }, closed);

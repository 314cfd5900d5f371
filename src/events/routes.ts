import type { CustomerReads, Database } from '../database/database.ts';
import { isId } from '../kernel/id.ts';
import { joinedTexts, readPage } from '../kernel/paging.ts';
import { createPlaces, tooMany } from '../kernel/places.ts';
import { invalidField, invalidRequest, notFound } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { LIMITS } from '../limits.ts';
import type { Cursors } from './cursor.ts';
import { eventText, FEED_START, type FeedPlace, LINE_MAX } from './event.ts';
import { type EventExample, eventExample, eventPageExample } from './examples.ts';
import { feedHead, findEvent } from './feed-store.ts';
import type { FeedFilter } from './filter.ts';
import type { News } from './news.ts';
import { EventPage, EventShape, EventStreamQuery, EventsQuery } from './schema.ts';
import { readOrWait, streamEvents } from './stream.ts';
import type { EventCatalogue } from './types.ts';

export type EventDependencies = {
  readonly database: Database;
  readonly news: News;
  readonly catalogue: EventCatalogue;
  readonly cursors: Cursors;
  /** See `FeedFilter`. */
  readonly batchesOf: (own: CustomerReads, resourceIds: readonly string[]) => Promise<readonly string[]>;
  readonly example: EventExample;
  readonly heartbeatMs?: number;
};

type Query = { ids?: string[]; types?: string[]; resource_ids?: string[]; page_cursor?: string };

function readFilter(
  query: Query,
  own: CustomerReads,
  { catalogue, batchesOf }: EventDependencies,
): FeedFilter {
  const errors = catalogue.faultsOf('/query/types', query.types);
  if (errors.length > 0) throw invalidRequest(errors);
  const { ranges } = readPage({ ...query, page_cursor: undefined }, 'events');
  const batchesOfOwn = (resourceIds: readonly string[]) => batchesOf(own, resourceIds);
  const { ids, types, resource_ids: resourceIds } = query;
  return { ids, types, resourceIds, batchesOf: batchesOfOwn, ranges };
}

/** After an event that the client has processed, which it names by its id, or after a page. */
async function placeAfter(
  own: CustomerReads,
  cursors: Cursors,
  last: string,
  pointer: string,
): Promise<FeedPlace> {
  const event = isId(last) ? await findEvent(own, own.customerId, last) : undefined;
  if (event !== undefined) return { position: event.position, line: event.line };
  const place = cursors.read(last);
  if (place === undefined)
    throw invalidField(pointer, 'must be a next_page_cursor of the event feed, or the id of an event');
  return place;
}

export function eventRoutes(dependencies: EventDependencies): Route[] {
  const { database, news, cursors } = dependencies;
  const example = eventExample(dependencies.example);
  return [
    route({
      method: 'GET',
      path: '/v2/events',
      operationId: 'listEvents',
      tag: 'Events',
      summary: 'Read the event feed',
      description:
        'Oldest first, from the beginning or from `page_cursor`. Unlike other lists the feed has no end: `next_page_cursor` is always present and never expires. With `wait_seconds`, the answer comes as soon as there are events. New events never appear before events that were already read.',
      scope: 'events:read_event',
      query: EventsQuery,
      response: EventPage,
      problems: [],
      answer: eventPageExample(example),
      async handle({ caller, query, signal, rest }) {
        const { customerId } = caller;
        const own = database.of(customerId);
        const filter = readFilter(query, own, dependencies);
        const start =
          query.page_cursor === undefined
            ? FEED_START
            : await placeAfter(own, cursors, query.page_cursor, '/query/page_cursor');
        const waitMs = (query.wait_seconds ?? 0) * 1_000;
        if (waitMs > 0 && news.waiting(customerId) >= LIMITS.eventWaitersMax)
          throw tooMany('requests waiting for events', LIMITS.eventWaitersMax, LIMITS.eventWaitSecondsMax);
        const reading = { database: own, news, customerId, filter, signal: signal(), rest };
        const page = await readOrWait(reading, start, query.limit ?? LIMITS.pageLimitDefault, waitMs);
        const items = await joinedTexts(page.events, eventText);
        const cursor = cursors.write(page.next);
        return { body: `{"items":[${items}],"next_page_cursor":"${cursor}","has_more":${page.hasMore}}` };
      },
    }),
    streamRoute(dependencies),
    route({
      method: 'GET',
      path: '/v2/events/{id}',
      operationId: 'getEvent',
      tag: 'Events',
      summary: 'Get an event',
      scope: 'events:read_event',
      params: IdParams,
      response: EventShape,
      problems: ['not-found'],
      answer: example,
      async handle({ caller, params }) {
        const event = await findEvent(database.of(caller.customerId), caller.customerId, params.id);
        if (event === undefined) throw notFound('event', params.id);
        return { body: eventText(event) };
      },
    }),
  ];
}

function streamRoute(dependencies: EventDependencies): Route {
  const { database, news, cursors, heartbeatMs } = dependencies;
  const open = createPlaces('event streams', LIMITS.eventStreamsMax, LIMITS.eventWaitSecondsMax);

  async function startOf(own: CustomerReads, query: Query, last: string | undefined): Promise<FeedPlace> {
    const { page_cursor: cursor } = query;
    if (last !== undefined && last !== '') return placeAfter(own, cursors, last, '/header/Last-Event-ID');
    if (cursor !== undefined) return placeAfter(own, cursors, cursor, '/query/page_cursor');
    return { position: (await feedHead(own)).position, line: LINE_MAX };
  }

  return route({
    method: 'GET',
    path: '/v2/events/stream',
    operationId: 'streamEvents',
    tag: 'Events',
    summary: 'Follow the event feed as server-sent events',
    description:
      'Each message is an event. Its id is the place to continue from: a client that sends it back as `Last-Event-ID` misses no events. Starts with new events, or after `page_cursor`. Ends when the access token expires.',
    scope: 'events:read_event',
    query: EventStreamQuery,
    response: EventShape,
    streams: ['text/event-stream'],
    problems: [],
    answer: eventExample(dependencies.example),
    async handle({ caller, query, signal, header }) {
      const { customerId } = caller;
      const own = database.of(customerId);
      const filter = readFilter(query, own, dependencies);
      const start = await startOf(own, query, header('last-event-id'));
      open.occupy(customerId, signal());
      // The request has ended once the stream begins: it has no place among the reads.
      const rest = <Result>(wait: Promise<Result>): Promise<Result> => wait;
      const reading = { database: own, news, customerId, filter, signal: signal(), rest };
      return { body: streamEvents(reading, cursors, start, heartbeatMs) as never };
    },
  });
}

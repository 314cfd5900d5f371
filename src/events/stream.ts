import type { Queryable } from '../database/database.ts';
import { LIMITS } from '../limits.ts';
import type { Cursors } from './cursor.ts';
import { eventText, type FeedPlace } from './event.ts';
import { type FeedPage, readFeed } from './feed-store.ts';
import type { FeedFilter } from './filter.ts';
import type { News } from './news.ts';

export type FeedReading = {
  readonly database: Queryable;
  readonly news: News;
  readonly customerId: string;
  readonly filter: FeedFilter;
  readonly signal: AbortSignal;
  /** Waits for news without occupying one of the places for reads. */
  rest<Result>(wait: Promise<Result>): Promise<Result>;
};

/**
 * The next page; if there are no events yet, those that come within `waitMs`. The wait begins before the feed is read, so
 * that no event is missed in between.
 */
export async function readOrWait(
  { database, news, customerId, filter, signal, rest }: FeedReading,
  start: FeedPlace,
  limit: number,
  waitMs: number,
): Promise<FeedPage> {
  const bounds = { limit, scanMax: LIMITS.eventScanMax };
  const deadline = performance.now() + waitMs;
  let after = start;
  for (;;) {
    const enough = new AbortController();
    const waiting = news.wait(
      customerId,
      deadline - performance.now(),
      AbortSignal.any([signal, enough.signal]),
    );
    try {
      const page = await readFeed(database, customerId, filter, after, bounds);
      const isOver = performance.now() >= deadline || signal.aborted || news.isClosed();
      if (page.events.length > 0 || page.hasMore || isOver) return page;
      // Events that do not match the filter are not read again.
      after = page.next;
      await rest(waiting);
    } finally {
      enough.abort();
    }
  }
}

/** How long a client waits before it reconnects after the connection was lost. */
const RETRY_MS = 2_000;

/** Server-sent events. The id of each is its place in the feed, which the client sends back as Last-Event-ID. */
export async function* streamEvents(
  reading: FeedReading,
  cursors: Cursors,
  start: FeedPlace,
  heartbeatMs: number = LIMITS.eventHeartbeatMs,
): AsyncGenerator<string> {
  const { news, signal } = reading;
  let after = start;
  yield `retry: ${RETRY_MS}\nid: ${cursors.write(after)}\n\n`;
  while (!signal.aborted && !news.isClosed()) {
    const page = await readOrWait(reading, after, LIMITS.eventStreamPageMax, heartbeatMs);
    after = page.next;
    for (const event of page.events) {
      yield `id: ${cursors.write(event)}\ndata: ${eventText(event)}\n\n`;
    }
    // Clients ignore a message without data, but keep its id: a client that reconnects starts from there.
    if (page.events.length === 0) yield `: still here\nid: ${cursors.write(after)}\n\n`;
  }
}

import type { Database, Queryable } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import { SLICES } from '../kernel/slices.ts';
import { LIMITS } from '../limits.ts';
import { FEED_START, type FeedEvent, type FeedPlace, isAfter, LINE_MAX } from './event.ts';
import { createTest, type FeedFilter, isFiltered, lowerBounds } from './filter.ts';
import { findEvents, named, nextGroups, type Portion, type Sought } from './group-store.ts';
import { unpackEvents } from './pack.ts';

/** The current end of the feed, and whether there are events without a position. */
export async function feedHead(database: Queryable): Promise<{ position: bigint; waiting: boolean }> {
  const [row] = await database.query<{ position: bigint; waiting: boolean }>(
    `select position, exists (select from event_groups where position is null) as waiting, true as "isNobodys"
     from event_sequence`,
  );
  return row!;
}

/**
 * Assigns positions to committed groups, in the order in which they were written: a command that changes a resource again
 * runs after the previous change was committed, so the events of each resource are in order. The row lock lets one node do
 * this at a time. The second statement reads the groups only when the lock is held, so it sees everything that the
 * previous node saw. Returns how many groups got a position, and the new end of the feed.
 */
export async function sequence(
  database: Database,
  groupsMax: number,
): Promise<{ count: number; position: bigint }> {
  return database.transaction(async (tx) => {
    const [[before], rows] = await Promise.all([
      tx.query<{ position: bigint }>('select position from event_sequence for update'),
      tx.query<{ count: number }>(
        // Arrays, because of a join with a subquery the planner would read the whole table if many groups waited when it was
        // last analyzed.
        `with waiting as materialized (
           select batch_id, customer_id from event_groups
           where position is null order by written_ns, batch_id, customer_id limit $1),
         moved as (
           update event_groups g set position = s.position + w.rank
           from unnest(array(select batch_id from waiting), array(select customer_id from waiting))
                  with ordinality as w (batch_id, customer_id, rank), event_sequence s
           where g.batch_id = w.batch_id and g.customer_id = w.customer_id
           returning g.at_ns)
         update event_sequence s
         set position = s.position + m.count, at_ns = greatest(s.at_ns, m.at_ns)
         from (select count(*) as count, max(at_ns) as at_ns from moved) m
         where m.count > 0
         returning m.count::integer as count`,
        [groupsMax],
      ),
    ]);
    const count = rows[0]?.count ?? 0;
    return { count, position: before!.position + BigInt(count) };
  });
}

/** Stores the end of the feed at its latest instant, unless that was done within the interval. */
export async function markFeed(database: Queryable, intervalNs: bigint): Promise<void> {
  await database.query(
    `insert into event_marks (at_ns, position)
     select s.at_ns, s.position from event_sequence s
     where s.position > 0 and not exists (select from event_marks m where m.at_ns > s.at_ns - $1::bigint)
     on conflict do nothing`,
    [intervalNs],
  );
}

/** A place such that all events up to it are earlier than `at`. */
export async function placeBefore(database: Queryable, at: Instant): Promise<FeedPlace> {
  const [row] = await database.query<{ position: bigint }>(
    'select position, true as "isNobodys" from event_marks where at_ns < $1 order by at_ns desc limit 1',
    [at],
  );
  return row === undefined ? FEED_START : { position: row.position, line: LINE_MAX };
}

/** The customers of the events between two positions. */
export async function customersBetween(database: Queryable, after: bigint, to: bigint): Promise<string[]> {
  const rows = await database.query<{ customer_id: string }>(
    'select distinct customer_id from event_groups where position > $1 and position <= $2',
    [after, to],
  );
  return rows.map((row) => row.customer_id);
}

export type FeedPage = {
  readonly events: readonly FeedEvent[];
  /** Everything up to here was read. */
  readonly next: FeedPlace;
  readonly hasMore: boolean;
};

type Bounds = { readonly limit: number; readonly scanMax: number };

/**
 * How much to read next. Without a filter every event matches: as many as the page still needs. With a filter, in growing
 * steps: a filter that most events match reads few, and one that few events match takes few statements. Groups that are
 * found by ids are read completely.
 */
function portionOf(kind: 'all' | 'filtered' | 'found', wanted: number, step: number, left: number): Portion {
  const groupsMax = LIMITS.eventReadGroupsMax;
  if (kind === 'found') return { groupsMax, linesMax: LINE_MAX };
  const linesMax = kind === 'all' ? wanted : Math.min(wanted * 4 ** step, left);
  return { groupsMax: Math.min(linesMax, groupsMax), linesMax };
}

/** Reads on from a place, group by group, until the page is full, `scanMax` events were read, or there are no more. */
async function searchFeed(
  database: Queryable,
  customerId: string,
  filter: Sought,
  start: FeedPlace,
  { limit, scanMax }: Bounds,
): Promise<FeedPage> {
  const isFound = filter.ids !== undefined || filter.resourceIds !== undefined;
  const kind = isFound ? 'found' : isFiltered(filter) ? 'filtered' : 'all';
  const testOf = createTest(filter);
  const events: FeedEvent[] = [];
  let after = start;
  let scanned = 0;
  let sinceSlice = 0;
  for (let step = 1; ; step += 1) {
    const portion = portionOf(kind, limit + 1 - events.length, step, scanMax - scanned);
    const groups = await nextGroups(database, customerId, filter, after, portion);
    let isAll = groups.length < portion.groupsMax;
    for (const { batchId, position, lines, lastLine, mayFit, events: packed } of groups) {
      if (mayFit && packed === null) {
        isAll = false;
        break;
      }
      const fits = testOf(batchId);
      const from = position === after.position ? after.line : 0;
      if (packed !== null) {
        for (const one of unpackEvents(packed, (line) => line.line > from && fits(line))) {
          if (events.length === limit) return { events, next: placeOf(events.at(-1)!), hasMore: true };
          events.push({ ...named(database, batchId, one), position });
        }
      }
      after = { position, line: lastLine };
      scanned += lines;
      sinceSlice += lines;
      if (sinceSlice >= LIMITS.sliceRows) {
        sinceSlice = 0;
        await SLICES.next();
      }
      if (kind === 'filtered' && scanned >= scanMax) return { events, next: after, hasMore: true };
    }
    if (isAll) return { events, next: after, hasMore: false };
  }
}

function placeOf({ position, line }: FeedPlace): FeedPlace {
  return { position, line };
}

/**
 * The next events of a customer. Whatever the filter, a page reads a bounded number of events, rounded up to whole groups:
 * if few of them match, the page is short, and `next` is where to continue. Lookups by ids need no bound.
 */
export async function readFeed(
  database: Queryable,
  customerId: string,
  filter: FeedFilter,
  start: FeedPlace,
  bounds: Bounds,
): Promise<FeedPage> {
  let after = start;
  for (const ns of lowerBounds(filter)) {
    const place = await placeBefore(database, ns);
    if (isAfter(place, after)) after = place;
  }
  if (filter.ids === undefined && filter.resourceIds === undefined)
    return searchFeed(database, customerId, { ...filter, batchIds: [] }, after, bounds);
  // Read before the events: beyond this head, events may be missing from what was read.
  const head = { position: (await feedHead(database)).position, line: LINE_MAX };
  const batchIds = (filter.resourceIds && (await filter.batchesOf?.(filter.resourceIds))) ?? [];
  const page = await searchFeed(database, customerId, { ...filter, batchIds }, after, bounds);
  return page.hasMore || isAfter(page.next, head) ? page : { ...page, next: head };
}

/** An event of the customer that is in the feed; undefined for events of other customers. */
export async function findEvent(
  database: Queryable,
  customerId: string,
  id: string,
): Promise<FeedEvent | undefined> {
  const event = (await findEvents(database, customerId, [id])).get(id);
  return event?.position == null ? undefined : { ...event, position: event.position };
}

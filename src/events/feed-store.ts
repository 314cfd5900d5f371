import { plainArray, textArray } from '../database/array.ts';
import type { Database, Parameter, Queryable } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import { FEED_START, type FeedEvent, isAfter, LINE_MAX, type Place } from './event.ts';
import { likePattern } from './types.ts';

/** Where the feed ends at present, and whether there are events that have no position yet. */
export async function feedHead(database: Queryable): Promise<{ position: bigint; waiting: boolean }> {
  const [row] = await database.query<{ position: bigint; waiting: boolean }>(
    `select position, exists (select from event_groups where position is null) as waiting from event_sequence`,
  );
  return row!;
}

/**
 * Gives committed groups their positions. The row lock lets one node do it at a time; the second statement looks at
 * the groups only when the lock is held, so what it sees includes all that the one before it saw. Says how many got
 * one, and where the feed ends then.
 */
export async function sequence(
  database: Database,
  groupsMax: number,
): Promise<{ count: number; position: bigint }> {
  return database.transaction(async (tx) => {
    const [[before], rows] = await Promise.all([
      tx.query<{ position: bigint }>('select position from event_sequence for update'),
      tx.query<{ count: number }>(
        `with waiting as (
           select id, row_number() over (order by at_ns, id) as rank from event_groups
           where position is null order by at_ns, id limit $1),
         moved as (
           update event_groups g set position = s.position + w.rank
           from waiting w, event_sequence s where g.id = w.id
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

/** Remembers how far the feed was at its latest instant, unless that was done less than the interval ago. */
export async function markFeed(database: Queryable, intervalNs: bigint): Promise<void> {
  await database.query(
    `insert into event_marks (at_ns, position)
     select s.at_ns, s.position from event_sequence s
     where s.position > 0 and not exists (select from event_marks m where m.at_ns > s.at_ns - $1::bigint)
     on conflict do nothing`,
    [intervalNs],
  );
}

/** No event up to here is as late as that. */
export async function placeBefore(database: Queryable, at: Instant): Promise<Place> {
  const [row] = await database.query<{ position: bigint }>(
    'select position from event_marks where at_ns < $1 order by at_ns desc limit 1',
    [at],
  );
  return row === undefined ? FEED_START : { position: row.position, line: LINE_MAX };
}

/** Whose events lie between two positions. */
export async function customersBetween(database: Queryable, after: bigint, to: bigint): Promise<string[]> {
  const rows = await database.query<{ customer_id: string }>(
    'select distinct customer_id from event_groups where position > $1 and position <= $2',
    [after, to],
  );
  return rows.map((row) => row.customer_id);
}

const COLUMNS = `e.id, e.type, e.resource_id as "resourceId", e.at_ns as "atNs", e.resource::json, g.position, e.line`;
/**
 * Events in the order of the feed, group by group, and events that are found by themselves, each with its group. The
 * fences keep it so: a join, which can go either way, was planned as a scan of all events, or of all of a customer's.
 */
const IN_ORDER = 'event_groups g cross join lateral (select * from events where group_id = g.id offset 0) e';
const foundBy = (condition: string): string => `(select * from events e where ${condition} offset 0) e
  cross join lateral (select * from event_groups where id = e.group_id offset 0) g`;

export type FeedFilter = {
  readonly ids?: readonly string[] | undefined;
  readonly types?: readonly string[] | undefined;
  readonly notType?: string;
  readonly resourceIds?: readonly string[] | undefined;
  readonly ranges?: readonly { readonly operator: string; readonly ns: Instant }[];
};

export type FeedPage = {
  readonly events: readonly FeedEvent[];
  /** Everything up to here was looked at. */
  readonly next: Place;
  readonly hasMore: boolean;
};

type Where = {
  readonly clauses: string[];
  /** By which indexes find the events themselves. */
  readonly finding: string[];
  readonly parameters: Parameter[];
};

function within(customerId: string, after: Place): Where {
  return {
    clauses: ['g.customer_id = $1', 'g.position >= $2', '(g.position > $2 or e.line > $3)'],
    finding: [],
    parameters: [customerId, after.position, after.line],
  };
}

function narrow(where: Where, filter: FeedFilter): void {
  const add = (sql: string, value: Parameter, clauses = where.clauses): void => {
    where.parameters.push(value);
    clauses.push(sql.replace('?', `$${where.parameters.length}`));
  };
  if (filter.ids !== undefined) add('e.id = any (?::uuid[])', plainArray(filter.ids), where.finding);
  if (filter.types !== undefined)
    add('e.type like any (?::text[])', textArray(filter.types.map(likePattern)));
  if (filter.notType !== undefined) add('e.type <> ?', filter.notType);
  if (filter.resourceIds !== undefined)
    add('e.resource_id = any (?::uuid[])', plainArray(filter.resourceIds), where.finding);
  for (const { operator, ns } of filter.ranges ?? []) add(`e.at_ns ${operator} ?`, ns);
}

function selectEvents(database: Queryable, where: Where, limit: number): Promise<FeedEvent[]> {
  const parameters = [...where.parameters, limit];
  const from = where.finding.length > 0 ? foundBy(where.finding.join(' and ')) : IN_ORDER;
  return database.query<FeedEvent>(
    `select ${COLUMNS} from ${from} where ${where.clauses.join(' and ')}
     order by g.position, e.line limit $${parameters.length}`,
    parameters,
  );
}

/** The last of the next so many events, whatever they are. */
async function scanEnd(
  database: Queryable,
  customerId: string,
  after: Place,
  eventsMax: number,
): Promise<(Place & { count: number }) | undefined> {
  const { clauses, parameters } = within(customerId, after);
  const [row] = await database.query<Place & { count: number }>(
    `select position, line, count(*) over ()::integer as count from (
       select g.position, e.line from ${IN_ORDER} where ${clauses.join(' and ')}
       order by g.position, e.line limit $4) as scanned
     order by position desc, line desc limit 1`,
    [...parameters, eventsMax],
  );
  return row;
}

function pageOf(events: readonly FeedEvent[], limit: number, end: Place, endHasMore: boolean): FeedPage {
  if (events.length > limit) {
    const shown = events.slice(0, limit);
    const { position, line } = shown.at(-1)!;
    return { events: shown, next: { position, line }, hasMore: true };
  }
  const last = events.at(-1);
  const next = last !== undefined && isAfter(last, end) ? last : end;
  return { events, next: { position: next.position, line: next.line }, hasMore: endHasMore };
}

type Bounds = { readonly limit: number; readonly scanMax: number };

/** In steps that grow, so that a filter that most events fit costs little, and one that hardly any fit few statements. */
async function scanFeed(
  database: Queryable,
  customerId: string,
  filter: FeedFilter,
  start: Place,
  { limit, scanMax }: Bounds,
): Promise<FeedPage> {
  const events: FeedEvent[] = [];
  let after = start;
  let scanned = 0;
  for (let size = limit * 4; ; size *= 4) {
    const step = Math.min(size, scanMax - scanned);
    const end = await scanEnd(database, customerId, after, step);
    if (end === undefined) return { events, next: after, hasMore: false };
    const where = within(customerId, after);
    narrow(where, filter);
    where.parameters.push(end.position, end.line);
    const at = where.parameters.length;
    where.clauses.push(`g.position <= $${at - 1}`, `(g.position < $${at - 1} or e.line <= $${at})`);
    events.push(...(await selectEvents(database, where, limit + 1 - events.length)));
    scanned += end.count;
    const isEnd = end.count < step;
    if (events.length > limit || isEnd || scanned >= scanMax) return pageOf(events, limit, end, !isEnd);
    after = { position: end.position, line: end.line };
  }
}

/**
 * The next events of a customer. Whatever the filter, a page looks at a bounded number of events: when few of them
 * fit, the page is short, and `next` is where to go on. For ids there are indexes, and no bound is needed.
 */
export async function readFeed(
  database: Queryable,
  customerId: string,
  filter: FeedFilter,
  start: Place,
  bounds: Bounds,
): Promise<FeedPage> {
  const { limit } = bounds;
  let after = start;
  for (const { operator, ns } of filter.ranges ?? []) {
    if (operator.startsWith('<')) continue;
    const place = await placeBefore(database, ns);
    if (isAfter(place, after)) after = place;
  }
  const where = within(customerId, after);
  narrow(where, filter);
  if (filter.ids !== undefined || filter.resourceIds !== undefined) {
    // Read before the events: what is seen beyond it is not taken for all that is there.
    const { position } = await feedHead(database);
    const head = { position, line: LINE_MAX };
    const found = await selectEvents(database, where, limit + 1);
    return pageOf(found, limit, isAfter(head, after) ? head : after, false);
  }
  const isFiltered =
    filter.types !== undefined || filter.notType !== undefined || (filter.ranges ?? []).length > 0;
  if (isFiltered) return scanFeed(database, customerId, filter, after, bounds);
  return pageOf(await selectEvents(database, where, limit + 1), limit, after, false);
}

/** An event of that customer that is in the feed; another's is as if it were not there. */
export async function findEvent(
  database: Queryable,
  customerId: string,
  id: string,
): Promise<FeedEvent | undefined> {
  const [event] = await database.query<FeedEvent>(
    `select ${COLUMNS} from ${foundBy('e.id = $1')} where e.customer_id = $2 and g.position is not null`,
    [id, customerId],
  );
  return event;
}

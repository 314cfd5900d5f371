import { plainArray, textArray } from '../database/array.ts';
import type { Queryable } from '../database/database.ts';
import { createParameters, type Parameters } from '../database/select.ts';
import type { Instant } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';
import { batchOf, eventId, type FeedPlace, lineOf, type StoredEvent } from './event.ts';
import { type FeedFilter, lowerBounds } from './filter.ts';
import { type PackedEvent, unpackEvents } from './pack.ts';
import { openResource } from './sealed.ts';
import { likePattern } from './types.ts';

/** Limits of one statement: the number of groups, and the number of lines up to which packed events are returned. */
export type Portion = { readonly groupsMax: number; readonly linesMax: number };

/** A filter, and the batches that its `batchesOf` found. */
export type Sought = FeedFilter & { readonly batchIds: readonly string[] };

/** A group of the feed, as far as it was read. */
export type ReadGroup = {
  readonly batchId: string;
  readonly position: bigint;
  readonly lines: number;
  readonly lastLine: number;
  /** Whether any of its events can match the filter, by the summary in its row. */
  readonly mayFit: boolean;
  /** Null if none can match, or if the portion had no room for it. */
  readonly events: Buffer | null;
};

function mayFit({ types, notType }: FeedFilter, bounds: readonly Instant[], parameters: Parameters): string {
  const ofType: string[] = [];
  if (types !== undefined)
    ofType.push(`one.type like any (${parameters.add(textArray(types.map(likePattern)))}::text[])`);
  if (notType !== undefined) ofType.push(`one.type <> ${parameters.add(notType)}`);
  const clauses = bounds.map((ns) => `g.at_ns >= ${parameters.add(ns)}`);
  if (ofType.length > 0)
    clauses.push(`exists (select from unnest(g.types) as one (type) where ${ofType.join(' and ')})`);
  return clauses.length === 0 ? 'true' : clauses.join(' and ');
}

/**
 * The batches that contain the ids. They are looked up one by one; `offset 0` keeps the planner from choosing a join that
 * scans all groups of the customer.
 */
function batchesOf({ ids, resourceIds, batchIds }: Sought, parameters: Parameters): string | undefined {
  if (ids !== undefined)
    return `select unnest(${parameters.add(plainArray([...new Set(ids.map(batchOf))]))}::uuid[]) as batch_id`;
  if (resourceIds === undefined) return undefined;
  const inIndex = `select batch_id from event_resources
    where resource_id = any (${parameters.add(plainArray(resourceIds))}::uuid[])`;
  if (batchIds.length === 0) return inIndex;
  return `${inIndex} union select unnest(${parameters.add(plainArray(batchIds))}::uuid[])`;
}

/**
 * The next groups of a customer's feed, with their events if these may match. PostgreSQL knows the size of a value that is
 * stored out of line without reading it, so no more is read than the limits allow; the first group is always read.
 */
export function nextGroups(
  database: Queryable,
  customerId: string,
  filter: Sought,
  after: FeedPlace,
  { groupsMax, linesMax }: Portion,
): Promise<ReadGroup[]> {
  const parameters = createParameters([customerId, after.position, after.line]);
  const batches = batchesOf(filter, parameters);
  const from =
    batches === undefined
      ? 'event_groups g where g.customer_id = $1'
      : `(${batches}) found cross join lateral
         (select * from event_groups where batch_id = found.batch_id and customer_id = $1 offset 0) g where true`;
  const fits = mayFit(filter, lowerBounds(filter), parameters);
  return database.query<ReadGroup>(
    `select "batchId", "customerId", position, lines, "lastLine", "mayFit",
            case when "mayFit" and coalesce(lines_before < ${parameters.add(linesMax)}
                                            and bytes_before < ${parameters.add(LIMITS.eventReadBytesMax)}, true)
                 then events end as events
     from (
       select *, sum(lines) over before as lines_before,
              sum(octet_length(events)) filter (where "mayFit") over before as bytes_before
       from (
         select g.batch_id as "batchId", g.customer_id as "customerId", g.position, g.lines, g.last_line as "lastLine", g.events, ${fits} as "mayFit"
         from ${from} and g.position >= $2 and (g.position > $2 or g.last_line > $3)
         order by g.position limit ${parameters.add(groupsMax)}) as next
       window before as (order by position rows between unbounded preceding and 1 preceding)) as measured
     order by position`,
    parameters.values,
  );
}

type StoredGroup = { readonly batchId: string; readonly position: bigint | null; readonly events: Buffer };

/** The groups of these batches, even if they have no position yet; one statement reads as many as fit. */
async function* groupsOf(
  database: Queryable,
  customerId: string,
  batchIds: readonly string[],
): AsyncGenerator<StoredGroup> {
  let wanted = batchIds;
  while (wanted.length > 0) {
    const rows = await database.query<Omit<StoredGroup, 'events'> & { events: Buffer | null }>(
      `select "batchId", "customerId", position, case when coalesce(bytes_before < $3, true) then events end as events
       from (
         select batch_id as "batchId", customer_id as "customerId", position, events, sum(octet_length(events)) over
                  (order by batch_id rows between unbounded preceding and 1 preceding) as bytes_before
         from event_groups where batch_id = any ($2::uuid[]) and customer_id = $1) as measured`,
      [customerId, plainArray(wanted), LIMITS.eventReadBytesMax],
    );
    wanted = rows.filter((row) => row.events === null).map((row) => row.batchId);
    for (const { events, ...row } of rows) if (events !== null) yield { ...row, events };
  }
}

/** An event, and its position if it has one already. */
export type FoundEvent = StoredEvent & { readonly position: bigint | null; readonly line: number };

/** A packed event with its id, and with its resource opened. */
export function named(
  { vault }: Queryable,
  batchId: string,
  { line, resource, ...event }: PackedEvent,
): StoredEvent & { line: number } {
  const id = eventId(batchId, line);
  return { id, line, ...event, resource: openResource(vault, id, resource) };
}

/** Events of a customer by their ids; those of other customers are left out. */
export async function findEvents(
  database: Queryable,
  customerId: string,
  ids: readonly string[],
): Promise<Map<string, FoundEvent>> {
  const wanted = new Map<string, Set<number>>();
  for (const id of ids) {
    const batchId = batchOf(id);
    const lines = wanted.get(batchId);
    if (lines === undefined) wanted.set(batchId, new Set([lineOf(id)]));
    else lines.add(lineOf(id));
  }
  const found = new Map<string, FoundEvent>();
  for await (const { batchId, position, events } of groupsOf(database, customerId, [...wanted.keys()])) {
    const lines = wanted.get(batchId)!;
    for (const packed of unpackEvents(events, ({ line }) => lines.has(line))) {
      const event = named(database, batchId, packed);
      found.set(event.id, { ...event, position });
    }
  }
  return found;
}

/** The event that a batch wrote about a resource at an instant: how the writer learns the id of its event. */
export async function findWritten(
  database: Queryable,
  customerId: string,
  written: { readonly batchId: string; readonly resourceId: string; readonly atNs: Instant },
): Promise<StoredEvent> {
  const { batchId, resourceId, atNs } = written;
  for await (const { events } of groupsOf(database, customerId, [batchId])) {
    const isIt = (one: { resourceId: string; atNs: Instant }): boolean =>
      one.resourceId === resourceId && one.atNs === atNs;
    for (const packed of unpackEvents(events, isIt)) return named(database, batchId, packed);
  }
  throw new Error(`the batch ${batchId} has no event of ${resourceId}`);
}

import { plainArray } from '../database/array.ts';
import type { Queryable } from '../database/database.ts';
import { createParameters } from '../database/select.ts';
import type { Actor } from '../kernel/actor.ts';
import { isId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import { SLICES } from '../kernel/slices.ts';
import { LIMITS } from '../limits.ts';
import { unpackActors } from './actors.ts';
import { batchOf, type FeedPlace, indexId } from './event.ts';
import { placeBefore } from './feed-store.ts';
import { createTest, type FeedFilter, type Fits } from './filter.ts';
import { named } from './group-store.ts';
import { type PackedEvent, unpackEvents } from './pack.ts';
import { isSealedResource } from './sealed.ts';

/** A change, who made it, and what the resource was afterwards. */
export type LogEntry = FeedPlace & {
  readonly id: string;
  readonly customerId: string;
  readonly type: string;
  readonly resourceId: string;
  readonly atNs: Instant;
  /** Undefined for changes of older releases. */
  readonly actor: Actor | undefined;
  /** JSON. */
  readonly resource: string;
  /** It is sealed in the database. */
  readonly isSealed: boolean;
};

export type LogFilter = Pick<FeedFilter, 'ids' | 'types' | 'resourceIds' | 'batchesOf' | 'ranges'> & {
  /** Of this customer only. */
  readonly customerId?: string | undefined;
  readonly actorIds?: readonly string[] | undefined;
};

type GroupRow = {
  readonly batchId: string;
  readonly customerId: string;
  readonly position: bigint;
  readonly events: Buffer;
  readonly records: Buffer;
  readonly actors: Buffer;
};

const COLUMNS = `g.batch_id as "batchId", g.customer_id as "customerId", g.position, g.events, g.records, g.actors`;

function entryOf(
  database: Queryable,
  group: GroupRow,
  packed: PackedEvent,
  actor: Actor | undefined,
): LogEntry {
  const { position, customerId, batchId } = group;
  const isSealed = isSealedResource(packed.resource);
  return { ...named(database, batchId, packed), position, customerId, actor, isSealed };
}

/** The entries of a group that match, in the order of their lines. */
function entriesOf(
  database: Queryable,
  group: GroupRow,
  fits: Fits,
  actorIds?: ReadonlySet<string>,
): LogEntry[] {
  const packed = [...unpackEvents(group.events, fits), ...unpackEvents(group.records, fits)];
  if (packed.length === 0) return [];
  packed.sort((one, other) => one.line - other.line);
  const actors = unpackActors(
    group.actors,
    packed.map(({ line }) => line),
  );
  return packed
    .filter(({ line }) => actorIds === undefined || actorIds.has(actors.get(line)?.id ?? ''))
    .map((one) => entryOf(database, group, one, actors.get(one.line)));
}

type Direction = { readonly descending: boolean };

function nextGroups(
  database: Queryable,
  { customerId, ids, resourceIds }: LogFilter,
  batchIds: readonly string[],
  from: bigint | undefined,
  { descending }: Direction,
  groupsMax: number,
): Promise<GroupRow[]> {
  const parameters = createParameters();
  const clauses = ['g.position is not null'];
  if (customerId !== undefined) clauses.push(`g.customer_id = ${parameters.add(customerId)}`);
  if (from !== undefined) clauses.push(`g.position ${descending ? '<=' : '>='} ${parameters.add(from)}`);
  if (ids !== undefined)
    clauses.push(`g.batch_id = any (${parameters.add(plainArray(ids.map(batchOf)))}::uuid[])`);
  if (resourceIds !== undefined) {
    const known = parameters.add(plainArray(resourceIds.map(indexId)));
    clauses.push(`g.batch_id in (select batch_id from event_resources where resource_id = any (${known}::uuid[])
      union all select unnest(${parameters.add(plainArray(batchIds))}::uuid[]))`);
  }
  return database.query<GroupRow>(
    `select ${COLUMNS} from event_groups g where ${clauses.join(' and ')}
     order by g.position ${descending ? 'desc' : 'asc'} limit ${parameters.add(groupsMax)}`,
    parameters.values,
  );
}

/** Where to begin: after the page before, and not long before the first entry that can match. */
async function startOf(
  database: Queryable,
  { ranges = [] }: LogFilter,
  { descending }: Direction,
  after: FeedPlace | undefined,
): Promise<bigint | undefined> {
  if (descending || after !== undefined) return after?.position;
  const bounds = ranges.filter(({ operator }) => !operator.startsWith('<')).map(({ ns }) => ns);
  const places = await Promise.all(bounds.map((ns) => placeBefore(database, ns)));
  return places.reduce<bigint | undefined>(
    (last, { position }) => (last === undefined || position > last ? position : last),
    undefined,
  );
}

export type LogPage = { readonly entries: readonly LogEntry[]; readonly brokenOffAt?: FeedPlace };

/** Whether all groups from here on are too early to match. */
const isTooEarly = (
  ranges: LogFilter['ranges'] = [],
  { descending }: Direction,
  last: LogEntry | undefined,
) =>
  descending &&
  last !== undefined &&
  ranges.some(
    ({ operator, ns }) =>
      !operator.startsWith('<') && last.atNs < ns - BigInt(LIMITS.instantAheadMaxMs) * 1_000_000n,
  );

const ALL: Fits = () => true;

/**
 * The next entries of the log: one more than the limit if there are more. Whatever the filter, a page reads a bounded number of
 * groups: if few of them match, the page is short, and `brokenOffAt` is where to continue.
 */
export async function readLog(
  database: Queryable,
  filter: LogFilter,
  after: FeedPlace | undefined,
  { descending, limit }: Direction & { readonly limit: number },
): Promise<LogPage> {
  const testOf = createTest({
    ids: filter.ids,
    types: filter.types,
    resourceIds: filter.resourceIds,
    ranges: filter.ranges ?? [],
  });
  const actorIds = filter.actorIds && new Set(filter.actorIds);
  const batchIds = (filter.resourceIds && (await filter.batchesOf?.(filter.resourceIds.filter(isId)))) ?? [];
  const entries: LogEntry[] = [];
  let from = await startOf(database, filter, { descending }, after);
  let seen = after;
  for (let read = 0; read < LIMITS.auditLogGroupsMax; read += LIMITS.auditLogPortion) {
    const portion = LIMITS.auditLogPortion;
    const groups = await nextGroups(database, filter, batchIds, from, { descending }, portion);
    for (const group of groups) {
      const { position } = group;
      const found = entriesOf(database, group, testOf(group.batchId), actorIds);
      for (const entry of descending ? found.reverse() : found) {
        const isSeen =
          after?.position === position && (descending ? entry.line >= after.line : entry.line <= after.line);
        if (!isSeen) entries.push(entry);
        if (entries.length > limit) return { entries };
      }
      seen = { position, line: descending ? 0 : 65_535 };
      from = position + (descending ? -1n : 1n);
    }
    if (groups.length < portion) return { entries };
    const [last] = entriesOf(database, groups.at(-1)!, ALL);
    if (isTooEarly(filter.ranges, { descending }, last)) return { entries };
    await SLICES.next();
  }
  return { entries, brokenOffAt: seen! };
}

const familyOf = (type: string): string => type.split('.', 1)[0]!;

type Earlier = GroupRow & { readonly entry: number };

/**
 * What each resource was before the change: what the change before it left. Changes of one command have one instant, and none
 * of them comes before another.
 */
export async function resourcesBefore(
  database: Queryable,
  entries: readonly LogEntry[],
): Promise<(LogEntry | undefined)[]> {
  const rows = await database.query<Earlier>(
    `select asked.entry::integer as entry, ${COLUMNS}
     from unnest($1::uuid[], $2::uuid[], $3::bigint[]) with ordinality as asked (resource_id, customer_id, position, entry)
     cross join lateral (
       select g.* from event_resources r join event_groups g on g.batch_id = r.batch_id
       where r.resource_id = asked.resource_id and g.customer_id = asked.customer_id and g.position <= asked.position
       order by g.position desc limit 2) as g`,
    [
      plainArray(entries.map(({ resourceId }) => indexId(resourceId))),
      plainArray(entries.map(({ customerId }) => customerId)),
      plainArray(entries.map(({ position }) => position)),
    ],
  );
  return entries.map((entry, index) => {
    const { resourceId, position, line, atNs } = entry;
    const isEarlier = (one: LogEntry): boolean =>
      familyOf(one.type) === familyOf(entry.type) &&
      one.atNs !== atNs &&
      (one.position < position || (one.position === position && one.line < line));
    return rows
      .filter((row) => row.entry === index + 1)
      .flatMap((row) => entriesOf(database, row, (one) => one.resourceId === resourceId))
      .filter(isEarlier)
      .sort((a, b) => (a.position === b.position ? a.line - b.line : a.position < b.position ? -1 : 1))
      .at(-1);
  });
}

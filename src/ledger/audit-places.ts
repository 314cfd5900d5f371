import { plainArray } from '../database/array.ts';
import type { Queryable } from '../database/database.ts';
import { isOnCluster } from '../database/distribution.ts';
import type { Instant } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';

/**
 * Where the table of entries ends. Rows behind a place that is known are newer than that, whatever their instants: those with an instant
 * that was audited before came late. On a cluster every shard has a place of its own, and all of them are one text.
 */
export type Place = {
  /** The file of the entries. If it is another one, the place says nothing any more. */
  readonly heap: string;
  /** The last row of it. */
  readonly place: string;
};

/** After this instant, up to and including the other; and rows behind this place that have earlier instants. */
export type Slice = { readonly afterNs: Instant; readonly untilNs: Instant; readonly place: string };

export type Sum = { readonly account: string; readonly asset: string; readonly units: bigint };

/** The sums of a slice with its late entries. */
export type AddedUp = {
  readonly sums: readonly Sum[];
  readonly entries: bigint;
  /** The last row that was there: what is not behind it is added up, now or before, and is not late next time. */
  readonly place: string;
  readonly late: Late;
};

export type Late = {
  readonly isNone: boolean;
  /** There are more of them, behind the place. */
  readonly hasMore: boolean;
  /** Statements for the late entries, and for those of the slice with them: the instants of the slice are $1 and $2, the place is $3. */
  readonly ones: string;
  readonly withSlice: string;
  /** The type of $3. */
  readonly type: string;
};

export const IN_SLICE = 'select * from entries where at_ns > $1 and at_ns <= $2';
const SUMS = `account, asset, sum(delta)::text as units, count(*) as entries`;

type Found = {
  readonly sums: readonly { account: string; asset: string; units: string; entries: number }[];
  readonly place: string | null;
};

function totalOf(found: readonly Found[]): Pick<AddedUp, 'sums' | 'entries'> {
  const rows = found.flatMap(({ sums }) => sums);
  return {
    sums: rows.map(({ account, asset, units }) => ({ account, asset, units: BigInt(units) })),
    entries: BigInt(rows.reduce((sum, { entries }) => sum + entries, 0)),
  };
}

const LATE = 'select * from entries where ctid > $3::tid and at_ns <= $1';

/** The sums and the place in the same snapshot. */
async function addUpOnOneServer(database: Queryable, slice: Slice): Promise<AddedUp> {
  const parameters = [slice.afterNs, slice.untilNs, slice.place];
  const late = await database.query(
    `select from (${LATE}) as l where $2::bigint is not null limit 1`,
    parameters,
  );
  const isNone = late.length === 0;
  const withSlice = `${IN_SLICE} union all ${LATE}`;
  const [row] = await database.query<Found>(
    `select coalesce(json_agg(sums), '[]') as sums, (select max(ctid)::text from entries where ctid >= $3::tid) as place
     from (select ${SUMS} from (${isNone ? IN_SLICE : withSlice}) as e group by account, asset) as sums`,
    parameters,
  );
  return {
    ...totalOf([row!]),
    place: row!.place ?? slice.place,
    late: { isNone, hasMore: false, ones: LATE, withSlice, type: 'tid' },
  };
}

const SHARDS = 'shards';

const KEY = `concat_ws(' ', owner_id, asset, account, at_ns, line)`;
const arrayLiteral = (values: readonly string[]): string => `'${plainArray(values).replaceAll("'", "''")}'`;

/** As constants: a cluster cannot plan these statements with a relation of keys, nor with a union. */
const isOneOf = (
  late: readonly LateKey[],
): string => `owner_id = any (${arrayLiteral(late.map(([ownerId]) => ownerId))}::uuid[])
  and at_ns = any (${arrayLiteral(late.map(([, atNs]) => atNs))}::bigint[])
  and ${KEY} = any (${arrayLiteral(late.map(([, , key]) => key))}::text[])`;

type LateKey = readonly [ownerId: string, atNs: string, key: string];
type FoundInShard = Found & {
  readonly name: string;
  readonly heap: string;
  readonly place: string;
  readonly late: readonly LateKey[];
};

/** Two numbers that a table has on one server, and hardly ever on another that it is moved to. */
const SHARD_HEAP = `format('%%s/%%s', '%1$s'::regclass::oid, pg_relation_filenode('%1$s'))`;
const SHARD_END = `format('(%%s,0)', greatest(pg_relation_size('%1$s') / current_setting('block_size')::bigint - 1, 0))::tid`;

/** What is known of a shard: the last row, if its file still is the same one. */
const SHARD_PLACE = (places: string): string =>
  `case when '${places}'::jsonb -> '%1$s' ->> 'heap' = ${SHARD_HEAP} then ('${places}'::jsonb -> '%1$s' ->> 'place')::tid end`;

const literal = (text: string): string => text.replaceAll("'", "''").replaceAll('%', '%%');

/**
 * One statement for each shard, and so one snapshot of it. Without a known place it only says where the shard ends. If many entries are
 * late, it takes the first ones, and its place is the last of these.
 */
function shardCommand({ afterNs, untilNs, place }: Slice): string {
  const known = SHARD_PLACE(literal(place));
  const max = LIMITS.auditLateMax;
  return `with late as materialized (
      select ctid as row, * from %1$s where ctid > ${known} and at_ns <= ${afterNs} order by ctid limit ${max})
    select json_build_object('name', '%1$s', 'heap', ${SHARD_HEAP},
      'place', coalesce(case when (select count(*) from late) = ${max} then (select max(row) from late)
                             else (select max(ctid) from %1$s where ctid >= coalesce(${known}, ${SHARD_END})) end,
                        ${known}, ${SHARD_END}),
      'late', (select coalesce(json_agg(json_build_array(owner_id, at_ns::text, ${KEY})), '[]') from late),
      'sums', (select coalesce(json_agg(sums), '[]') from (
                 select ${SUMS} from (select account, asset, delta from %1$s where at_ns > ${afterNs} and at_ns <= ${untilNs}
                                      union all select account, asset, delta from late) as e
                 group by account, asset) as sums))`;
}

async function askShards(database: Queryable, slice: Slice): Promise<readonly FoundInShard[]> {
  const rows = await database.query<{ success: boolean; result: string }>(
    `select success, result from run_command_on_shards('entries', $1)`,
    [shardCommand(slice)],
  );
  const failed = rows.find(({ success }) => !success);
  if (failed !== undefined) throw new Error(`a shard of entries did not answer the audit: ${failed.result}`);
  return rows.map(({ result }) => JSON.parse(result) as FoundInShard);
}

const placesOf = (found: readonly FoundInShard[]): string =>
  JSON.stringify(Object.fromEntries(found.map(({ name, heap, place }) => [name, { heap, place }])));

async function addUpOnCluster(database: Queryable, slice: Slice): Promise<AddedUp> {
  const found = await askShards(database, slice);
  const late = found.flatMap((shard) => shard.late);
  return {
    ...totalOf(found),
    place: placesOf(found),
    late: {
      isNone: late.length === 0,
      hasMore: found.some((shard) => shard.late.length === LIMITS.auditLateMax),
      ones: `select * from entries where ${isOneOf(late)}`,
      withSlice: `${IN_SLICE} or (${isOneOf(late)})`,
      type: 'text',
    },
  };
}

export async function addUp(database: Queryable, slice: Slice): Promise<AddedUp> {
  return (await isOnCluster(database)) ? addUpOnCluster(database, slice) : addUpOnOneServer(database, slice);
}

/** The end as it is now. Two statements: only a known place is not searched for in the whole heap. */
export async function endOfEntries(database: Queryable): Promise<Place> {
  if (await isOnCluster(database)) {
    const nothing = { afterNs: -1n, untilNs: -1n, place: '{}' };
    return { heap: SHARDS, place: placesOf(await askShards(database, nothing)) };
  }
  const [end] = await database.query<Place>(
    `select pg_relation_filenode('entries')::text as heap,
            format('(%s,0)', greatest(pg_relation_size('entries') / current_setting('block_size')::bigint - 1, 0)) as place`,
  );
  const [row] = await database.query<{ last: string | null }>(
    'select max(ctid)::text as last from entries where ctid >= $1::tid',
    [end!.place],
  );
  return { heap: end!.heap, place: row!.last ?? end!.place };
}

/** The file of the entries as it is now. */
export async function heapOfEntries(database: Queryable): Promise<string> {
  const [row] = await database.query<{ heap: string }>({
    plain: `select pg_relation_filenode('entries')::text as heap`,
    distributed: `select '${SHARDS}' as heap`,
  });
  return row!.heap;
}

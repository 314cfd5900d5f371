import { randomInt } from 'node:crypto';
import { LIMITS } from '../limits.ts';

/**
 * Where the rows of distributed tables are. To write together what is on the same server. A connection may know the
 * shards as they were when it was made: a statement whose rows turn out to be in several is only slower, and packed rows are refused.
 */
export type Shards = {
  /** As the coordinator describes them, see `PLACES`. */
  readonly places: string;
  /** In the order of their hashes, in which Citus visits them. */
  readonly all: readonly Shard[];
  /** How many servers they are on; if they have copies, how many sets of servers. */
  readonly servers: number;
  /** The position of a row's shard among all shards. */
  indexOf(id: string): number;
  /**
   * The id of a group of rows that are written together, and whose ids differ in the last two bits: changed so that all of them are in
   * one shard, with those of other groups of this moment. The next moment has the next shard.
   */
  settle(groupId: string): string;
};

export type Shard = {
  /** That of the shard of `balances`. The tables of its group have shards with the same range on the same server. */
  readonly id: bigint;
  /** An id of some shard on the same server. Undefined if none was found: its shards are all very small. */
  readonly homeId: string | undefined;
};

/** Where the shards of `balances` are: the id, the least hash and the server of each, as one text. Null if it is not distributed. */
export const PLACES = `select string_agg(concat_ws(' ', shardid, shardminvalue, groupid), ',' order by shardid, groupid)
  from pg_dist_shard join pg_dist_placement using (shardid)
  where logicalrelid = to_regclass('balances') and shardstate = 1`;

const rotate = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));

/** Three words, which the first twelve bytes of a uuid are mixed to. */
type Mixed = readonly [number, number, number];

const SEED = 0x9e3779b9 + 16 + 3_923_095;

/** PostgreSQL's hash of a uuid is lookup3 by Bob Jenkins: the first twelve bytes are mixed, the other four added, and all mixed again. */
function mixFirst(bytes: Buffer): Mixed {
  let a = (SEED + bytes.readUInt32LE(0)) | 0;
  let b = (SEED + bytes.readUInt32LE(4)) | 0;
  let c = (SEED + bytes.readUInt32LE(8)) | 0;
  for (const [first, second, third] of ROUNDS) {
    a = ((a - c) | 0) ^ rotate(c, first);
    c = (c + b) | 0;
    b = ((b - a) | 0) ^ rotate(a, second);
    a = (a + c) | 0;
    c = ((c - b) | 0) ^ rotate(b, third);
    b = (b + a) | 0;
  }
  return [a, b, c];
}
const ROUNDS = [
  [4, 6, 8],
  [16, 19, 4],
] as const;

function mixLast([first, second, third]: Mixed, last: number): number {
  let a = (first + last) | 0;
  let c = ((third ^ second) - rotate(second, 14)) | 0;
  a = ((a ^ c) - rotate(c, 11)) | 0;
  let b = ((second ^ a) - rotate(a, 25)) | 0;
  c = ((c ^ b) - rotate(b, 16)) | 0;
  a = ((a ^ c) - rotate(c, 4)) | 0;
  b = ((b ^ a) - rotate(a, 14)) | 0;
  return ((c ^ b) - rotate(b, 24)) | 0;
}

const bytesOf = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex');

/** PostgreSQL's hash of a uuid, which Citus distributes by. */
export function hashOf(id: string): number {
  const bytes = bytesOf(id);
  return mixLast(mixFirst(bytes), bytes.readUInt32LE(12));
}

/** Of the last four bytes of an id, those that may be chosen, and the last two bits. */
const FREE = 0x00ff_ffff;
const [FIRST_SIDE, SECOND_SIDE] = [1 << 24, 2 << 24];
const SIDES = 3 << 24;

/** Nodes write to different shards. */
const OFFSET = randomInt(2 ** 32);

type Place = { readonly id: string; readonly minimum: number; readonly servers: string };

/** In the order of their hashes. A shard with copies on several servers is on all of them. */
function parsePlaces(places: string): Place[] {
  const byId = new Map<string, Place>();
  for (const text of places.split(',')) {
    const [id, minimum, server] = text.split(' ') as [string, string, string];
    const servers = [byId.get(id)?.servers ?? [], server].flat().join('+');
    byId.set(id, { id, minimum: Number(minimum), servers });
  }
  return [...byId.values()].sort((one, other) => one.minimum - other.minimum);
}

/** `places`: see `PLACES`. */
export function createShards(places: string, nowMs: () => number = () => performance.now()): Shards {
  const sorted = parsePlaces(places);
  const count = sorted.length;
  function shardOf(hash: number): number {
    let low = 0;
    for (let high = count; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if (sorted[middle]!.minimum <= hash) low = middle;
      else high = middle;
    }
    return low;
  }
  const homeIds = new Map<string, string>();
  const servers = new Set(sorted.map((shard) => shard.servers)).size;
  for (let trial = 0; trial < LIMITS.homeTrialsMax && homeIds.size < servers; trial += 1) {
    const id = `00000000-0000-0000-0000-${trial.toString(16).padStart(12, '0')}`;
    const place = sorted[shardOf(hashOf(id))]!.servers;
    if (!homeIds.has(place)) homeIds.set(place, id);
  }
  /** Those that are not so small that the search for an id would take long. */
  const wide = sorted.flatMap(({ minimum }, index) =>
    ((sorted[index + 1]?.minimum ?? 2 ** 31) - minimum) * count * 2 >= 2 ** 32 ? [index] : [],
  );
  return {
    places,
    servers,
    all: sorted.map((shard) => ({ id: BigInt(shard.id), homeId: homeIds.get(shard.servers) })),
    indexOf: (id) => shardOf(hashOf(id)),
    settle(groupId) {
      const bytes = bytesOf(groupId);
      const mixed = mixFirst(bytes);
      const first = bytes.readUInt32LE(12) & ~SIDES;
      const home = wide[(Math.floor(nowMs() / LIMITS.shardTurnMs) + OFFSET) % wide.length];
      const isHome = (last: number): boolean => shardOf(mixLast(mixed, last)) === home;
      for (let trial = 0; trial < LIMITS.shardTrialsMax; trial += 1) {
        const last = (first & ~FREE) | ((first + trial) & FREE);
        if (!isHome(last | FIRST_SIDE) || !isHome(last | SECOND_SIDE)) continue;
        bytes.writeInt32LE(last, 12);
        return groupId.slice(0, -8) + bytes.toString('hex', 12);
      }
      return groupId;
    },
  };
}

/** The rows of each shard, in the order of the shards; all together on one server. */
export function byShard<Row>(
  shards: Shards | undefined,
  rows: readonly Row[],
  id: (row: Row) => string,
): readonly (readonly Row[])[] {
  if (shards === undefined) return [rows];
  const groups: Row[][] = shards.all.map(() => []);
  for (const row of rows) groups[shards.indexOf(id(row))]!.push(row);
  return groups.filter((group) => group.length > 0);
}

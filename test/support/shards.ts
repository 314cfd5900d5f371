import type { Database } from '../../src/database/database.ts';
import { createShards, PLACES, type Shards } from '../../src/database/shards.ts';

/** As Citus divides the hashes. */
export const minimumsOf = (count: number): number[] =>
  Array.from({ length: count }, (_, index) => -(2 ** 31) + index * Math.floor(2 ** 32 / count));

/** Shards that are on the servers in turn, as a coordinator describes them. */
export const placesOf = (minimums: readonly number[], servers = 1): string =>
  minimums.map((minimum, index) => `${index + 1} ${minimum} ${1 + (index % servers)}`).join(',');

const TABLES = ['balances', 'entries', 'transfers'];
const SHARDS = 4;

/**
 * The shards of a cluster. On one server, an imitation of them: views of the tables themselves, and what the servers of a cluster know about
 * their shards.
 */
export async function someShards(database: Database): Promise<Shards> {
  await database.query('select 1');
  const real = database.shards();
  if (real !== undefined) return real;
  await database.query(
    'create table pg_dist_shard (logicalrelid regclass, shardid bigint, shardminvalue text, shardmaxvalue text)',
  );
  await database.query(
    'create table pg_dist_placement (shardid bigint, groupid integer, shardstate integer)',
  );
  const minimums = minimumsOf(SHARDS);
  for (const [place, table] of TABLES.entries()) {
    for (const [index, minimum] of minimums.entries()) {
      const id = 10 * (place + 1) + index;
      const maximum = (minimums[index + 1] ?? 2 ** 31) - 1;
      await database.query(
        `insert into pg_dist_shard values ('${table}', ${id}, '${minimum}', '${maximum}')`,
      );
      await database.query(`insert into pg_dist_placement values (${id}, ${1 + (index % 2)}, 1)`);
      // The role that uses the view needs its rights to the table, as on a cluster.
      await database.query(
        `create view ${table}_${id} with (security_invoker = on) as select * from ${table}`,
      );
      await database.query(`grant all on ${table}_${id} to public`);
    }
  }
  await database.query('grant select on pg_dist_shard, pg_dist_placement to public');
  const [row] = await database.query<{ places: string }>(`select (${PLACES}) as places`);
  return createShards(row!.places);
}

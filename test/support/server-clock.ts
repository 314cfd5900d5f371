import { connectDatabase } from '../../src/database/database.ts';
import type { TestDatabase } from './database.ts';

/**
 * Lets the test set the clock of the database for new connections: its own functions
 * precede PostgreSQL's in the search path. That simulates a failover to a server with another clock.
 */
export async function steerServerClock(test: TestDatabase): Promise<(aheadMs: number) => Promise<void>> {
  const own = connectDatabase(test.address, 1);
  const [row] = await own.query<{ name: string }>('select current_database() as name');
  for (const statement of [
    'create schema steered',
    'create table steered.clock (ahead interval not null)',
    `insert into steered.clock values ('0')`,
    `create function steered.clock_timestamp() returns timestamptz language sql volatile
     as 'select pg_catalog.clock_timestamp() + ahead from steered.clock'`,
    `create function steered.statement_timestamp() returns timestamptz language sql stable
     as 'select pg_catalog.statement_timestamp() + ahead from steered.clock'`,
    `alter database ${row!.name} set search_path = steered, pg_catalog, public`,
  ]) {
    await own.query(statement);
  }
  await own.close();
  return async (aheadMs) => {
    await test.database.query(`update steered.clock set ahead = $1::bigint * interval '1 millisecond'`, [
      aheadMs,
    ]);
  };
}

import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import type { Database, Queryable } from '../database/database.ts';

export async function installationValue(database: Queryable, name: string): Promise<string | undefined> {
  const [row] = await database.query<{ value: string }>('select value from installation where name = $1', [
    name,
  ]);
  return row?.value;
}

export async function setInstallationValue(database: Queryable, name: string, value: string): Promise<void> {
  await database.query('insert into installation (name, value) values ($1, $2)', [name, value]);
}

/** The value that is there, or this one from now on: nodes that start together agree. */
export async function agreeOnValue(database: Queryable, name: string, value: string): Promise<string> {
  await database.query(
    'insert into installation (name, value) values ($1, $2) on conflict (name) do nothing',
    [name, value],
  );
  return (await installationValue(database, name))!;
}

/** One node at a time; the others wait, and then find the work done. */
export async function whileSeeding(database: Database, work: () => Promise<void>): Promise<void> {
  const connection = await database.reserve({ patient: true });
  try {
    await connection.query('set lock_timeout = 0');
    await connection.query('set statement_timeout = 0');
    await connection.query(`select pg_advisory_lock(${ADVISORY_LOCKS.demoData})`);
    await work();
  } finally {
    await connection.query(`select pg_advisory_unlock(${ADVISORY_LOCKS.demoData})`);
    await connection.query('reset lock_timeout');
    await connection.query('reset statement_timeout');
    connection.release();
  }
}

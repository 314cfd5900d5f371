import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import type { Database } from '../database/database.ts';

/** One node at a time seeds the sandbox. The others wait, and then find the work done. */
export async function whileSeeding(database: Database, work: () => Promise<void>): Promise<void> {
  const connection = await database.reserve({ patient: true });
  try {
    await connection.query('set lock_timeout = 0');
    await connection.query('set statement_timeout = 0');
    await connection.query(`select pg_advisory_lock(${ADVISORY_LOCKS.demoData})`);
    await work();
  } finally {
    // Closing the connection releases the lock and drops the settings.
    connection.discard();
  }
}

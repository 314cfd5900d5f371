import type { Database } from '../../src/database/database.ts';
import type { Parameter } from '../../src/database/queryable.ts';

/** A statement that makes so many rows that it may take longer than a statement of the service. */
export async function patiently(
  database: Database,
  statement: string,
  parameters: readonly Parameter[] = [],
): Promise<void> {
  const connection = await database.reserve({ patient: true });
  try {
    await connection.query('set statement_timeout = 0');
    await connection.query(statement, parameters);
  } finally {
    connection.discard();
  }
}

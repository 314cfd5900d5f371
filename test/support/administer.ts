import { connectDatabase } from '../../src/database/database.ts';

export type Server = { readonly socketDir: string; readonly port: number; readonly user: string };

/** Creates and drops databases. That waits for a checkpoint of the whole server, which may take a minute on a slow disk. */
export async function administer(server: Server, ...statements: readonly string[]): Promise<void> {
  // A busy machine may need longer than the few seconds that a service waits for a connection.
  const options = { connectTimeoutMs: 60_000 };
  const administration = connectDatabase({ ...server, database: 'postgres' }, 1, options);
  try {
    const connection = await administration.reserve({ patient: true });
    try {
      await connection.query('set statement_timeout = 0');
      for (const statement of statements) await connection.query(statement);
    } finally {
      connection.release();
    }
  } finally {
    await administration.close();
  }
}

import type { Database } from '../database/database.ts';

/**
 * The same database, with a limit on concurrent statements: bulk work that can wait must not take the connections that
 * requests and the write path need.
 */
export function limitStatements(database: Database, max: number): Database {
  let free = max;
  const waiting: (() => void)[] = [];

  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  }

  return {
    ...database,
    query: (text, parameters) => inTurn(() => database.query(text, parameters)),
    transaction: (work) => inTurn(() => database.transaction(work)),
  };
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from '../../src/database/database.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

const MIGRATIONS = join(import.meta.dirname, '../../migrations');

/** A database before a migration, and a function that applies it. */
export async function databaseBefore(name: string): Promise<{
  readonly test: TestDatabase;
  readonly connection: Connection;
  /** That migration, and all that come after it unless `alone`. */
  migrate(options?: { alone?: boolean }): Promise<void>;
}> {
  const test = await createTestDatabase('template1');
  const names = readdirSync(MIGRATIONS).sort();
  const ours = names.findIndex((one) => one.endsWith(`_${name}.sql`));
  const connection = await test.database.reserve();
  const apply = async (some: readonly string[]): Promise<void> => {
    for (const one of some) await connection.script(readFileSync(join(MIGRATIONS, one), 'utf8'));
  };
  await apply(names.slice(0, ours));
  return {
    test,
    connection,
    migrate: ({ alone = false } = {}) => apply(alone ? names.slice(ours, ours + 1) : names.slice(ours)),
  };
}

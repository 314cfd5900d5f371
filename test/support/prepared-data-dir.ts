import { inject } from 'vitest';
import { copyDataDir } from './data-dir.ts';
import { makeDataDir } from './process.ts';

/** For tests that need any data directory: the first start finds a migrated database, and creates the demo data only. */
export function makePreparedDataDir(): string {
  const dataDir = makeDataDir();
  const prepared = inject('preparedDataDir');
  if (prepared !== undefined) copyDataDir(prepared, dataDir);
  return dataDir;
}

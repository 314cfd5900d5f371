import { expect, it } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { untilRunningEnded } from './running.ts';

it('waits, up to a limit, for the transactions that were writing, and says whether they have ended', async () => {
  const test = await createTestDatabase();
  const writer = await test.database.reserve();
  await writer.query('begin');
  await writer.query('select pg_current_xact_id()');
  expect(await untilRunningEnded(test.database, 50)).toBe(false);
  const waiting = untilRunningEnded(test.database, 60_000);
  await writer.query('rollback');
  expect(await waiting).toBe(true);
  writer.release();
  await test.drop();
});

import { expect, it } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { untilRunningEnded } from './running-store.ts';

it('waits for whoever was writing, for a while, and says whether that is over', async () => {
  const test = await createTestDatabase();
  const writer = await test.database.reserve();
  await writer.query('begin');
  await writer.query('select pg_current_xact_id()');
  expect(await untilRunningEnded(test.database, 50)).toBe(false);
  const waiting = untilRunningEnded(test.database);
  await writer.query('rollback');
  expect(await waiting).toBe(true);
  writer.release();
  await test.drop();
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import type { Entry } from '../../src/ledger/book.ts';
import { isStored } from '../../src/ledger/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestWritePath, fund, withKey } from '../support/ledger.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('a batch is recognized by its own entry or key, whatever happened to its transaction id', async () => {
  const path = createTestWritePath(test.database);
  const alice = newId();
  const command = withKey(fund(alice, 'USD', 5n), { customerId: newId(), refId: 'evidence' });
  await path.submit(command);
  const [entry] = await test.database.query<Entry>(
    `select owner_id as "ownerId", asset, account, at_ns as "atNs", line, posting, cause_id as "causeId", delta,
            balance_after as "balanceAfter" from entries where owner_id = $1 limit 1`,
    [alice],
  );
  expect(await isStored(test.database, { entry })).toBe(true);
  expect(await isStored(test.database, { entry: { ...entry!, causeId: newId() } })).toBe(false);
  expect(await isStored(test.database, { key: command.key })).toBe(true);
  expect(await isStored(test.database, { key: { ...command.key!, resourceId: newId() } })).toBe(false);
  expect(await isStored(test.database, {})).toBeUndefined();
});

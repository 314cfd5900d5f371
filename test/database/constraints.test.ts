import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { rollUpSystemBalances } from '../../src/ledger/balances.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openingBalance } from '../support/funding.ts';
import { createTestWritePath } from '../support/ledger.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('every table has a primary key, so that a publication for all tables breaks no update or delete', async () => {
  expect(
    await test.database.query(
      `select c.relname from pg_class c
       where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
         and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`,
    ),
  ).toEqual([]);
  await test.database.query('create publication everything for all tables');
  const path = createTestWritePath(test.database);
  await path.submit(openingBalance(newId(), 'USD', 1n));
  await path.stop();
  expect(await rollUpSystemBalances(test.database, 10)).toBe(1);
  await test.database.query('drop publication everything');
});

it('entries, and the value of records, never change', async () => {
  for (const statement of [
    'update entries set delta = 1',
    'delete from entries',
    'truncate entries',
    'delete from transfers',
    'update transfers set amount_units = 1',
    `update settlement_transactions set legs = '[]'`,
    'update suspense_deposits set amount_units = 1',
    'update arrivals set amount_units = 1',
    'delete from audit_checkpoints',
  ]) {
    await expect(test.database.query(statement), statement).rejects.toThrow(/insert-only/);
  }
});

it('the total of a transfer is its amount and its fee', async () => {
  const insert = (direction: string, units: number) =>
    test.database.query(
      `insert into transfers (id, customer_id, profile_id, type, direction, status, asset, amount_units, fee_units,
                              balance_asset, balance_units, created_at_ns, updated_at_ns)
       values ($1, $1, $1, 'TEST', $2, 'COMPLETED', 'USD', 10, 2, 'USD', $3, 1, 1)`,
      [newId(), direction, units],
    );
  await insert('DEBIT', 12);
  await insert('CREDIT', 8);
  await expect(insert('DEBIT', 8)).rejects.toThrow(/transfers_total/);
  await expect(insert('CREDIT', 12)).rejects.toThrow(/transfers_total/);
});

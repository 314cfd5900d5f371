import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { createTestDatabase } from '../support/database.ts';

const MIGRATIONS = join(import.meta.dirname, '../../migrations');

it('withdrawals that were pending before there were workers are brought out, too', async () => {
  const test = await createTestDatabase('template1');
  const names = readdirSync(MIGRATIONS).sort();
  const ours = names.findIndex((name) => name.endsWith('_rails.sql'));
  const connection = await test.database.reserve();
  const apply = (name: string) => connection.script(readFileSync(join(MIGRATIONS, name), 'utf8'));
  for (const name of names.slice(0, ours)) await apply(name);
  const account = newId();
  await connection.query(
    `insert into fiat_accounts (id, customer_id, status, kind, fiat_account_owner, fiat_network_instructions,
                                created_at_ns, updated_at_ns) values ($1, $1, 'PENDING', 'cubix', '{}', '{}', 0, 0)`,
    [account],
  );
  const rows: [string, string, string, string | null, string | null][] = [
    [newId(), 'PENDING', 'DEBIT', 'BITCOIN', null],
    [newId(), 'PENDING', 'DEBIT', null, account],
    [newId(), 'COMPLETED', 'DEBIT', 'BITCOIN', null],
    [newId(), 'COMPLETED', 'CREDIT', 'BITCOIN', null],
  ];
  for (const row of rows) {
    await connection.query(
      `insert into transfers (id, customer_id, profile_id, type, direction, status, asset, amount_units, fee_units,
                              balance_asset, balance_units, created_at_ns, updated_at_ns, crypto_network, fiat_account_id)
       values ($1, $1, $1, 'TEST', $3, $2, 'USD', 1, 0, 'USD', 1, 7, 7, $4, $5)`,
      row,
    );
  }
  await apply(names[ours]!);
  const work = await connection.query(
    'select transfer_id, rail, state, due_at_ns, fiat_account_id from withdrawal_work order by rail',
  );
  connection.release();
  expect(work).toEqual([
    { transfer_id: rows[0]![0], rail: 'BITCOIN', state: 'QUEUED', due_at_ns: 7n, fiat_account_id: null },
    { transfer_id: rows[1]![0], rail: 'cubix', state: 'QUEUED', due_at_ns: 7n, fiat_account_id: account },
  ]);
  await test.drop();
});

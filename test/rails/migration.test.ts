import { expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { databaseBefore } from '../support/migrations.ts';

it('deposits that arrived before are known by the key that they would have now', async () => {
  const { test, connection, migrate } = await databaseBefore('arrival_keys');
  const request = '{"amount_units":"1","asset":"USDC","sent_to":"0xAb"}';
  const keys = [
    ['arrivals:ETHEREUM', '0x12:0xAb', '0x12:0xAb:USDC'],
    ['arrivals:ETHEREUM', '0x12:7', '0x12:7'],
    ['arrivals:BITCOIN', 'ab:0', 'ab:0'],
    ['arrivals:wire', 'reference:of:a bank', 'reference:of:a bank'],
  ];
  for (const [space, before] of keys) {
    await connection.query(
      `insert into idempotency_keys (customer_id, space, ref_id, resource_id, request)
       values ('00000000-0000-0000-0000-000000000000', $1, $2, $3, $4)`,
      [space!, before!, newId(), request],
    );
  }
  await migrate({ alone: true });
  const rows = await connection.query<{ space: string; ref_id: string }>(
    'select space, ref_id from idempotency_keys',
  );
  connection.release();
  expect(new Set(rows.map((row) => `${row.space} ${row.ref_id}`))).toEqual(
    new Set(keys.map(([space, , after]) => `${space} ${after}`)),
  );
  await test.drop();
});

it('withdrawals that were pending before there were workers are brought out, too', async () => {
  const { test, connection, migrate } = await databaseBefore('rails');
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
  await migrate({ alone: true });
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

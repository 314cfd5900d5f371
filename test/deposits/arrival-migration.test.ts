import { describe, expect, it } from 'vitest';
import type { Queryable } from '../../src/database/database.ts';
import { createDeposits } from '../../src/deposits/capability.ts';
import { createPriceTable } from '../../src/fees/prices.ts';
import { createFeeSchedule } from '../../src/fees/schedule.ts';
import { newId } from '../../src/kernel/id.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import { type ArrivedDeposit, createRails } from '../../src/rails/rail.ts';
import { SHARED_TABLES } from '../../src/tables.ts';
import { createTransfers } from '../../src/transfers/capability.ts';
import { byBank, onChain } from '../support/deposits.ts';
import { assets, createTestWritePath, problemOf } from '../support/ledger.ts';
import { databaseBefore } from '../support/migrations.ts';
import { deriveAddress } from '../support/networks.ts';

it('deposits from before the migration have the key that they would have now', async () => {
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

describe('deposits that were identified by a text', () => {
  const NOBODY = '00000000-0000-0000-0000-000000000000';
  const ADDRESS = deriveAddress('ETHEREUM', 'a deposit from before');
  const HASH = `0x${'ab'.repeat(32)}`;

  /** As the previous release wrote it. */
  const insertKey = (to: Queryable, rail: string, refId: string, id: string, request: object) =>
    to.query(
      `insert into idempotency_keys (customer_id, space, ref_id, resource_id, request) values ($1, $2, $3, $4, $5)`,
      [NOBODY, `arrivals:${rail}`, refId, id, JSON.stringify(request)],
    );
  const requestOf = (sentTo: string, asset: string, units = '7') => ({
    amount_units: units,
    asset,
    sent_to: sentTo,
  });

  it('get typed identities, and keep their outcome', async () => {
    const { test, connection, migrate } = await databaseBefore('deposit_identities');
    const cash = 'bitcoincash:qqcjnydj3vdspwh8ydfmpk4lnrtg4ny4cvgn8hh03e';
    const kept = newId();
    await connection.query(
      `insert into suspense_deposits (id, rail, reference, asset, amount_units, sent_to, reason, created_at_ns)
       values ($1, 'wire', 'r', 'USD', 7, 'm', '', 0)`,
      [kept],
    );
    const rows: [rail: string, refId: string, request: object, after: object | undefined, id?: string][] = [
      [
        'BITCOIN',
        'cd:1',
        requestOf('bc1q', 'BTC'),
        { account: 'bc1q', transaction: 'cd', output_number: 1n },
      ],
      // Credited twice by the previous release: the first one represents the output.
      ['BITCOIN', 'cd:01', requestOf('bc1q', 'BTC'), undefined],
      [
        'BITCOIN',
        'cd:2',
        requestOf('bc1p', 'BTC'),
        { account: 'bc1p', transaction: 'cd', output_number: 2n },
      ],
      ['BITCOIN', `ef:${'9'.repeat(40)}`, requestOf('bc1q', 'BTC'), { account: 'bc1q', transaction: 'ef' }],
      [
        'BITCOIN_CASH',
        `cd:${cash}:BCH`,
        requestOf(cash, 'BCH'),
        { account: cash, transaction: 'cd', asset: 'BCH' },
      ],
      [
        'ETHEREUM',
        `${HASH}:${ADDRESS}:ETH`,
        requestOf(ADDRESS, 'ETH'),
        { account: ADDRESS, transaction: HASH },
      ],
      [
        'ETHEREUM',
        `${HASH}:${ADDRESS}:USDC`,
        requestOf(ADDRESS, 'USDC'),
        { account: ADDRESS, transaction: HASH, asset: 'USDC' },
      ],
      [
        'ETHEREUM',
        '0x12:somewhere:ETH',
        requestOf(ADDRESS, 'ETH'),
        { account: ADDRESS, transaction: '0x12' },
      ],
      ['ETHEREUM', 'odd:hash:7', requestOf(ADDRESS, 'ETH'), { transaction: 'odd:hash', output_number: 7n }],
      ['wire', ' a:b:7 ', requestOf('M 1-2', 'USD'), { account: null, transaction: 'a:b:7', memo: 'M12' }],
      ['wire', 'r', requestOf('m', 'USD'), { transaction: 'r', suspense_deposit_id: kept }, kept],
      ['cubix', 'r', requestOf('M', 'USD'), { account: null, transaction: 'r', memo: 'M' }],
    ];
    const wanted: object[] = [];
    for (const [rail, refId, request, after, id = newId()] of rows) {
      await insertKey(connection, rail, refId, id, request);
      if (after !== undefined)
        wanted.push({ rail, amount_units: 7n, ...(id !== kept && { transfer_id: id }), ...after });
    }
    const customer = newId();
    await connection.query(
      `insert into idempotency_keys (customer_id, space, ref_id, resource_id, request) values ($1, 'transfers', 'x', $1, '{}')`,
      [customer],
    );
    await migrate({ alone: true });
    const arrived = await connection.query(
      'select * from arrivals order by coalesce(transfer_id, suspense_deposit_id)',
    );
    const sorted = [
      ...wanted.filter((row) => 'suspense_deposit_id' in row),
      ...wanted.filter((row) => !('suspense_deposit_id' in row)),
    ];
    expect(arrived).toHaveLength(sorted.length);
    expect(arrived).toMatchObject(sorted);
    const left = await connection.query<{ customer_id: string }>('select customer_id from idempotency_keys');
    expect(left).toEqual([{ customer_id: customer }]);
    connection.release();
    await test.drop();
  });

  it('are matched with what a rail reports now, and not credited again', async () => {
    const { test, connection, migrate } = await databaseBefore('deposit_identities');
    const deposits: ArrivedDeposit[] = [
      onChain(ADDRESS, { txHash: HASH, output: null }),
      onChain(deriveAddress('BITCOIN', 'x'), { rail: 'BITCOIN', asset: 'BTC', txHash: 'cd', output: 1 }),
      byBank('M12', { reference: 'r', account: 'an account that nobody recorded' }),
    ];
    const refIds = [`${HASH}:${ADDRESS}:ETH`, 'cd:1', 'r'];
    for (const [index, deposit] of deposits.entries()) {
      const id = newId();
      const { rail, asset, amountUnits } = deposit;
      await connection.query(
        `insert into transfers (id, customer_id, profile_id, type, direction, status, asset, amount_units, fee_units,
                                balance_asset, balance_units, created_at_ns, updated_at_ns)
         values ($1, $1, $1, 'CRYPTO_DEPOSIT', 'CREDIT', 'COMPLETED', $2, $3, 0, $2, $3, 7, 7)`,
        [id, asset, amountUnits],
      );
      const sentTo = 'txHash' in deposit ? deposit.address : deposit.memoId;
      await insertKey(connection, rail, refIds[index]!, id, requestOf(sentTo, asset, amountUnits.toString()));
    }
    await migrate();
    connection.release();
    const writePath = createTestWritePath(test.database);
    const shared = { ...SHARED_TABLES, database: test.database, writePath, assets, networks: NETWORKS };
    const { arrivals: service } = createDeposits({
      ...shared,
      rails: createRails([]),
      schedule: createFeeSchedule(NETWORKS, assets),
      prices: createPriceTable({}),
      transferById: createTransfers(shared).byId,
    });
    for (const deposit of deposits) {
      expect(await service.arrive(deposit)).toMatchObject({ replayed: true, body: { transfer: {} } });
      const problem = await problemOf(service.arrive({ ...deposit, amountUnits: 8n }));
      expect(problem).toMatchObject({ slug: 'already-exists', meta: { differs: ['amount_units'] } });
    }
    expect(await test.database.query('select 1 from entries')).toEqual([]);
    await writePath.stop();
    await test.drop();
  });
});

it('contradictions that were recorded before are kept', async () => {
  const { test, connection, migrate } = await databaseBefore('deposit_identities');
  const id = newId();
  const insert = (rail: string, recorded: string) =>
    connection.query(
      `insert into rail_contradictions (transfer_id, rail, reported, recorded, detail, at_ns)
       values ($1, $2, 'FAILED', $3, '', 1)`,
      [id, rail, recorded],
    );
  await insert('wire', 'COMPLETED');
  await migrate({ alone: true });
  await insert('cubix', 'PENDING');
  await expect(insert('cubix', 'PENDING')).rejects.toMatchObject({ code: '23505' });
  await expect(insert('cubix', 'LOST')).rejects.toMatchObject({ code: '23514' });
  expect(await connection.query('select rail from rail_contradictions order by rail')).toEqual([
    { rail: 'cubix' },
    { rail: 'wire' },
  ]);
  connection.release();
  await test.drop();
});

it('withdrawals that were pending before there were workers are paid as well', async () => {
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

import { expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { databaseBefore } from '../support/migrations.ts';

it('deposits from before the journal keep their outcome, and end once from now on', async () => {
  const { test, connection, migrate } = await databaseBefore('journal');
  const [credited, kept, transfer] = [newId(), newId(), newId()];
  const insert = (id: string, transferId: string | null) =>
    connection.query(
      `insert into suspense_deposits (id, rail, reference, asset, amount_units, sent_to, reason, created_at_ns, transfer_id)
       values ($1, 'wire', 'REF', 'USD', 100, 'MEMO', 'No profile has this address or memo.', 1, $2)`,
      [id, transferId],
    );
  await insert(credited, transfer);
  await insert(kept, null);
  await connection.query(
    `insert into arrivals (rail, account, transaction, asset, amount_units, memo, transfer_id, suspense_deposit_id)
     values ('wire', 'own', 'ONE', 'USD', 5, '', $1, null), ('wire', 'own', 'TWO', 'USD', 6, '', null, $2)`,
    [transfer, kept],
  );
  await migrate({ alone: true });
  expect(
    await connection.query(
      'select transaction, transfer_id, suspense_deposit_id, journal_entry_id from arrivals order by transaction',
    ),
  ).toEqual([
    { transaction: 'ONE', transfer_id: transfer, suspense_deposit_id: null, journal_entry_id: null },
    { transaction: 'TWO', transfer_id: null, suspense_deposit_id: kept, journal_entry_id: null },
  ]);
  const arrival = `insert into arrivals (rail, account, transaction, asset, amount_units, memo, journal_entry_id)
                   values ('wire', 'own', $1, 'USD', 5, '', $2)`;
  await connection.query(arrival, ['THREE', newId()]);
  await expect(connection.query(arrival, ['FOUR', null])).rejects.toThrow(/arrivals_became_one_thing/);
  // A node of the release before knows nothing of returns, and cannot credit what was returned.
  const end = 'update suspense_deposits set returned_by = $2 where id = $1';
  await expect(connection.query(end, [credited, newId()])).rejects.toThrow(/suspense_deposits_end_once/);
  await connection.query(end, [kept, newId()]);
  connection.release();
  await test.drop();
});

it('the schema refuses a second reversal, and a return of more than was paid', async () => {
  const { test, connection, migrate } = await databaseBefore('journal');
  await migrate({ alone: true });
  const cause = newId();
  const reverse = () =>
    connection.query(
      `insert into journal_entries (id, kind, customer_id, actor, ref_id, reason, reference, created_at_ns, profile_ids,
                                    assets, corrects_type, corrects_id, corrects_cause_id)
       values ($1, 'REVERSAL', $2, 'client', $3, 'r', 'e', 1, '{}', '{}', 'TRANSFER', $4, $4)`,
      [newId(), newId(), newId(), cause],
    );
  await reverse();
  await expect(reverse()).rejects.toThrow(/journal_one_reversal/);
  const back =
    'insert into withdrawal_returns (transfer_id, amount_units, returned_units) values ($1, 100, $2)';
  await connection.query(back, [newId(), 100]);
  await expect(connection.query(back, [newId(), 101])).rejects.toThrow(/at_most_the_amount/);
  connection.release();
  await test.drop();
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { plainId } from '../../src/banks/ids.ts';
import { notification, type SandboxEntry, statement } from '../../src/banks/sandbox-messages.ts';
import { newId } from '../../src/kernel/id.ts';
import { type BankWorld, createBankWorld, OWN_ACCOUNT } from './bank-world.ts';

/** A bank that gives its entries no reference, with `entries_without_reference` set to `statement`. */
let world: BankWorld;
beforeEach(async () => {
  world = await createBankWorld({ settings: { entries_without_reference: 'statement' } });
});
afterEach(() => world.remove());

const day = '2026-11-16';
const common = { at: `${day}T10:00:00Z`, account: OWN_ACCOUNT, currency: 'USD' };
const credit = (more: object = {}): SandboxEntry => ({
  reference: 'none',
  direction: 'CRDT',
  amount: '50.50',
  bookedOn: day,
  text: 'Invoice 7',
  sender: 'Grace Hopper',
  ...more,
});
const bare = (text: string): string => text.replaceAll(/<AcctSvcrRef>[^<]*<\/AcctSvcrRef>/g, '');
const drop = async (text: string): Promise<void> => {
  writeFileSync(join(world.directories.root, 'incoming', `${newId()}.xml`), text);
  await world.worker.turn();
  await world.worker.turn();
};
const statementOf = (id: string, entries: SandboxEntry[], closing = '0.00'): string =>
  bare(
    statement({
      ...common,
      id,
      day,
      opening: { amount: '0.00', direction: 'CRDT' },
      closing: { amount: closing, direction: 'CRDT' },
      entries,
    }),
  );
const deposits = async (): Promise<bigint[]> =>
  (await world.collect()).flatMap((one) => (one.about === 'deposit' ? [one.deposit.amountUnits] : []));

it('credits of a statement are deposits, equal ones as well, and once if the statement comes again', async () => {
  const entries = [credit(), credit(), credit({ amount: '7.00' })];
  await drop(statementOf('S1', entries, '108.00'));
  expect(await deposits()).toEqual([5_050n, 5_050n, 700n]);
  // With another order of its entries, and with one more.
  await drop(statementOf('S1', [...entries].reverse(), '108.00'));
  expect(await deposits()).toEqual([]);
  expect(await world.findings()).toEqual([]);
});

it('credits of a notification wait for the statement, with a reference or without', async () => {
  await drop(bare(notification({ ...common, id: 'n1', entries: [credit()] })));
  await drop(notification({ ...common, id: 'n2', entries: [credit({ reference: 'R7' })] }));
  expect(await deposits()).toEqual([]);
  await drop(statementOf('S1', [credit()], '50.50'));
  expect(await deposits()).toEqual([5_050n]);
  await drop(notification({ ...common, id: 'n3', entries: [credit({ reference: 'R7' })] }));
  expect(await deposits()).toEqual([]);
  expect(await world.findings()).toEqual([]);
});

it('the same entry in another statement may be the same payment: the operator decides', async () => {
  await drop(statementOf('S1', [credit()], '50.50'));
  await drop(statementOf('S1-copy', [credit()], '50.50'));
  expect(await deposits()).toEqual([5_050n]);
  expect((await world.findings()).filter((kind) => kind === 'SAME_ENTRY')).toHaveLength(1);
});

it('a debit ends its payment with the notification, and is booked with the statement', async () => {
  const key = await world.submit('10');
  await world.worker.turn();
  const debit = credit({ direction: 'DBIT', amount: '10.00', endToEndId: plainId(key), text: '' });
  await drop(bare(notification({ ...common, id: 'n1', entries: [debit] })));
  expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
  await drop(statementOf('S1', [debit]));
  expect(await world.collect()).toHaveLength(1);
  const rows = await world.database.query<{ effect: string }>('select effect from bank_entries');
  expect(rows).toEqual([{ effect: 'PAYMENT' }]);
  expect((await world.findings()).filter((kind) => kind !== 'STATEMENT_SUM')).toEqual([]);
});

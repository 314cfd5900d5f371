import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notification, statement } from '../../src/banks/sandbox-messages.ts';
import { newId } from '../../src/kernel/id.ts';
import { listDifferences } from '../../src/reconciliation/balance-store.ts';
import { type BankWorld, createBankWorld, OWN_ACCOUNT } from './bank-world.ts';

const MEMO = 'NZ4TBTPRJKQ5';
let world: BankWorld;
beforeAll(async () => {
  world = await createBankWorld();
  for (const memo of [MEMO, 'ABCDEFGH2345'])
    await world.database.query(
      `insert into fiat_deposit_instructions (id, customer_id, profile_id, created_at_ns, kind, memo_id, instructions)
       values ($1, $1, $1, 0, 'wire', $2, '{}')`,
      [newId(), memo],
    );
});
afterAll(() => world.remove());

const day = (): string => new Date().toISOString().slice(0, 10);
const common = () => ({ at: `${day()}T10:00:00Z`, account: OWN_ACCOUNT, currency: 'USD' });
const entry = (reference: string, more: object = {}) =>
  ({
    reference,
    direction: 'CRDT',
    amount: '50.50',
    bookedOn: day(),
    text: MEMO,
    sender: 'Grace Hopper',
    ...more,
  }) as const;
const drop = (name: string, text: string): void =>
  writeFileSync(join(world.directories.root, 'incoming', name), text);
const take = async (): Promise<void> => {
  await world.worker.turn();
  await world.worker.turn();
};
const deposits = async () =>
  (await world.collect()).flatMap((one) => (one.about === 'deposit' ? [one.deposit] : []));

describe('a deposit', () => {
  it('is found by its memo, whatever is written around it', async () => {
    await world.bank.deposit({
      amount: '50.50',
      text: 'Invoice 7 ref: nz4t-btpr jkq5, thanks',
      sender: 'Grace Hopper',
    });
    await take();
    expect(await deposits()).toMatchObject([
      { rail: 'wire', account: OWN_ACCOUNT, memoId: MEMO, asset: 'USD', amountUnits: 5_050n },
    ]);
  });

  it('is one deposit in the notification and in the statement, in either order and however often', async () => {
    await world.bank.deposit({ amount: '1.00', text: MEMO, sender: 'A' });
    await world.bank.state();
    await take();
    expect(await deposits()).toHaveLength(1);
    // The same entry in another message.
    drop('again.xml', notification({ ...common(), id: 'again', entries: [entry('REF-X')] }));
    await take();
    const balance = { amount: '0.00', direction: 'CRDT' } as const;
    drop(
      'late.xml',
      statement({
        ...common(),
        id: 'S9',
        day: '2000-01-01',
        opening: balance,
        closing: { amount: '50.50', direction: 'CRDT' },
        entries: [entry('REF-X')],
      }),
    );
    await take();
    expect((await deposits()).map(({ rail }) => rail)).toEqual(['wire']);
    // The statement first.
    drop(
      'first.xml',
      statement({
        ...common(),
        id: 'S10',
        day: '2000-01-02',
        opening: { amount: '50.50', direction: 'CRDT' },
        closing: { amount: '101.00', direction: 'CRDT' },
        entries: [entry('REF-Y')],
      }),
    );
    await take();
    drop('then.xml', notification({ ...common(), id: 'then', entries: [entry('REF-Y')] }));
    await take();
    expect(await deposits()).toMatchObject([{ reference: 'REF-Y' }]);
    expect(await world.findings()).toEqual([]);
  });

  it.each([
    ['without a memo', { text: 'hello' }, 'hello (from Grace Hopper)'],
    ['with two memos', { text: `${MEMO} ABCDEFGH2345` }, `${MEMO} ABCDEFGH2345 (from Grace Hopper)`],
    ['without any text', { text: '', sender: undefined }, 'without text'],
  ])('%s goes to suspense, with what is known about it', async (name, more, memoId) => {
    drop('odd.xml', notification({ ...common(), id: name, entries: [entry(`REF ${name}`, more)] }));
    await take();
    expect(await deposits()).toMatchObject([{ memoId }]);
  });

  it('that is only pending is none yet', async () => {
    const zero = { amount: '101.00', direction: 'CRDT' } as const;
    drop(
      'pending.xml',
      statement({
        ...common(),
        id: 'S11',
        day: '2000-01-03',
        opening: zero,
        closing: zero,
        entries: [],
        pending: [entry('REF-P')],
      }),
    );
    await take();
    expect(await deposits()).toEqual([]);
    drop('booked.xml', notification({ ...common(), id: 'booked', entries: [entry('REF-P')] }));
    await take();
    expect(await deposits()).toHaveLength(1);
  });

  it('under a reference that was used before with another amount is left to the operator', async () => {
    drop(
      'reuse.xml',
      notification({ ...common(), id: 'reuse', entries: [entry('REF-P', { amount: '2.00' })] }),
    );
    await take();
    expect(await deposits()).toEqual([]);
    expect(await world.findings()).toEqual(['REFERENCE_REUSED']);
  });

  it('without a reference of the bank is left to the operator', async () => {
    const text = notification({ ...common(), id: 'none', entries: [entry('REF-N')] });
    drop('none.xml', text.replaceAll(/<AcctSvcrRef>[^<]*<\/AcctSvcrRef>/g, ''));
    await take();
    expect(await deposits()).toEqual([]);
    expect(await world.findings()).toEqual(['REFERENCE_REUSED', 'NO_REFERENCE']);
  });

  it('keeps the details of its sender sealed, for the operator', async () => {
    const [row] = await world.database.query<{ details: string }>(
      `select details from bank_entries where reference = 'REF-P'`,
    );
    expect(row!.details).not.toContain('Grace');
    const place = `bank_entries.details:wire ${OWN_ACCOUNT} CRDT REF-P`;
    expect(JSON.parse(world.database.vault().open(row!.details, place))).toMatchObject({
      sender: { name: 'Grace Hopper' },
      texts: [MEMO],
    });
  });
});

describe('a statement', () => {
  it('that does not add up, or does not continue the one before, is listed', async () => {
    const before = (await world.findings()).length;
    const [opening, closing] = [
      { amount: '7.00', direction: 'DBIT' },
      { amount: '8.00', direction: 'CRDT' },
    ] as const;
    drop(
      'wrong.xml',
      statement({ ...common(), id: 'S12', day: '2000-01-04', opening, closing, entries: [] }),
    );
    await take();
    expect((await world.findings()).slice(before).sort()).toEqual(['STATEMENT_GAP', 'STATEMENT_SUM']);
  });

  it('is compared with the ledger at the end of its day', async () => {
    const rows = await world.database.query<{ units: bigint; ledger: bigint; reference: string }>(
      `select units, ledger_units as ledger, reference from reconciliation_balances where reference = 'S12'`,
    );
    // The ledger of this test is empty: all of it is a difference, and is listed as one.
    expect(rows).toEqual([{ units: 800n, ledger: 0n, reference: 'S12' }]);
    const differences = await listDifferences(world.database, 'clearing:wire', 10);
    expect(differences.map(({ reference, units }) => [reference, units])).toContainEqual(['S12', 800n]);
    // With its age: it stands since the end of that day.
    expect(differences.at(-1)!.atNs).toBeLessThan(world.clock.now());
    const [today] = await world.database.query<{ waiting: bigint }>(
      'select count(*) as waiting from bank_statements where reconciled and not compared',
    );
    expect(today!.waiting).toBe(1n);
  });

  it('that is read twice under two names has its effect once', async () => {
    const text = notification({ ...common(), id: 'twice', entries: [entry('REF-T')] });
    drop('a.xml', text);
    copyFileSync(
      join(world.directories.root, 'incoming', 'a.xml'),
      join(world.directories.root, 'incoming', 'b.xml'),
    );
    await take();
    expect(await deposits()).toHaveLength(1);
    const rows = await world.database.query(`select 1 from bank_received where name in ('a.xml', 'b.xml')`);
    expect(rows).toHaveLength(1);
  });

  it('of another account or currency is set aside', async () => {
    drop(
      'other.xml',
      notification({ ...common(), account: '111122223333', id: 'other', entries: [entry('REF-O')] }),
    );
    drop('euro.xml', notification({ ...common(), currency: 'EUR', id: 'euro', entries: [entry('REF-E')] }));
    await take();
    expect(await deposits()).toEqual([]);
    const rows = await world.database.query<{ error: string }>(
      `select error from bank_received where error is not null order by name desc`,
    );
    expect(rows.map(({ error }) => error)).toEqual([
      'it is about the account …3333, which is not that of this rail',
      'entry 1 must have an amount in USD',
    ]);
    expect(world.directories.list('incoming')).toEqual([]);
  });
});

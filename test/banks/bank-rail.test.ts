import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { changed, request } from '../support/fiat-accounts.ts';
import { type BankWorld, createBankWorld, paymentFor } from './bank-world.ts';

let world: BankWorld;
beforeAll(async () => {
  world = await createBankWorld();
});
afterAll(() => world.remove());

describe('payments in files', () => {
  it('are paid by the bank, once each, and reported as completed', async () => {
    const keys = [await world.submit('100.25'), await world.submit('0.01')];
    expect(await world.ask(keys[0]!)).toMatchObject({ kind: 'pending' });
    await world.settle();
    for (const key of keys) expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
    const { payments } = await world.bank.record();
    expect(payments.map(({ amount, state, creditor }) => [amount, state, creditor])).toEqual([
      ['100.25', 'PAID', 'Ada Lovelace'],
      ['0.01', 'PAID', 'Ada Lovelace'],
    ]);
    const notices = await world.collect();
    expect(
      notices.map((one) => (one.about === 'payment' ? `${one.key} ${one.state.kind}` : one.about)).sort(),
    ).toEqual(keys.map((key) => `${key} completed`).sort());
    expect(await world.filesOf()).toMatchObject([{ state: 'ACKNOWLEDGED', payments: 2 }]);
    expect(world.directories.list('outgoing')).toEqual([]);
    expect(world.directories.list('incoming')).toEqual([]);
    expect(await world.findings()).toEqual([]);
  });

  it('that the bank rejects fail with its reason, and the others of the file are paid', async () => {
    const refused = await world.submit('5.66');
    const paid = await world.submit('5.00');
    await world.settle();
    expect(await world.ask(refused)).toEqual({
      kind: 'failed',
      reason: 'The bank refused the payment: the account is closed (AC04).',
      // For operators: as the bank wrote it.
      privateReason: 'The bank refused the payment: RJCT AC04.',
    });
    expect(await world.ask(paid)).toMatchObject({ kind: 'completed' });
    expect((await world.filesOf()).at(-1)).toMatchObject({ state: 'PART' });
    await world.collect();
  });

  it('fail all together when the bank rejects the file', async () => {
    const keys = [await world.submit('1.66'), await world.submit('2.66')];
    await world.settle();
    for (const key of keys) expect(await world.ask(key)).toMatchObject({ kind: 'failed' });
    expect((await world.filesOf()).at(-1)).toMatchObject({ state: 'REJECTED' });
    await world.collect();
  });

  it('that come back are reported as returns of their withdrawal', async () => {
    const key = await world.submit('7.77');
    await world.settle();
    expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
    const returns = (await world.collect()).filter(({ about }) => about === 'return');
    expect(returns).toMatchObject([
      {
        about: 'return',
        key,
        arrived: { rail: 'wire', asset: 'USD', amountUnits: 777n, memoId: 'RETURNED PAYMENT' },
      },
    ]);
  });

  it('with a fault are refused at once, for all time, in words for the customer', async () => {
    const cases: [string, string, unknown][] = [
      [
        'The city of the owner of the account is missing',
        '/fiat_network_instructions/wire/fiat_account_owner_address/city',
        '',
      ],
      [
        'letters that the payment network does not have: И',
        '/fiat_account_owner/person_details/first_name',
        'Иван',
      ],
      [
        'has 40 characters as banks write it; at most 35 fit',
        '/fiat_network_instructions/wire/fiat_account_owner_address/city',
        'x'.repeat(40),
      ],
      [
        'must be an ISO 3166 code',
        '/fiat_network_instructions/wire/fiat_account_owner_address/country',
        'Narnia',
      ],
    ];
    for (const [reason, pointer, value] of cases) {
      const { fiat_network_instructions: instructions, fiat_account_owner: owner } = changed(
        pointer,
        value,
        request,
      );
      const payment = paymentFor(newId(), '5', { destination: { instructions, owner } });
      const final = { kind: 'failed', meaning: 'final', reason: expect.stringContaining(reason) };
      expect(await world.rail.submit(payment, world.signal)).toMatchObject(final);
      expect(await world.ask(payment.key)).toMatchObject({ kind: 'failed' });
      expect(await world.rail.submit(payment, world.signal)).toMatchObject(final);
    }
  });

  it('are made into files by number and by time', async () => {
    const own = await createBankWorld({ settings: { batch: { payments_max: 2, seconds: 600 } } });
    try {
      const keys = [await own.submit('1'), await own.submit('2'), await own.submit('3')];
      await own.worker.turn();
      // Around the cut-off of the bank everything that waits is sent; this test may run at that time.
      const [first, ...others] = await own.filesOf();
      expect(first).toMatchObject({ payments: 2, state: 'UPLOADED' });
      if (others.length === 0) {
        own.pass(601_000);
        await own.worker.turn();
      }
      expect(await own.filesOf()).toMatchObject([{ payments: 2 }, { payments: 1 }]);
      await own.settle();
      for (const key of keys) expect(await own.ask(key)).toMatchObject({ kind: 'completed' });
    } finally {
      await own.remove();
    }
  });

  it('are asked about when the bank does not answer, and still end when it does', async () => {
    const own = await createBankWorld();
    try {
      const key = await own.submit('9');
      await own.worker.turn();
      own.pass(25 * 3_600_000);
      await own.worker.turn();
      expect(await own.filesOf()).toMatchObject([{ state: 'ASKED' }]);
      expect(await own.findings()).toEqual(['UNANSWERED']);
      expect(own.directories.list('outgoing')).toHaveLength(1);
      await own.settle();
      expect(await own.ask(key)).toMatchObject({ kind: 'completed' });
      expect(await own.filesOf()).toMatchObject([{ state: 'ACKNOWLEDGED' }]);
    } finally {
      await own.remove();
    }
  });
});

describe('files of the bank', () => {
  it('that are not finished yet are not touched', async () => {
    const path = join(world.directories.root, 'incoming', 'half.xml');
    writeFileSync(path, '<Document');
    await world.worker.turn();
    expect(world.directories.list('incoming')).toEqual(['half.xml']);
    writeFileSync(path, '<Document xmlns="urn:x">');
    await world.worker.turn();
    expect(world.directories.list('incoming')).toEqual(['half.xml']);
    await world.worker.turn();
    expect(world.directories.list('incoming')).toEqual([]);
    expect(world.directories.list('archive')).toContain('half.xml');
    expect(world.logs.at(-1)).toContain('set aside');
  });
});

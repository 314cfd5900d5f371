import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bankBacklog } from '../../src/banks/backlog-store.ts';
import { plainId } from '../../src/banks/ids.ts';
import { decideFile } from '../../src/banks/operating.ts';
import { notification, statusReport } from '../../src/banks/sandbox-messages.ts';
import { newId } from '../../src/kernel/id.ts';
import { type BankWorld, createBankWorld, OWN_ACCOUNT } from './bank-world.ts';

/** A file with two payments, which the bank refuses as a whole, with `rejected_files` set to `hold`. */
const at = '2026-11-16T10:00:00Z';
const AS_NEW = { kind: 'resend as new' } as const;
let world: BankWorld;
let keys: string[];
let name: string;
let messageId: string;
beforeEach(async () => {
  world = await createBankWorld({ settings: { rejected_files: 'hold' } });
  keys = [await world.submit('10'), await world.submit('20')];
  await world.worker.turn();
  const [file] = await world.filesOf();
  name = file!.name;
  messageId = plainId(file!.id);
});
afterEach(() => world.remove());

const take = async (): Promise<void> => {
  await world.worker.turn();
  await world.worker.turn();
};
const drop = async (text: string): Promise<void> => {
  writeFileSync(join(world.directories.root, 'incoming', `${newId()}.xml`), text);
  await take();
};
const group = (code: string, reason?: string): Promise<void> =>
  drop(
    statusReport({
      id: newId().slice(0, 30),
      at,
      order: { messageId, paymentInformationId: `${messageId}-1` },
      group: { code, reason },
    }),
  );
const loseUpload = async (): Promise<void> => {
  const session = await world.transport.connect();
  for (const one of world.directories.list('outgoing')) await session.remove(`outgoing/${one}`);
};

it('payments of a file that the bank refuses wait for the operator, who is told', async () => {
  await group('RJCT', 'FF01');
  for (const key of keys) expect(await world.ask(key)).toMatchObject({ kind: 'pending' });
  expect(await world.filesOf()).toMatchObject([{ state: 'HELD' }]);
  expect(await world.findings()).toEqual(['FILE_REFUSED']);
  expect(await world.collect()).toEqual([]);
  const { read } = bankBacklog(world.database, 'wire');
  expect(await read()).toMatchObject([{ ferry_bank_files_asked: 1 }]);
  // Repeated, and out of order.
  await group('RJCT', 'FF01');
  await group('ACTC');
  expect(await world.filesOf()).toMatchObject([{ state: 'HELD' }]);
});

it('they are sent again once, under another message id, and paid once', async () => {
  await loseUpload();
  await group('RJCT', 'FF01');
  expect(await decideFile(world.database, name, { kind: 'resend' })).toMatchObject({ kind: 'not decidable' });
  const verdicts = await Promise.all([
    decideFile(world.database, name, AS_NEW),
    decideFile(world.database, name, AS_NEW),
  ]);
  expect(verdicts.map(({ kind }) => kind).sort()).toEqual(['decided', 'not decidable']);
  await world.settle();
  const files = await world.filesOf();
  expect(files).toMatchObject([{ state: 'REJECTED' }, { state: 'ACKNOWLEDGED', payments: 2 }]);
  for (const key of keys) expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
  const record = await world.bank.record();
  expect(record.files).toEqual([plainId(files[1]!.id)]);
  expect(record.payments.map(({ endToEndId }) => endToEndId).sort()).toEqual(keys.map(plainId).sort());
  // The bank refuses the first one again, weeks later: that says nothing about the second one.
  world.pass(30 * 86_400_000);
  await group('RJCT', 'FF01');
  for (const key of keys) expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
});

it.each(['ACKNOWLEDGED', 'ASKED', 'UPLOADED'])(
  'a file that is %s is never sent again as a new one: the refusal must be recorded',
  async (state) => {
    if (state === 'ACKNOWLEDGED') await group('ACTC');
    if (state === 'ASKED') {
      world.pass(25 * 3_600_000);
      await world.worker.turn();
    }
    expect(await decideFile(world.database, name, AS_NEW)).toEqual({ kind: 'not decidable', state });
  },
);

it('a file of which the bank has paid a payment after all is not sent again', async () => {
  await group('RJCT', 'FF01');
  const entry = { reference: 'R1', direction: 'DBIT', amount: '10.00', bookedOn: '2026-11-16' } as const;
  const entries = [{ ...entry, endToEndId: plainId(keys[0]!) }];
  await drop(notification({ id: 'n', at, account: OWN_ACCOUNT, currency: 'USD', entries }));
  expect(await world.ask(keys[0]!)).toMatchObject({ kind: 'completed' });
  expect(await decideFile(world.database, name, AS_NEW)).toEqual({ kind: 'contradicted', key: keys[0] });
  const reject = { kind: 'reject', reason: 'Ms Bank, by phone' } as const;
  expect(await decideFile(world.database, name, reject)).toEqual({ kind: 'decided', payments: 1 });
  expect(await world.ask(keys[1]!)).toMatchObject({ kind: 'failed' });
});

it('the refusal of single payments fails them at once', async () => {
  const statuses = keys.map((key) => ({ endToEndId: plainId(key), code: 'RJCT', reason: 'AC04' }));
  await drop(
    statusReport({
      id: 'x',
      at,
      order: { messageId, paymentInformationId: `${messageId}-1` },
      group: { code: 'RJCT' },
      statuses,
    }),
  );
  for (const key of keys) expect(await world.ask(key)).toMatchObject({ kind: 'failed' });
  expect(await world.filesOf()).toMatchObject([{ state: 'REJECTED' }]);
});

import { afterEach, beforeEach, expect, it } from 'vitest';
import { bankBacklog } from '../../src/banks/backlog-store.ts';
import { plainId } from '../../src/banks/ids.ts';
import { decideFile } from '../../src/banks/operating.ts';
import { createConfigFiles } from '../support/config.ts';
import { runFerry, urlOf } from '../support/process.ts';
import { type BankWorld, bankEntry, createBankWorld } from './bank-world.ts';

let world: BankWorld;
let key: string;
let name: string;
/** A file that the bank has not answered. */
beforeEach(async () => {
  world = await createBankWorld();
  key = await world.submit('10');
  await world.worker.turn();
  name = (await world.filesOf())[0]!.name;
});
afterEach(() => world.remove());

async function ask(): Promise<void> {
  world.pass(25 * 3_600_000);
  await world.worker.turn();
}
const lose = async (): Promise<void> => {
  const session = await world.transport.connect();
  for (const one of world.directories.list('outgoing')) await session.remove(`outgoing/${one}`);
};

it('metrics show files that the bank has not answered, and those about which an operator has to ask', async () => {
  const { read } = bankBacklog(world.database, 'wire');
  expect(await read()).toMatchObject([
    { rail: 'wire', ferry_bank_files_unanswered: 1, ferry_bank_files_asked: 0 },
  ]);
  await ask();
  expect(await read()).toMatchObject([{ ferry_bank_files_unanswered: 0, ferry_bank_files_asked: 1 }]);
});

it('an operator cannot decide about a file that the bank may still answer', async () => {
  expect(await decideFile(world.database, name, { kind: 'resend' })).toEqual({
    kind: 'not decidable',
    state: 'UPLOADED',
  });
  expect(await decideFile(world.database, 'other.xml', { kind: 'resend' })).toEqual({ kind: 'unknown' });
});

it('a file that the bank does not have is sent again under the same message id', async () => {
  await lose();
  await ask();
  expect(await decideFile(world.database, name, { kind: 'resend' })).toEqual({
    kind: 'decided',
    payments: 1,
  });
  await world.worker.turn();
  expect(world.directories.list('outgoing')).toEqual([name]);
  await world.settle();
  expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
  expect(await world.bank.record()).toMatchObject({ payments: [{ endToEndId: plainId(key) }] });
  expect(await world.filesOf()).toHaveLength(1);
});

it('a file that is sent again although the bank has it is refused as a duplicate, and paid once', async () => {
  await world.bank.turn();
  const session = await world.transport.connect();
  for (const one of world.directories.list('incoming')) await session.remove(`incoming/${one}`);
  await ask();
  await decideFile(world.database, name, { kind: 'resend' });
  await world.settle();
  expect(await world.ask(key)).toMatchObject({ kind: 'pending' });
  expect(await world.filesOf()).toMatchObject([{ state: 'ASKED' }]);
  // All other answers were lost; the statement has the payment.
  await world.bank.state();
  await world.settle();
  expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
  expect((await world.bank.record()).payments).toHaveLength(1);
});

it('a file that the bank will never execute is rejected: its payments fail once, and are never sent', async () => {
  await lose();
  await ask();
  const reject = { kind: 'reject', reason: 'Ms Bank, by phone' } as const;
  expect(await decideFile(world.database, name, reject)).toEqual({ kind: 'decided', payments: 1 });
  expect(await decideFile(world.database, name, reject)).toEqual({
    kind: 'not decidable',
    state: 'REJECTED',
  });
  expect(await world.ask(key)).toEqual({ kind: 'failed', reason: 'The bank did not execute the payment.' });
  expect(await world.collect()).toMatchObject([{ about: 'payment', key, state: { kind: 'failed' } }]);
  await world.settle();
  expect((await world.bank.record()).payments).toEqual([]);
});

it('commands check the rail, and report the files that the bank has not answered', async () => {
  const files = createConfigFiles();
  const env = {
    ...(files.withFile({ rails: { wire: { kind: 'iso20022', ...bankEntry(world.directories.root) } } }) as {
      FERRY_CONFIG: string;
    }),
    DATABASE_URL: urlOf(world.test.address),
    FERRY_DATA_DIR: files.directory,
  };
  const checked = await runFerry(['rails', 'check'], env);
  expect(checked).toMatchObject({ code: 0, stderr: 'Connecting to wire …\n' });
  expect(checked.stdout).toMatch(
    /^wire +iso20022 +ok +connection +directory .*\n +ok +outgoing .*\n +ok +incoming .*\n +ok +archive .*\n/,
  );
  const report = await runFerry(['bank', 'report', '--json'], env);
  expect(JSON.parse(report.stdout)).toMatchObject({
    rail: 'wire',
    files: [{ name, state: 'UPLOADED', payments: 1 }],
    findings: [],
    set_aside: [],
    statements: [],
  });
  files.remove();
});

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BankRecord } from '../../src/banks/sandbox-bank.ts';
import { runFerry } from '../support/process.ts';
import { rounds } from '../support/rounds.ts';
import { until } from '../support/until.ts';
import { startWireProduction, type WireProduction } from '../support/wire-production.ts';
import { bankEntry, createDirectories, OWN_ACCOUNT } from './bank-world.ts';

/** The service in production and the sandbox bank, as processes of their own, with a directory between them. */
let wires: WireProduction;
const directories = createDirectories();
let bank: ChildProcess;

const FERRY = join(import.meta.dirname, '../../bin/ferry.js');
const startBank = (): ChildProcess =>
  spawn(
    process.execPath,
    [
      FERRY,
      'sandbox-bank',
      '--directory',
      directories.root,
      '--account',
      OWN_ACCOUNT,
      '--pay-after',
      '0.1',
      '--statement-every',
      '3',
    ],
    { stdio: 'ignore' },
  );
const recordOf = (): BankRecord =>
  JSON.parse(readFileSync(join(directories.root, 'sandbox-bank.json'), 'utf8')) as BankRecord;

beforeAll(async () => {
  bank = startBank();
  wires = await startWireProduction({ kind: 'iso20022', ...bankEntry(directories.root) });
});
afterAll(async () => {
  await wires.remove();
  bank.kill('SIGKILL');
  directories.remove();
});

it('the operator checks the rail before the start', async () => {
  const { code, stdout } = await runFerry(['rails', 'check'], wires.env);
  expect(stdout).toMatch(
    /^wire +iso20022 +ok +connection +directory .*\n +ok +outgoing .*\n +ok +incoming .*\n +ok +archive .*\n$/,
  );
  expect(code).toBe(0);
});

it('a withdrawal is paid by the bank and is COMPLETED', async () => {
  const id = await wires.withdraw('w-1', '100.25');
  await wires.statusOf(id, 'COMPLETED');
  expect(await wires.transferOf(id)).toMatchObject({ secondary_status: { name: 'PAID' } });
  expect(await wires.available()).toBe('9879.75');
});

it('a withdrawal that the bank rejects returns the money, with the reason', async () => {
  const id = await wires.withdraw('w-2', '10.66');
  await wires.statusOf(id, 'FAILED');
  expect((await wires.transferOf(id)).secondary_status.detail).toContain('the account is closed (AC04)');
  expect(await wires.available()).toBe('9879.75');
});

it('a payment that comes back is credited once, and the withdrawal shows it', async () => {
  const before = Number(await wires.available());
  const id = await wires.withdraw('w-3', '7.77');
  await until(
    'it is shown',
    async () => (await wires.transferOf(id)).secondary_status?.name === 'RETURNED',
    100,
  );
  expect(await wires.transferOf(id)).toMatchObject({ status: 'COMPLETED' });
  // The fee of 20 USD was earned.
  expect(await wires.available()).toBe(String(before - 20));
  const { items } = await wires.call(
    wires.operator,
    'GET',
    '/v2/operator/journal-entries?kinds=WITHDRAWAL_RETURN',
  );
  expect(items).toMatchObject([{ actor: 'rail:wire', amount: '7.77', corrects: { type: 'TRANSFER', id } }]);
});

it('a deposit is credited once, from the notification and the statement', async () => {
  const before = Number(await wires.available());
  const { memo_id, fiat_network_instructions } = await wires.call(
    wires.token,
    'POST',
    '/v2/transfer/fiat-deposit-instructions',
    {
      profile_id: wires.profile,
      fiat_network: 'WIRE',
    },
  );
  expect(fiat_network_instructions.wire.account_number).toBe(OWN_ACCOUNT);
  const text = `for ${memo_id.toLowerCase()} thanks`;
  const { code } = await runFerry(
    ['sandbox-bank', 'deposit', '--directory', directories.root, '--amount', '50.50', '--text', text],
    wires.env,
  );
  expect(code).toBe(0);
  await until('it is credited', async () => Number(await wires.available()) > before, 100);
  await until('the statement has it', async () => {
    const rows = await wires.test.database.query(
      `select 1 from bank_entries where effect = 'DEPOSIT' and statement_id is not null`,
    );
    return rows.length === 1;
  });
  await wires.noticesProcessed();
  expect(Number(await wires.available())).toBe(before + 50.5);
  expect(
    (await wires.call(wires.token, 'GET', '/v2/transfer/transfers?type=WIRE_DEPOSIT')).items,
  ).toHaveLength(1);
});

it('statements are beside the ledger: nothing is on one side only but the opening balance', async () => {
  await until(
    'all movements are matched',
    async () => {
      const { items } = await wires.call(
        wires.operator,
        'GET',
        '/v2/operator/reconciliations/unmatched?account=clearing:wire',
      );
      return items.length <= 1;
    },
    200,
  );
  const { stdout } = await runFerry(['bank', 'report', '--json'], wires.env);
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({ rail: 'wire', findings: [], set_aside: [] });
  expect(report.statements.length).toBeGreaterThan(0);
  expect(new Set(report.files.map(({ state }: any) => state))).toEqual(new Set(['ACKNOWLEDGED', 'REJECTED']));
});

it('withdrawals are paid once, although Ferry and the bank are killed again and again', async () => {
  const ids: string[] = [];
  for (let round = 0; round < rounds(2, 6); round += 1) {
    for (let index = 0; index < 3; index += 1)
      ids.push(await wires.withdraw(`k-${round}-${index}`, `${round + 1}.0${index}`));
    if (round % 2 === 0) {
      await wires.kill();
      // The lease of the killed node would last for two minutes.
      await wires.test.database.query('update bank_leases set leased_until_ns = 0');
      await wires.start();
    } else {
      bank.kill('SIGKILL');
      bank = startBank();
    }
  }
  for (const id of ids) await wires.statusOf(id, 'COMPLETED');
  const paid = recordOf().payments.map(({ endToEndId }) => endToEndId);
  for (const id of ids) expect(paid.filter((one) => one === id.replaceAll('-', ''))).toHaveLength(1);
  await wires.expectSound();
});

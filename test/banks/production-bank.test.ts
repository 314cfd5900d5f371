import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BankRecord } from '../../src/banks/sandbox-bank.ts';
import { type ConfigFiles, createConfigFiles } from '../support/config.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { request as wireAccount } from '../support/fiat-accounts.ts';
import { type FerryProcess, runFerry, startFerry, tokenFrom, urlOf } from '../support/process.ts';
import { until } from '../support/until.ts';
import { bankEntry, createDirectories, OWN_ACCOUNT } from './bank-world.ts';

/** The service in production and the sandbox bank, as processes of their own, with a directory between them. */
let test: TestDatabase;
let files: ConfigFiles;
const directories = createDirectories();
let bank: ChildProcess;
let node: FerryProcess;
let env: Record<string, string>;
let token: string;
let operator: string;
let profile: string;
let account: string;

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

async function created(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await runFerry([...args, '--json'], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function call(as: string, method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(node.url + path, {
    method,
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const content: any = await response.json();
  expect({ status: response.status, content }).toMatchObject({ status: 200 });
  return content;
}

const available = async (): Promise<string> =>
  (await call(token, 'GET', `/v2/profiles/${profile}/balances/USD`)).available;
const transferOf = async (id: string): Promise<any> =>
  (await call(token, 'GET', `/v2/transfer/transfers?ids=${id}`)).items[0];
const withdraw = async (refId: string, amount: string): Promise<string> =>
  (
    await call(token, 'POST', '/v2/transfer/fiat-withdrawals', {
      profile_id: profile,
      fiat_account_id: account,
      asset: 'USD',
      amount,
      ref_id: refId,
    })
  ).id;
const statusOf = (id: string, status: string): Promise<void> =>
  until(`${id} is ${status}`, async () => (await transferOf(id)).status === status, 100);

beforeAll(async () => {
  files = createConfigFiles();
  test = await createTestDatabase('template1');
  env = {
    ...(files.withFile({ rails: { wire: { kind: 'iso20022', ...bankEntry(directories.root) } } }) as Record<
      string,
      string
    >),
    FERRY_MODE: 'production',
    FERRY_PUBLIC_URL: 'https://pay.example',
    DATABASE_URL: urlOf(test.address),
    FERRY_SECRET_KEY: Buffer.alloc(32).toString('base64'),
  };
  bank = startBank();
  node = await startFerry(env);
  await created('customer', 'create', '--name', 'Operations');
  const scopes = ['operator:journal', 'operator:read', 'operator:review'].flatMap((scope) => [
    '--scope',
    scope,
  ]);
  operator = await tokenFrom(
    node.url,
    await created('client', 'create', '--customer', 'Operations', '--name', 'ops', ...scopes),
  );
  await created('customer', 'create', '--name', 'Harbour');
  token = await tokenFrom(
    node.url,
    await created('client', 'create', '--customer', 'Harbour', '--name', 'api'),
  );
  profile = (await call(token, 'POST', '/v2/profiles', { nickname: 'main' })).id;
  await call(operator, 'POST', '/v2/operator/journal-entries', {
    kind: 'OPENING_BALANCE',
    ref_id: 'opening',
    reason: 'Balance at the old provider',
    reference: 'STATEMENT-1',
    profile_id: profile,
    asset: 'USD',
    amount: '10000',
    rail: 'wire',
    account: 'own',
  });
  account = (await call(token, 'POST', '/v2/transfer/fiat-accounts', wireAccount)).id;
  const { digest } = await call(operator, 'GET', `/v2/operator/fiat-accounts/${account}`);
  await call(operator, 'POST', `/v2/operator/fiat-accounts/${account}/approve`, { digest });
});
afterAll(async () => {
  if (node.child.exitCode === null) await node.end('SIGKILL');
  bank.kill('SIGKILL');
  files.remove();
  directories.remove();
  await test.drop();
});

it('the operator checks the rail before the start', async () => {
  const { code, stdout } = await runFerry(['rails', 'check'], env);
  expect(stdout).toMatch(
    /^wire +iso20022 +ok +connection +directory .*\n +ok +outgoing .*\n +ok +incoming .*\n +ok +archive .*\n$/,
  );
  expect(code).toBe(0);
});

it('a withdrawal is paid by the bank and is COMPLETED', async () => {
  const id = await withdraw('w-1', '100.25');
  await statusOf(id, 'COMPLETED');
  expect(await transferOf(id)).toMatchObject({ secondary_status: { name: 'PAID' } });
  expect(await available()).toBe('9879.75');
});

it('a withdrawal that the bank rejects returns the money, with the reason', async () => {
  const id = await withdraw('w-2', '10.66');
  await statusOf(id, 'FAILED');
  expect((await transferOf(id)).secondary_status.detail).toContain('the account is closed (AC04)');
  expect(await available()).toBe('9879.75');
});

it('a payment that comes back is credited once, and the withdrawal shows it', async () => {
  const before = Number(await available());
  const id = await withdraw('w-3', '7.77');
  await until('it is shown', async () => (await transferOf(id)).secondary_status?.name === 'RETURNED', 100);
  expect(await transferOf(id)).toMatchObject({ status: 'COMPLETED' });
  // The fee of 20 USD was earned.
  expect(await available()).toBe(String(before - 20));
  const { items } = await call(operator, 'GET', '/v2/operator/journal-entries?kinds=WITHDRAWAL_RETURN');
  expect(items).toMatchObject([{ actor: 'rail:wire', amount: '7.77', corrects: { type: 'TRANSFER', id } }]);
});

it('a deposit is credited once, from the notification and the statement', async () => {
  const before = Number(await available());
  const { memo_id, fiat_network_instructions } = await call(
    token,
    'POST',
    '/v2/transfer/fiat-deposit-instructions',
    {
      profile_id: profile,
      fiat_network: 'WIRE',
    },
  );
  expect(fiat_network_instructions.wire.account_number).toBe(OWN_ACCOUNT);
  const text = `for ${memo_id.toLowerCase()} thanks`;
  const { code } = await runFerry(
    ['sandbox-bank', 'deposit', '--directory', directories.root, '--amount', '50.50', '--text', text],
    env,
  );
  expect(code).toBe(0);
  await until('it is credited', async () => Number(await available()) > before, 100);
  await until('the statement has it', async () => {
    const rows = await test.database.query(
      `select 1 from bank_entries where effect = 'DEPOSIT' and statement_id is not null`,
    );
    return rows.length === 1;
  });
  await until(
    'all notices are processed',
    async () => (await test.database.query('select 1 from rail_notices')).length === 0,
  );
  expect(Number(await available())).toBe(before + 50.5);
  expect((await call(token, 'GET', '/v2/transfer/transfers?type=WIRE_DEPOSIT')).items).toHaveLength(1);
});

it('statements are beside the ledger: nothing is on one side only but the opening balance', async () => {
  await until(
    'all movements are matched',
    async () => {
      const { items } = await call(
        operator,
        'GET',
        '/v2/operator/reconciliations/unmatched?account=clearing:wire',
      );
      return items.length <= 1;
    },
    200,
  );
  const { stdout } = await runFerry(['bank', 'report', '--json'], env);
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({ rail: 'wire', findings: [], set_aside: [] });
  expect(report.statements.length).toBeGreaterThan(0);
  expect(new Set(report.files.map(({ state }: any) => state))).toEqual(new Set(['ACKNOWLEDGED', 'REJECTED']));
});

it('withdrawals are paid once, although Ferry and the bank are killed again and again', async () => {
  const ids: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    for (let index = 0; index < 3; index += 1)
      ids.push(await withdraw(`k-${round}-${index}`, `${round + 1}.0${index}`));
    if (round % 2 === 0) {
      await node.end('SIGKILL');
      // The lease of the killed node would last for two minutes.
      await test.database.query('update bank_leases set leased_until_ns = 0');
      node = await startFerry(env);
    } else {
      bank.kill('SIGKILL');
      bank = startBank();
    }
  }
  for (const id of ids) await statusOf(id, 'COMPLETED');
  const paid = recordOf().payments.map(({ endToEndId }) => endToEndId);
  for (const id of ids) expect(paid.filter((one) => one === id.replaceAll('-', ''))).toHaveLength(1);
  const { code, stdout } = await runFerry(['verify', '--full'], env);
  expect(stdout).toContain('The ledger is sound');
  expect(code).toBe(0);
});

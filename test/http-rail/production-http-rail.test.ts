import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConfigFiles, createConfigFiles } from '../support/config.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { request as wireAccount } from '../support/fiat-accounts.ts';
import { type FerryProcess, logOf, runFerry, startFerry, tokenFrom, urlOf } from '../support/process.ts';
import { until } from '../support/until.ts';
import { type Adapter, freePort, PYTHON_ADAPTER, SECRET, startPythonAdapter } from './adapters.ts';

/** The service in production, with the example adapter in Python as its bank. */
let test: TestDatabase;
let files: ConfigFiles;
let adapter: Adapter;
let node: FerryProcess;
let env: Record<string, string>;
let token: string;
let operator: string;
let profile: string;
let account: string;

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

/** As the author of the adapter sends it: with the adapter's own command. */
async function notify(notice: object): Promise<any> {
  const own = { ...process.env, ADAPTER_SECRET: SECRET, FERRY_URL: node.url };
  const { stdout } = await promisify(execFile)(
    'python3',
    [PYTHON_ADAPTER, 'notify', JSON.stringify(notice)],
    { env: own },
  );
  return JSON.parse(stdout);
}

const withdraw = (refId: string): Promise<any> =>
  call(token, 'POST', '/v2/transfer/fiat-withdrawals', {
    profile_id: profile,
    fiat_account_id: account,
    asset: 'USD',
    amount: '100.25',
    ref_id: refId,
  });

const completion = (id: string): Promise<void> =>
  until(`${id} is COMPLETED`, async () => (await transferOf(id)).status === 'COMPLETED', 100);

beforeAll(async () => {
  const port = await freePort();
  adapter = await startPythonAdapter({ FERRY_URL: `http://127.0.0.1:${port}` });
  files = createConfigFiles();
  test = await createTestDatabase('template1');
  const rail = { kind: 'http', url: adapter.url, secret: { env: 'BANK_SECRET' }, horizon_ms: 8_000 };
  env = {
    ...(files.withFile({ rails: { wire: rail } }) as Record<string, string>),
    BANK_SECRET: SECRET,
    FERRY_MODE: 'production',
    FERRY_PUBLIC_URL: 'https://pay.example',
    DATABASE_URL: urlOf(test.address),
    FERRY_SECRET_KEY: Buffer.alloc(32).toString('base64'),
    PORT: String(port),
  };
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
  await adapter.remove();
  files.remove();
  await test.drop();
});

it('the operator checks the rail before the start', async () => {
  const { code, stdout } = await runFerry(['rails', 'check'], env);
  expect(stdout).toMatch(
    /^wire +http +ok +GET \/health +ok, \d+ ms\n +ok +an unknown payment +is reported as not found\n +ok +a wrong signature +is refused\n$/,
  );
  expect(code).toBe(0);
});

it('a withdrawal is paid by the adapter, and is COMPLETED by its report', async () => {
  const { id } = await withdraw('w-1');
  await completion(id);
  expect(await transferOf(id)).toMatchObject({
    status: 'COMPLETED',
    secondary_status: { name: 'PAID', detail: 'Paid by Example Bank.' },
  });
  expect(adapter.recordOf(id)).toEqual({ accepted: 1, payments: 1 });
  expect(await available()).toBe('9879.75');
});

it('a deposit is credited once, although it is reported five times', async () => {
  const before = Number(await available());
  const { memo_id } = await call(token, 'POST', '/v2/transfer/fiat-deposit-instructions', {
    profile_id: profile,
    fiat_network: 'WIRE',
  });
  const notice = {
    type: 'deposit',
    account: 'own',
    reference: 'IN-1',
    memo_id,
    asset: 'USD',
    amount: '50.5',
  };
  for (let time = 0; time < 5; time += 1) expect(await notify(notice)).toEqual({ recorded: 1 });
  await until('it is credited', async () => Number(await available()) > before);
  expect(await notify(notice)).toEqual({ recorded: 1 });
  await until('all notices are processed', async () => {
    const [row] = await test.database.query<{ count: bigint }>('select count(*) from rail_notices');
    return row!.count === 0n;
  });
  expect(Number(await available())).toBe(before + 50.5);
  const { items } = await call(token, 'GET', '/v2/transfer/transfers?type=WIRE_DEPOSIT');
  expect(items).toHaveLength(1);
});

it('a return after COMPLETED is credited once, and the withdrawal shows it', async () => {
  const before = Number(await available());
  const { id } = await withdraw('w-2');
  await completion(id);
  const notice = {
    type: 'return',
    key: id,
    account: 'own',
    reference: 'BACK-1',
    asset: 'USD',
    amount: '100.25',
  };
  for (let time = 0; time < 3; time += 1) expect(await notify(notice)).toEqual({ recorded: 1 });
  await until('it is shown', async () => (await transferOf(id)).secondary_status.name === 'RETURNED');
  expect(await transferOf(id)).toMatchObject({ status: 'COMPLETED' });
  // The fee of 20 USD was earned.
  expect(Number(await available())).toBe(before - 20);
  const { items } = await call(operator, 'GET', '/v2/operator/journal-entries?kinds=WITHDRAWAL_RETURN');
  expect(items).toMatchObject([{ actor: 'rail:wire', amount: '100.25', corrects: { type: 'TRANSFER', id } }]);
});

it('an adapter that reports something wrong is told what', async () => {
  const answer = await notify({ type: 'deposit', account: 'own', reference: 'X', asset: 'USD', amount: 5 });
  expect(answer).toMatchObject({ status: 400, detail: '/notices/0/amount must be a string.' });
});

it('withdrawals are paid once, although Ferry and the adapter are killed again and again', async () => {
  const ids: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    for (let index = 0; index < 3; index += 1) ids.push((await withdraw(`k-${round}-${index}`)).id);
    // At once, and therefore at any point between the request and its end.
    if (round % 2 === 0) {
      await node.end('SIGKILL');
      node = await startFerry(env);
    } else await adapter.restart();
  }
  for (const id of ids) await completion(id);
  for (const id of ids) expect(adapter.recordOf(id)).toEqual({ accepted: 1, payments: 1 });
  const { code, stdout } = await runFerry(['verify', '--full'], env);
  expect(stdout).toContain('The ledger is sound');
  expect(code).toBe(0);
  expect(logOf(node).filter(({ level }) => level >= 50)).toEqual([]);
});

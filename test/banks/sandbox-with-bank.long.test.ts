import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createConfigFiles } from '../support/config.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  type FerryProcess,
  makeDataDir,
  removeDataDir,
  runFerry,
  sandboxOf,
  startFerry,
  tokenFrom,
  urlOf,
} from '../support/process.ts';
import { until } from '../support/until.ts';
import { bankEntry, createDirectories, OWN_ACCOUNT } from './bank-world.ts';

/** The sandbox with its demo data, and the sandbox bank instead of the simulated wire. */
const FERRY = join(import.meta.dirname, '../../bin/ferry.js');
const directories = createDirectories();
const files = createConfigFiles();
const dataDir = makeDataDir();
let test: TestDatabase | undefined;
let node: FerryProcess | undefined;
let bank: ChildProcess | undefined;
afterEach(async () => {
  bank?.kill('SIGKILL');
  await node?.end('SIGTERM');
  await test?.drop();
});
afterEach(async () => {
  await removeDataDir(dataDir);
  files.remove();
  directories.remove();
});

/** Two processes and demo data. production-bank.long.test.ts has the same exchange in production. */
it('the sandbox pays and is paid by the sandbox bank, in messages of FedNow', async () => {
  const messages = 'fednow';
  test = await createTestDatabase('template1');
  const rail = { kind: 'iso20022', ...bankEntry(directories.root, { messages, batch: undefined }) };
  const env = {
    ...(files.withFile({ rails: { wire: rail } }) as Record<string, string>),
    FERRY_DATA_DIR: dataDir,
    DATABASE_URL: urlOf(test.address),
  };
  const options = ['--directory', directories.root, '--messages', messages];
  bank = spawn(
    process.execPath,
    [FERRY, 'sandbox-bank', ...options, '--account', OWN_ACCOUNT, '--pay-after', '0.1'],
    { stdio: 'ignore' },
  );
  node = await startFerry(env);
  const { url } = node;
  const customer = sandboxOf(dataDir).customers[0]!;
  const token = await tokenFrom(url, customer);
  const call = async (method: string, path: string, body?: object): Promise<any> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    return response.json();
  };
  const profile = customer.profiles[0]!.id;
  const available = async (): Promise<number> =>
    Number((await call('GET', `/v2/profiles/${profile}/balances/USD`)).available);
  const before = await available();
  const withdraw = (amount: string): Promise<any> =>
    call('POST', '/v2/transfer/fiat-withdrawals', {
      profile_id: profile,
      fiat_account_id: customer.fiat_account_id,
      asset: 'USD',
      amount,
    });
  const [paid, refused] = [await withdraw('100.25'), await withdraw('5.66')];
  const stateOf = async (id: string): Promise<any> => call('GET', `/v2/transfer/transfers/${id}`);
  await until('it is paid', async () => (await stateOf(paid.id)).status === 'COMPLETED', 100);
  await until('it is refused', async () => (await stateOf(refused.id)).status === 'FAILED', 100);
  expect(await available()).toBe(before - 120.25);
  const order = { profile_id: profile, fiat_network: 'WIRE' };
  const { memo_id, fiat_network_instructions } = await call(
    'POST',
    '/v2/transfer/fiat-deposit-instructions',
    order,
  );
  expect(fiat_network_instructions.wire.account_number).toBe(OWN_ACCOUNT);
  const deposit = ['--directory', directories.root, '--amount', '20.25', '--text', memo_id];
  expect((await runFerry(['sandbox-bank', 'deposit', ...deposit], env)).code).toBe(0);
  await until('it is credited', async () => (await available()) === before - 100, 100);
});

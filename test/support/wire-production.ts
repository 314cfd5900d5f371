import { expect } from 'vitest';
import { type ConfigFiles, createConfigFiles } from './config.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { request as wireAccount } from './fiat-accounts.ts';
import { type FerryProcess, runFerry, startFerry, tokenFrom, urlOf } from './process.ts';
import { until } from './until.ts';

/** The service in production as a process, with one rail for wires, a customer who has 10,000 USD, and an approved bank account. */
export type WireProduction = {
  readonly test: TestDatabase;
  readonly env: Record<string, string>;
  readonly node: FerryProcess;
  readonly token: string;
  readonly operator: string;
  readonly profile: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  call(as: string, method: string, path: string, body?: object): Promise<any>;
  available(): Promise<string>;
  transferOf(id: string): Promise<any>;
  /** Answers with the id of the transfer. */
  withdraw(refId: string, amount: string): Promise<string>;
  statusOf(id: string, status: string): Promise<void>;
  /** All notices of the rail have their effect. */
  noticesProcessed(): Promise<void>;
  expectSound(): Promise<void>;
  remove(): Promise<void>;
};

async function created(env: Record<string, string>, ...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await runFerry([...args, '--json'], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function callAt(url: string, as: string, method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const content: any = await response.json();
  expect({ status: response.status, content }).toMatchObject({ status: 200 });
  return content;
}

const OPERATOR = ['operator:journal', 'operator:read', 'operator:review'].flatMap((scope) => [
  '--scope',
  scope,
]);

/** A client of an operator, one of a customer, and what the customer has. */
async function createParties(url: string, env: Record<string, string>) {
  await created(env, 'customer', 'create', '--name', 'Operations');
  const operator = await tokenFrom(
    url,
    await created(env, 'client', 'create', '--customer', 'Operations', '--name', 'ops', ...OPERATOR),
  );
  await created(env, 'customer', 'create', '--name', 'Harbour');
  const token = await tokenFrom(
    url,
    await created(env, 'client', 'create', '--customer', 'Harbour', '--name', 'api'),
  );
  const profile: string = (await callAt(url, token, 'POST', '/v2/profiles', { nickname: 'main' })).id;
  await callAt(url, operator, 'POST', '/v2/operator/journal-entries', {
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
  const account: string = (await callAt(url, token, 'POST', '/v2/transfer/fiat-accounts', wireAccount)).id;
  const path = `/v2/operator/fiat-accounts/${account}`;
  const { digest } = await callAt(url, operator, 'GET', path);
  await callAt(url, operator, 'POST', `${path}/approve`, { digest });
  return { operator, token, profile, account };
}

export async function startWireProduction(
  rail: object,
  more: Record<string, string> = {},
): Promise<WireProduction> {
  const files: ConfigFiles = createConfigFiles();
  const test = await createTestDatabase();
  const env: Record<string, string> = {
    ...(files.withFile({ rails: { wire: rail } }) as Record<string, string>),
    FERRY_MODE: 'production',
    FERRY_FOUR_EYES: 'off',
    FERRY_PUBLIC_URL: 'https://pay.example',
    DATABASE_URL: urlOf(test.address),
    FERRY_SECRET_KEY: Buffer.alloc(32).toString('base64'),
    ...more,
  };
  let node = await startFerry(env);
  const { operator, token, profile, account } = await createParties(node.url, env);
  const call: WireProduction['call'] = (as, method, path, body) => callAt(node.url, as, method, path, body);
  const transferOf = async (id: string): Promise<any> =>
    (await call(token, 'GET', `/v2/transfer/transfers?ids=${id}`)).items[0];
  return {
    test,
    env,
    get node() {
      return node;
    },
    token,
    operator,
    profile,
    call,
    transferOf,
    kill: async () => void (await node.end('SIGKILL')),
    async start() {
      node = await startFerry(env);
    },
    available: async () => (await call(token, 'GET', `/v2/profiles/${profile}/balances/USD`)).available,
    async withdraw(refId, amount) {
      const order = { profile_id: profile, fiat_account_id: account, asset: 'USD', amount, ref_id: refId };
      return (await call(token, 'POST', '/v2/transfer/fiat-withdrawals', order)).id;
    },
    statusOf: (id, status) =>
      until(`${id} is ${status}`, async () => (await transferOf(id)).status === status, 100),
    noticesProcessed: () =>
      until(
        'all notices are processed',
        async () => (await test.database.query('select 1 from rail_notices')).length === 0,
      ),
    async expectSound() {
      const { code, stdout } = await runFerry(['verify', '--full'], env);
      expect(stdout).toContain('The ledger is sound');
      expect(code).toBe(0);
    },
    async remove() {
      if (node.child.exitCode === null) await node.end('SIGKILL');
      files.remove();
      await test.drop();
    },
  };
}

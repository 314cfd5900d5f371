import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  audited,
  type FerryProcess,
  type Finished,
  runFerry,
  startFerry,
  tokenFrom,
  urlOf,
} from '../support/process.ts';

/** From an empty database to a transfer, in production: there is no sandbox that funds anybody. */
let test: TestDatabase;
let env: Record<string, string>;
let node: FerryProcess;
let operator: Record<string, string>;
let token: string;
const profiles: string[] = [];

const ferry = (...args: string[]): Promise<Finished> => runFerry(args, env);

/** As the operator, at the address of the node: FERRY_PUBLIC_URL is that of the proxy in front. */
const journal = (...args: string[]): Promise<Finished> =>
  runFerry(['journal', ...args, '--url', node.url], { ...env, ...operator });

async function created(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await ferry(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function call(method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(node.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

beforeAll(async () => {
  test = await createTestDatabase('template1');
  env = {
    FERRY_MODE: 'production',
    FERRY_FOUR_EYES: 'off',
    FERRY_PUBLIC_URL: 'https://pay.example',
    DATABASE_URL: urlOf(test.address),
    FERRY_SECRET_KEY: Buffer.alloc(32).toString('base64'),
  };
  node = await startFerry(env);
  await created('customer', 'create', '--name', 'Operations');
  const scopes = ['operator:journal', 'operator:read'].flatMap((scope) => ['--scope', scope]);
  const books = await created('client', 'create', '--customer', 'Operations', '--name', 'books', ...scopes);
  operator = { FERRY_CLIENT_ID: books.client_id, FERRY_CLIENT_SECRET: books.client_secret };
  await created('customer', 'create', '--name', 'Harbour');
  const client = await created('client', 'create', '--customer', 'Harbour', '--name', 'api');
  token = await tokenFrom(node.url, client);
  for (const nickname of ['main', 'savings']) {
    profiles.push((await call('POST', '/v2/profiles', { nickname })).body.id);
  }
});
afterAll(async () => {
  if (node.child.exitCode === null) await node.end('SIGKILL');
  await test.drop();
});

const OPENING = [
  'opening-balance',
  '--ref-id=opening-1',
  '--reason=Balance at the old provider',
  '--reference=STATEMENT-2026-10',
  '--asset=USD',
  '--rail=wire',
  '--account=DE02 1203 0000 0000 2020 51',
];

it('an operator funds a profile with an opening balance, and the customer transfers the money', async () => {
  const [main, savings] = profiles as [string, string];
  expect((await call('GET', `/v2/profiles/${main}/balances/USD`)).body.available).toBe('0');
  const booked = await journal(...OPENING, '--profile-id', main, '--amount', '1000');
  expect(booked).toEqual({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/^Booked OPENING_BALANCE: [0-9a-f-]{36}\n$/),
  });
  const again = await journal(...OPENING, '--profile-id', main, '--amount', '1000.00');
  expect(again).toEqual(booked);
  const sent = await call('POST', '/v2/transfer/platform', {
    from_profile_id: main,
    to_profile_id: savings,
    asset: 'USD',
    amount: '400',
  });
  expect(sent).toMatchObject({ status: 200, body: { status: 'COMPLETED' } });
  expect((await call('GET', `/v2/profiles/${main}/balances/USD`)).body.available).toBe('600');
  expect((await call('GET', `/v2/profiles/${savings}/balances/USD`)).body.available).toBe('400');
});

it('the trial balance is printed, as it is now and as it was', async () => {
  const trialBalance = (...args: string[]): Promise<Finished> =>
    runFerry(['trial-balance', ...args, '--url', node.url], { ...env, ...operator });
  await expect
    .poll(async () => (await trialBalance()).stdout, { timeout: 60_000 })
    .toMatch(
      /^ASSET +ACCOUNT +BALANCE\nUSD +available +1000\nUSD +held +0\nUSD +clearing:wire +-1000\nUSD +TOTAL +0\n/,
    );
  const before = await trialBalance('--at', '2020-01-01T00:00:00Z', '--json');
  expect(before.code).toBe(0);
  const [usd] = JSON.parse(before.stdout).assets;
  expect(usd.accounts.map((one: { balance: string }) => one.balance)).toEqual(['0', '0', '0']);
});

it('the same money is not booked twice, and refusals say why', async () => {
  const [main, savings] = profiles as [string, string];
  const twice = await journal(
    ...OPENING.map((one) => one.replace('opening-1', 'opening-2')),
    '--profile-id',
    savings,
    '--amount',
    '1000',
  );
  expect(twice).toMatchObject({ code: 1, stdout: '' });
  expect(twice.stderr).toMatch(/^Refused \(409\): The reference STATEMENT-2026-10 on wire is booked already/);
  const common = ['--ref-id', 'off-1', '--reason', 'x', '--reference', 'y', '--asset', 'USD'];
  const poor = await journal('write-off', ...common, '--amount', '601', '--profile-id', main);
  expect(poor.stderr).toContain(`Profile ${main} has 600 USD available, 601 USD are needed.`);
  const without = await runFerry(['journal', 'list', '--url', node.url], env);
  expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('FERRY_CLIENT_ID') });
  const customer = await runFerry(['journal', 'list', '--url', node.url], {
    ...env,
    FERRY_ACCESS_TOKEN: token,
  });
  expect(customer.stderr).toMatch(/^Refused \(403\): This operation requires the scope operator:read/);
  const away = await runFerry(['journal', 'list', '--url', 'http://127.0.0.1:1'], { ...env, ...operator });
  expect(away.stderr).toMatch(/^http:\/\/127\.0\.0\.1:1\/oauth2\/token does not answer .*--ref-id/);
});

it('a transfer is reversed from the command line, and the journal shows everything', async () => {
  const [main] = profiles as [string];
  const { body } = await call('GET', '/v2/transfer/transfers?type=PLATFORM_TRANSFER_DEBIT');
  const reversed = await journal(
    ...'reversal --ref-id undo-1 --reason Mistake --reference CASE-1 --corrects-type TRANSFER --json'.split(
      ' ',
    ),
    '--corrects-id',
    body.items[0].id,
  );
  expect(JSON.parse(reversed.stdout)).toMatchObject({ kind: 'REVERSAL', amount: '400' });
  expect((await call('GET', `/v2/profiles/${main}/balances/USD`)).body.available).toBe('1000');
  const { stdout } = await journal('list', '--profile-id', main);
  expect(stdout).toMatch(
    /^ID +BOOKED +KIND +AMOUNT +REFERENCE\n.*REVERSAL +400 USD +CASE-1\n.*OPENING_BALANCE +1000 USD/,
  );
  const shown = await journal('show', JSON.parse(reversed.stdout).id);
  expect(JSON.parse(shown.stdout)).toEqual(JSON.parse(reversed.stdout));
  await audited(node);
  const { code, stdout: verified, stderr } = await ferry('verify');
  expect({ code, verified, stderr }).toMatchObject({
    code: 0,
    verified: expect.stringContaining('The ledger is sound'),
  });
});

it('a statement and a balance of the bank are reconciled from the command line', async () => {
  const reconcile = (...args: string[]): Promise<Finished> =>
    runFerry(['reconcile', ...args, '--url', node.url], { ...env, ...operator });
  const directory = mkdtempSync(join(tmpdir(), 'ferry-statement-'));
  const file = join(directory, 'january.csv');
  const account = ['--account', 'clearing:wire'];
  writeFileSync(
    file,
    'at,asset,direction,amount,reference\n2026-01-15,USD,CREDIT,1000,STATEMENT-2026-10\n2026-01-15,USD,CREDIT,5,UNKNOWN\n',
  );
  try {
    const imported = await reconcile('import', file, ...account, '--statement-id', 'january');
    expect(imported).toEqual({
      code: 0,
      stderr: '',
      stdout: 'Imported statement january of clearing:wire: 2 lines\n',
    });
    const without = await reconcile('import', file, ...account);
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('/statement_id') });
    const missing = await reconcile('import', join(directory, 'february.csv'), ...account);
    expect(missing.stderr).toMatch(/february\.csv cannot be read as UTF-8 text/);
    const at = new Date(Date.now() - 60_000).toISOString();
    const before = ['--asset', 'USD', '--at', at, '--reference', 'evening'];
    const compared = await reconcile('balance', '5', ...account, ...before);
    expect(compared.stdout).toMatch(
      /^clearing:wire: 5 USD outside, \S+ in the ledger; difference \S+, unexplained \S+\n$/,
    );
    const wrong = await reconcile('balance', 'much', ...account, ...before);
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('/balance') });
  } finally {
    rmSync(directory, { recursive: true });
  }
});

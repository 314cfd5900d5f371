import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CUSTOMER_SCOPES } from '../../src/auth/scopes.ts';
import { LIMITS } from '../../src/limits.ts';
import { unguarded } from '../support/database.ts';
import { ORIGINAL_LIMITS } from '../support/original-limits.ts';
import { makePreparedDataDir } from '../support/prepared-data-dir.ts';
import {
  audited,
  databaseOf,
  type FerryProcess,
  type Finished,
  removeDataDir,
  runFerry,
  sandboxOf,
  serverPid,
  startFerry,
  tokenFrom,
} from '../support/process.ts';
import { expectSentence } from './sentence.ts';

const run = promisify(execFile);

// The commands run in this process.
Object.assign(LIMITS, ORIGINAL_LIMITS);

const dataDir = makePreparedDataDir();
const env = { FERRY_DATA_DIR: dataDir };
afterAll(() => removeDataDir(dataDir));

const NO_CUSTOMER = 'There is no customer with the id or name "Nobody".';

const ferry = (...args: string[]): Promise<Finished> => runFerry(args, env);

/** The JSON output of a command; fails the test unless the command succeeds. */
async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await ferry(...args, '--json');
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: expect.any(String) });
  return JSON.parse(stdout);
}

describe('with a running service', () => {
  let service: FerryProcess;
  type Client = { client_id: string; client_secret: string; scopes: string[] };
  const SCOPES = ['funding:read_profile', 'transfer:read_transfer'];
  let client: Client;
  let dock: Finished;
  const demo = (): ReturnType<typeof sandboxOf>['customers'][number] => sandboxOf(dataDir).customers[0]!;

  beforeAll(async () => {
    service = await startFerry(env);
    await audited(service);
    dock = await ferry('customer', 'create', '--name', 'Dock');
    client = await createClient('payouts');
  });
  afterAll(async () => {
    if (service.child.exitCode === null) await service.end('SIGTERM');
  });

  function createClient(name: string): Promise<Client> {
    const asked = SCOPES.flatMap((scope) => ['--scope', scope]);
    return json('client', 'create', '--customer', demo().customer_id, '--name', name, ...asked);
  }

  async function tokenStatus(clientId: string, secret: string): Promise<number> {
    const response = await fetch(`${service.url}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${clientId}:${secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    await response.text();
    return response.status;
  }

  async function profilesStatus(token: string): Promise<number> {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${service.url}/v2/profiles`, { headers });
    await response.text();
    return response.status;
  }

  it('demo prints variables that a shell can evaluate', async () => {
    const { code, stdout, stderr } = await ferry('demo');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const names = ['FERRY', 'CLIENT_ID', 'CLIENT_SECRET', 'PROFILE', 'SECOND_PROFILE', 'IDENTITY', 'ACCOUNT'];
    const theirs = ['CLIENT_ID', 'CLIENT_SECRET', 'PROFILE'].map((name) => `COUNTERPARTY_${name}`);
    const all = [...names, 'FIAT_ACCOUNT', ...theirs];
    const script = `${stdout}\nfor name in ${all.join(' ')}; do echo "\${!name}"; done`;
    const taken = await run('bash', ['-euc', script]);
    const [customer, counterparty] = sandboxOf(dataDir).customers;
    expect(taken.stdout.trimEnd().split('\n')).toEqual([
      service.url,
      customer!.client_id,
      customer!.client_secret,
      customer!.profiles[0]!.id,
      customer!.profiles[1]!.id,
      customer!.identity_id,
      customer!.account_id,
      customer!.fiat_account_id,
      counterparty!.client_id,
      counterparty!.client_secret,
      counterparty!.profiles[0]!.id,
    ]);
    expect(await json('demo')).toEqual(sandboxOf(dataDir));
  });

  it('repair-instants lists entries that are ahead of the clock, and moves them only with --yes', async () => {
    const database = databaseOf(dataDir);
    const profile = demo().profiles[0]!.id;
    const hour = 3_600_000_000_000n;
    await unguarded(database).query(
      `update entries set at_ns = at_ns + $2::bigint
       where cause_id in (select cause_id from entries where owner_id = $1)`,
      [profile, hour],
    );
    const move = 'update balances set moved_at_ns = moved_at_ns + $2::bigint where profile_id = $1';
    await database.query(move, [profile, hour]);
    const looked = await json('repair-instants');
    expect(looked).toMatchObject({ repaired: false, last: expect.stringMatching(/Z$/) });
    expect(looked.entries).toBeGreaterThan(0);
    expect((await ferry('repair-instants')).stdout).toMatch(/repeat the command with --yes\.\n$/);
    const repaired = await json('repair-instants', '--yes');
    expect(repaired).toMatchObject({ entries: looked.entries, balances: looked.balances, repaired: true });
    expect((await ferry('repair-instants')).stdout).toMatch(/^Nothing is ahead of the clock/);
    expect((await ferry('verify')).code).toBe(0);
    await database.close();
  });

  it('customer limit sets the rate limit of a customer, and the default again', async () => {
    const limited = await json('customer', 'limit', 'Dock', '--points', '5000');
    expect(limited).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), points_per_second: 5_000 });
    const listed = await json('customer', 'list');
    expect(listed.find(({ name }: { name: string }) => name === 'Dock').points_per_second).toBe(5_000);
    expect((await json('customer', 'limit', 'Dock', '--points', 'default')).points_per_second).toBe(2_000);
    const wrong = await ferry('customer', 'limit', 'Dock', '--points', 'many');
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toContain('The rate must be a whole number from 1 to 1000000.');
  });

  it('customer create creates a customer, and customer list shows it', async () => {
    const created = await json('customer', 'create', '--name', 'Pier & Söhne "Süd"', '--third-party');
    expect(created).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Pier & Söhne "Süd"',
      integration: 'THIRD_PARTY',
    });
    expect(dock).toEqual({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^Created customer Dock: [0-9a-f-]{36}\n$/),
    });
    const listed = await json('customer', 'list');
    expect(listed).toContainEqual({
      ...created,
      points_per_second: 2_000,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(listed.find(({ name }: { name: string }) => name === 'Dock').integration).toBe('FIRST_PARTY');
    const { stdout } = await ferry('customer', 'list');
    expect(stdout.split('\n')[0]).toMatch(/^ID +INTEGRATION +POINTS\/S +NAME$/);
    expect(stdout).toContain(`${created.id}  THIRD_PARTY  2000      ${created.name}`);
  });

  it('client create shows a secret that works at the token endpoint at once', async () => {
    expect(client).toEqual({
      client_id: expect.any(String),
      client_secret: expect.any(String),
      scopes: SCOPES,
    });
    const token = await tokenFrom(service.url, { ...demo(), ...client });
    expect(await profilesStatus(token)).toBe(200);
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
    expect(claims).toMatchObject({ customer_id: demo().customer_id, scope: SCOPES.join(' ') });
  });

  it('client create without scopes grants all scopes except those of operators, and prints the secret', async () => {
    const { code, stdout } = await ferry('client', 'create', '--customer', demo().name, '--name', 'all');
    const [, clientId, secret] = /^client_id +(\S+)\nclient_secret +(\S+)\n.*not shown again\.\n$/.exec(
      stdout,
    )!;
    expect(code).toBe(0);
    expect(await tokenStatus(clientId!, secret!)).toBe(200);
    const listed: any[] = await json('client', 'list', '--customer', demo().name);
    expect(listed.find((one) => one.client_id === clientId).scopes).toEqual(CUSTOMER_SCOPES);
  });

  it('client list shows everything but secrets, and can be filtered by customer', async () => {
    const listed: any[] = await json('client', 'list');
    expect(listed.find((one) => one.client_id === client.client_id)).toEqual({
      client_id: client.client_id,
      customer_id: demo().customer_id,
      name: 'payouts',
      scopes: client.scopes,
      allowed_addresses: null,
      owner_person_id: null,
      created_at: expect.stringMatching(/Z$/),
      disabled_at: null,
    });
    const text = await ferry('client', 'list');
    expect(text.stdout).toMatch(
      new RegExp(`^${client.client_id} +${demo().customer_id} +active +payouts$`, 'm'),
    );
    for (const { client_secret } of [client, ...sandboxOf(dataDir).customers]) {
      expect(JSON.stringify(listed) + text.stdout).not.toContain(client_secret);
    }
    const own: any[] = await json('client', 'list', '--customer', demo().customer_id);
    expect(own.map((one) => one.customer_id)).toEqual(own.map(() => demo().customer_id));
    expect(own.length).toBeLessThan(listed.length);
    expect(await json('client', 'list', '--customer', 'Dock')).toEqual([]);
  });

  it('client disable takes effect on a running service, for token requests and for tokens issued before', async () => {
    const own = await createClient('retired');
    const token = await tokenFrom(service.url, { ...demo(), ...own });
    expect(await profilesStatus(token)).toBe(200);
    expect(await json('client', 'disable', own.client_id)).toEqual({
      client_id: own.client_id,
      disabled: true,
    });
    // That this takes at most ten seconds follows from the limits: see test/auth.
    await expect.poll(() => profilesStatus(token)).toBe(401);
    expect(await tokenStatus(own.client_id, own.client_secret)).toBe(401);
    // A second call changes nothing, and the list has the time of the first.
    expect((await ferry('client', 'disable', own.client_id)).stdout).toBe(`Disabled ${own.client_id}.\n`);
    const listed: any[] = await json('client', 'list');
    expect(listed.find((one) => one.client_id === own.client_id).disabled_at).toMatch(/Z$/);
    expect((await ferry('client', 'list')).stdout).toMatch(
      new RegExp(`^${own.client_id} .* disabled +retired$`, 'm'),
    );
  });

  it('key rotate creates a new key, and existing tokens stay valid', async () => {
    const kids = async (): Promise<string[]> => {
      const response = await fetch(`${service.url}/.well-known/jwks.json`);
      const { keys } = (await response.json()) as { keys: { kid: string }[] };
      return keys.map((key) => key.kid);
    };
    const kidOf = (token: string): string =>
      JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid;
    const old = await tokenFrom(service.url, demo());
    const before = await kids();
    expect(before).toContain(kidOf(old));
    const { kid } = await json('key', 'rotate');
    await expect.poll(async () => new Set(await kids())).toEqual(new Set([...before, kid]));
    const fresh = await tokenFrom(service.url, demo());
    expect(kidOf(fresh)).toBe(kid);
    expect([await profilesStatus(old), await profilesStatus(fresh)]).toEqual([200, 200]);
    expect((await ferry('key', 'rotate')).stdout).toMatch(/^New tokens are signed with the key \S+\.\n$/);
    expect(await profilesStatus(old)).toBe(200);
  });

  it('key rotate --distrust-old invalidates all existing tokens within ten seconds, and new ones work', async () => {
    const old = await tokenFrom(service.url, demo());
    expect(await profilesStatus(old)).toBe(200);
    await json('key', 'rotate', '--distrust-old');
    await expect.poll(() => profilesStatus(old)).toBe(401);
    expect(await profilesStatus(await tokenFrom(service.url, demo()))).toBe(200);
  });

  it('migrate has nothing to do', async () => {
    expect(await ferry('migrate')).toEqual({
      code: 0,
      stdout: 'The schema is up to date.\nGranted the rights of the serving role to ferry_serve.\n',
      stderr: '',
    });
    expect(await json('migrate')).toEqual({ applied: [], serving_role: 'ferry_serve' });
  });

  it.each([
    [['customer', 'create', '--name', 'Dock'], 'A customer with the name "Dock" already exists.'],
    [
      ['customer', 'create', '--name', ' Dock'],
      /^The name of a customer must have 1 to 100 printable characters/,
    ],
    [['client', 'create', '--customer', 'Nobody', '--name', 'x'], NO_CUSTOMER],
    [['client', 'list', '--customer', 'Nobody'], NO_CUSTOMER],
    [
      ['client', 'create', '--customer', 'Dock', '--name', 'x', '--scope', 'tea:write'],
      /^Unknown scope "tea:write"\. The scopes are/,
    ],
    [
      ['client', 'create', '--customer', 'Dock', '--name', 'x', '--scope', ''],
      /^Unknown scope ""\. The scopes are/,
    ],
    [['client', 'disable', 'nobody'], 'There is no client with the id "nobody".'],
    [['profile', 'disable', 'nobody'], 'There is no profile with the id "nobody".'],
    [
      ['identity', 'enable', '01890a5d-ac96-774b-bcce-b302099a8057'],
      'There is no identity with the id "01890a5d-ac96-774b-bcce-b302099a8057".',
    ],
  ])('bad input like %j gives one sentence and 1', async (args, sentence) => {
    const both = await Promise.all([ferry(...args), ferry(...args, '--json')]);
    for (const finished of both) expectSentence(finished, { code: 1, sentence });
  });

  it('verify reports a sound ledger', async () => {
    const { code, stdout, stderr } = await ferry('verify');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^The ledger is sound: 64 entries across 32 balances, no violations\.\n(Verified from the beginning|Continued from checkpoint \d+, up to \S+Z: \d+ entr(y|ies) after it\. .*)\.\n$/,
      ),
    });
    expect(stderr).toBe('Reading the ledger from its last checkpoint …\n');
    const sound = { violations: [], truncated: false, entries: 64, accounts: 32 };
    expect(await json('verify')).toEqual(sound);
    expect(await json('verify', '--full')).toEqual(sound);
  });

  it('verify reports rows that were changed by hand, with the rule, the account and the amounts', async () => {
    const database = databaseOf(dataDir);
    const [one, other] = demo().profiles.map((profile) => profile.id);
    const change = async (sign: '+' | '-'): Promise<void> => {
      const where = 'where profile_id = $1 and asset = $2';
      await database.query(`update balances set available = available ${sign} 1 ${where}`, [one!, 'USD']);
      await database.query(`update balances set held = held ${sign} 250000000 ${where}`, [other!, 'BTC']);
      await unguarded(database).query(
        `update entries set delta = delta ${sign} 5, balance_after = balance_after ${sign} 5
         where owner_id = $1 and asset = 'ETH' and account = 'available'`,
        [one!],
      );
    };
    await change('+');
    const full = ['verify', '--full'];
    const [text, machine] = await Promise.all([ferry(...full), ferry(...full, '--json')]);
    expect((await ferry('verify')).code).toBe(1);
    await change('-');
    await database.close();

    const eth = '1000.000000000000000005';
    const expected = [
      {
        rule: 'posting-balances',
        line: expect.stringMatching(
          /^posting 0 of [0-9a-f-]{36} at \S+Z has 2 entries of 1 asset\(s\) that sum to 0\.000000000000000005, not 2 of one that sum to 0$/,
        ),
      },
      {
        rule: 'balance-equals-entries',
        line: `available ETH of profile ${one} is stored as 1000, its entries sum to ${eth}`,
      },
      {
        rule: 'balance-equals-entries',
        line: `available USD of profile ${one} is stored as 1000000.01, its entries sum to 1000000`,
      },
      {
        rule: 'balance-equals-entries',
        line: `held BTC of profile ${other} is stored as 2.5, its entries sum to 0`,
      },
      { rule: 'value-is-conserved', line: 'all entries of ETH together sum to 0.000000000000000005, not 0' },
      { rule: 'held-equals-pending', line: `profile ${other} holds 2.5 BTC, its pending withdrawals need 0` },
    ];
    expect(machine.code).toBe(1);
    const report = JSON.parse(machine.stdout);
    expect(report).toEqual({ violations: expect.any(Array), truncated: false, entries: 64, accounts: 32 });
    for (const violation of expected) expect(report.violations).toContainEqual(violation);

    expect(text.code).toBe(1);
    const lines = report.violations.map(
      ({ rule, line }: { rule: string; line: string }) => `${rule}: ${line}`,
    );
    const summary = `${lines.length} violations in 64 entries across 32 balances.`;
    const coverage = 'Verified from the beginning.';
    expect(new Set(text.stdout.trimEnd().split('\n'))).toEqual(new Set([...lines, summary, coverage]));
    expect((await ferry(...full)).code).toBe(0);
  });

  it('none of these commands stops the service or its database server', async () => {
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    expect(serverPid(dataDir)).toBeDefined();
    expect((await service.end('SIGTERM')).code).toBe(0);
    expect(serverPid(dataDir)).toBeUndefined();
  });
});

describe('without a service', () => {
  it('a command starts the embedded server and stops it again', async () => {
    expect(serverPid(dataDir)).toBeUndefined();
    const names = (await json('customer', 'list')).map(({ name }: { name: string }) => name);
    expect(names).toContain(sandboxOf(dataDir).customers[0]!.name);
    expect(serverPid(dataDir)).toBeUndefined();
  });

  it('a command that fails leaves no server running', async () => {
    const { name } = sandboxOf(dataDir).customers[0]!;
    const sentence = `A customer with the name "${name}" already exists.`;
    expectSentence(await ferry('customer', 'create', '--name', name), { code: 1, sentence });
    expect(serverPid(dataDir)).toBeUndefined();
  });

  it('concurrent commands share the server, and the last one stops it', async () => {
    const made = await Promise.all(
      [1, 2, 3, 4].map((number) => ferry('customer', 'create', '--name', `Quay ${number}`, '--json')),
    );
    for (const { code, stderr } of made) expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(serverPid(dataDir)).toBeUndefined();
  });
});

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CUSTOMER_SCOPES, SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import {
  databaseOf,
  type FerryProcess,
  type Finished,
  makeDataDir,
  postmasterOf,
  removeDataDir,
  runFerry,
  sandboxOf,
  startFerry,
  tokenFrom,
} from '../support/process.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');
const FERRY = join(ROOT, 'bin/ferry.js');

const dataDir = makeDataDir();
const env = { FERRY_DATA_DIR: dataDir };
afterAll(() => removeDataDir(dataDir));

const ferry = (...args: string[]): Promise<Finished> => runFerry(args, env);

/** What a command prints for machines; anything but success fails the test. */
async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await ferry(...args, '--json');
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: expect.any(String) });
  return JSON.parse(stdout);
}

/** One sentence on standard error, and nothing else anywhere. */
function expectSentence(
  { code, stdout, stderr }: Finished,
  expected: { code: number; sentence: string | RegExp },
): void {
  expect({ code, stdout }).toEqual({ code: expected.code, stdout: '' });
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  if (typeof expected.sentence === 'string') expect(stderr).toBe(`${expected.sentence}\n`);
  else expect(stderr).toMatch(expected.sentence);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The server of the data directory, when there is one. */
function serverPid(): number | undefined {
  if (!existsSync(join(dataDir, 'postgres', 'postmaster.pid'))) return undefined;
  const pid = postmasterOf(dataDir);
  return isRunning(pid) ? pid : undefined;
}

describe('help', () => {
  it('names every command', async () => {
    const { code, stdout, stderr } = await ferry('--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const { name, summary } of COMMANDS) {
      expect(stdout).toMatch(new RegExp(`^ {2}${name} +${summary}$`, 'm'));
    }
    const others = await Promise.all([ferry('-h'), ferry('help')]);
    expect(others.map((other) => other.stdout)).toEqual([stdout, stdout]);
  });

  it('is what ferry alone prints, but that was no command: 2', async () => {
    const [alone, asked] = await Promise.all([ferry(), ferry('--help')]);
    expect(alone).toEqual({ ...asked, code: 2 });
  });

  it.each(COMMANDS.map((command) => [command.name, command] as const))(
    'of %s says how to call it and every option',
    async (name, { usage, summary, options, json: printsJson }) => {
      const { code, stdout, stderr } = await ferry(...name.split(' '), '--help');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(summary);
      expect(stdout).toContain(`Usage: ferry ${usage}`);
      for (const [option, { help }] of Object.entries(options ?? {})) {
        expect(stdout).toMatch(new RegExp(`^ {2}--${option}\\b.* ${help}$`, 'm'));
      }
      expect(stdout.includes('--json')).toBe(printsJson === true);
      expect(stdout).toMatch(/^ {2}--help /m);
    },
  );

  it('of client create lists the scopes; in production none that only the sandbox has', async () => {
    const [{ stdout }, production] = await Promise.all([
      ferry('client', 'create', '--help'),
      runFerry(['client', 'create', '--help'], { FERRY_MODE: 'production' }),
    ]);
    for (const scope of SCOPE_NAMES) expect(stdout).toContain(scope);
    expect(production).toEqual({ code: 0, stderr: '', stdout: stdout.replace('  sandbox:simulate\n', '') });
    expect(production.stdout).not.toContain('sandbox');
  });

  it('names every variable of the environment that the documentation has, and so does the one of serve', async () => {
    const text = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
    const documented = [...text.matchAll(/^\| `([A-Z_]+)` /gm)].map((match) => match[1]!);
    expect(documented.length).toBeGreaterThan(10);
    for (const args of [['--help'], ['serve', '--help']]) {
      const { stdout } = await ferry(...args);
      const named = [...stdout.matchAll(/^ {2}([A-Z_]+) {2,}\S/gm)].map((match) => match[1]!);
      expect([...named].sort()).toEqual([...documented].sort());
    }
  });

  it('of a group of commands is the help of each', async () => {
    const [asked, alone] = await Promise.all([ferry('client', '--help'), ferry('client')]);
    expect(asked.code).toBe(0);
    for (const name of ['create', 'list', 'disable'])
      expect(asked.stdout).toContain(`Usage: ferry client ${name}`);
    expect(alone).toEqual({ ...asked, code: 2 });
  });
});

it('says its version', async () => {
  expect(await ferry('--version')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^ferry \d+\.\d+\.\d+\n$/),
  });
});

describe('a wrong call', () => {
  it.each([
    [['frob'], 'There is no command "frob". Try: ferry --help'],
    [['customer', 'frob'], 'There is no command "customer frob". Try: ferry customer --help'],
    [['--frob'], 'There is no command "--frob". Try: ferry --help'],
    [['verify', '--frob'], "Unknown option '--frob'. Try: ferry verify --help"],
    [['serve', '--json'], "Unknown option '--json'. Try: ferry serve --help"],
    [['serve', '--port', '1'], "Unknown option '--port': set the variable PORT. Try: ferry serve --help"],
    [
      ['customer', 'list', '--data-dir=x'],
      "Unknown option '--data-dir': set the variable FERRY_DATA_DIR. Try: ferry customer list --help",
    ],
    [['serve', 'now'], '"now" is not expected here. Try: ferry serve --help'],
    [['customer', 'list', 'all'], '"all" is not expected here. Try: ferry customer list --help'],
    [['customer', 'create'], '--name is required. Try: ferry customer create --help'],
    [
      ['customer', 'create', '--name'],
      "Option '--name <value>' argument missing. Try: ferry customer create --help",
    ],
    [
      ['customer', 'create', '--name', '--json'],
      "Option '--name' argument is ambiguous. Try: ferry customer create --help",
    ],
    [['customer', 'create', '--name', ''], '--name is required. Try: ferry customer create --help'],
    [['client', 'create', '--name', 'x'], '--customer is required. Try: ferry client create --help'],
    [['client', 'disable'], 'Name one client_id. Try: ferry client disable --help'],
    [['client', 'disable', 'one', 'two'], 'Name one client_id. Try: ferry client disable --help'],
    [['profile', 'disable'], 'Name one profile_id. Try: ferry profile disable --help'],
    [['identity', 'enable', 'one', 'two'], 'Name one identity_id. Try: ferry identity enable --help'],
  ])(
    'like ferry %j is answered with 2 and one line that names the nearest help, and starts nothing',
    async (args, sentence) => {
      expectSentence(await ferry(...args), { code: 2, sentence });
      expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
    },
  );

  it('of demo, before there is a sandbox, says what to do', async () => {
    expectSentence(await ferry('demo'), {
      code: 1,
      sentence: `${dataDir}/sandbox.json is not there: start the sandbox first, with npm start.`,
    });
  });
});

describe('where there is no database', () => {
  const mistyped = join(dataDir, 'mistyped');

  it.each([
    [['customer', 'list']],
    [['client', 'list']],
    [['client', 'create', '--customer', 'x', '--name', 'y']],
    [['client', 'disable', 'x']],
    [['verify']],
    [['key', 'rotate']],
    [['profile', 'disable', 'x']],
  ])('ferry %j says so and makes none', async (args) => {
    expectSentence(await runFerry(args, { FERRY_DATA_DIR: mistyped }), {
      code: 1,
      sentence: `There is no database in ${mistyped}: set FERRY_DATA_DIR or DATABASE_URL to where your service has it.`,
    });
    expect(existsSync(mistyped)).toBe(false);
  });

  // Making a directory there answers that its parent is not there; trying again and again would never end.
  it
    .runIf(process.platform === 'linux')
    .each([[['serve']], [['migrate']], [['customer', 'create', '--name', 'x']]])(
    'and none can be, ferry %j ends with one sentence',
    async (args) => {
      const started = performance.now();
      expectSentence(await runFerry(args, { FERRY_DATA_DIR: '/proc/x/y' }), {
        code: 1,
        sentence:
          'FERRY_DATA_DIR /proc/x/y cannot be made (ENOENT): set it to a directory that the user running Ferry may write to.',
      });
      expect(performance.now() - started).toBeLessThan(10_000);
    },
  );
});

describe('beside a running service', () => {
  let service: FerryProcess;
  let client: { client_id: string; client_secret: string; scopes: string[] };
  const demo = (): ReturnType<typeof sandboxOf>['customers'][number] => sandboxOf(dataDir).customers[0]!;

  beforeAll(async () => {
    service = await startFerry(env);
  });
  afterAll(async () => {
    if (service.child.exitCode === null) await service.end('SIGTERM');
  });

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

  it('demo prints variables that a shell can take', async () => {
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

  it('customer create makes one that customer list shows', async () => {
    const created = await json('customer', 'create', '--name', 'Pier & Söhne "Süd"', '--third-party');
    expect(created).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Pier & Söhne "Süd"',
      integration: 'THIRD_PARTY',
    });
    const said = await ferry('customer', 'create', '--name', 'Dock');
    expect(said).toEqual({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^Created customer Dock: [0-9a-f-]{36}\n$/),
    });
    const listed = await json('customer', 'list');
    expect(listed).toContainEqual({ ...created, created_at: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(listed.find(({ name }: { name: string }) => name === 'Dock').integration).toBe('FIRST_PARTY');
    const { stdout } = await ferry('customer', 'list');
    expect(stdout.split('\n')[0]).toMatch(/^ID +INTEGRATION +NAME$/);
    expect(stdout).toContain(`${created.id}  THIRD_PARTY  ${created.name}`);
  });

  it('client create shows a secret that works at the token endpoint at once', async () => {
    const scopes = ['funding:read_profile', 'transfer:read_transfer'];
    const asked = scopes.flatMap((scope) => ['--scope', scope]);
    client = await json('client', 'create', '--customer', demo().customer_id, '--name', 'payouts', ...asked);
    expect(client).toEqual({ client_id: expect.any(String), client_secret: expect.any(String), scopes });
    const token = await tokenFrom(service.url, { ...demo(), ...client });
    expect(await profilesStatus(token)).toBe(200);
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
    expect(claims).toMatchObject({ customer_id: demo().customer_id, scope: scopes.join(' ') });
  });

  it('client create without scopes makes one that may do all but what operators do, and shows the secret as text', async () => {
    const { code, stdout } = await ferry('client', 'create', '--customer', demo().name, '--name', 'all');
    const [, clientId, secret] = /^client_id +(\S+)\nclient_secret +(\S+)\n.*not shown again\.\n$/.exec(
      stdout,
    )!;
    expect(code).toBe(0);
    expect(await tokenStatus(clientId!, secret!)).toBe(200);
    const listed: any[] = await json('client', 'list', '--customer', demo().name);
    expect(listed.find((one) => one.client_id === clientId).scopes).toEqual(CUSTOMER_SCOPES);
  });

  it('client list shows everything but secrets, and can be narrowed to a customer', async () => {
    const listed: any[] = await json('client', 'list');
    expect(listed.find((one) => one.client_id === client.client_id)).toEqual({
      client_id: client.client_id,
      customer_id: demo().customer_id,
      name: 'payouts',
      scopes: client.scopes,
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

  it('client disable takes effect within ten seconds, for tokens and for those made before', async () => {
    const token = await tokenFrom(service.url, { ...demo(), ...client });
    expect(await profilesStatus(token)).toBe(200);
    expect(await json('client', 'disable', client.client_id)).toEqual({
      client_id: client.client_id,
      disabled: true,
    });
    const started = performance.now();
    await expect.poll(() => profilesStatus(token), { timeout: 10_000, interval: 50 }).toBe(401);
    expect(await tokenStatus(client.client_id, client.client_secret)).toBe(401);
    expect(performance.now() - started).toBeLessThan(10_000);
    // A second time changes nothing, and the list says when it was.
    expect((await ferry('client', 'disable', client.client_id)).stdout).toBe(
      `Disabled ${client.client_id}.\n`,
    );
    const listed: any[] = await json('client', 'list');
    expect(listed.find((one) => one.client_id === client.client_id).disabled_at).toMatch(/Z$/);
    expect((await ferry('client', 'list')).stdout).toMatch(
      new RegExp(`^${client.client_id} .* disabled +payouts$`, 'm'),
    );
  });

  it('key rotate makes a new key and keeps the live tokens', async () => {
    const kids = async (): Promise<string[]> => {
      const response = await fetch(`${service.url}/.well-known/jwks.json`);
      const { keys } = (await response.json()) as { keys: { kid: string }[] };
      return keys.map((key) => key.kid);
    };
    const kidOf = (token: string): string =>
      JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid;
    const old = await tokenFrom(service.url, demo());
    expect(await kids()).toEqual([kidOf(old)]);
    const { kid } = await json('key', 'rotate');
    await expect.poll(kids, { timeout: 10_000, interval: 50 }).toHaveLength(2);
    expect(new Set(await kids())).toEqual(new Set([kidOf(old), kid]));
    const fresh = await tokenFrom(service.url, demo());
    expect(kidOf(fresh)).toBe(kid);
    expect([await profilesStatus(old), await profilesStatus(fresh)]).toEqual([200, 200]);
    expect((await ferry('key', 'rotate')).stdout).toMatch(
      /^Tokens are signed with the new key \S+ from now on\.\n$/,
    );
    expect(await profilesStatus(old)).toBe(200);
  });

  it('key rotate --distrust-old ends every live token within ten seconds, and new ones work', async () => {
    const old = await tokenFrom(service.url, demo());
    expect(await profilesStatus(old)).toBe(200);
    await json('key', 'rotate', '--distrust-old');
    await expect.poll(() => profilesStatus(old), { timeout: 10_000, interval: 50 }).toBe(401);
    expect(await profilesStatus(await tokenFrom(service.url, demo()))).toBe(200);
  });

  it('migrate finds nothing to do', async () => {
    expect(await ferry('migrate')).toEqual({ code: 0, stdout: 'The schema is up to date.\n', stderr: '' });
    expect(await json('migrate')).toEqual({ applied: [] });
  });

  it.each([
    [['customer', 'create', '--name', 'Dock'], 'There is a customer with the name "Dock" already.'],
    [
      ['customer', 'create', '--name', ' Dock'],
      /^The name of a customer must have 1 to 100 printable characters/,
    ],
    [
      ['client', 'create', '--customer', 'Nobody', '--name', 'x'],
      'There is no customer with the id or name "Nobody".',
    ],
    [['client', 'list', '--customer', 'Nobody'], 'There is no customer with the id or name "Nobody".'],
    [
      ['client', 'create', '--customer', 'Dock', '--name', 'x', '--scope', 'tea:write'],
      /^There is no scope "tea:write"; the scopes are/,
    ],
    [
      ['client', 'create', '--customer', 'Dock', '--name', 'x', '--scope', ''],
      /^There is no scope ""; the scopes are/,
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

  it('verify finds a sound ledger', async () => {
    const { code, stdout, stderr } = await ferry('verify');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^The ledger is sound: \d+ entries on 32 balances, no violations\.\n$/),
    });
    expect(stderr).toBe('Reading every entry of the ledger …\n');
    expect(await json('verify')).toEqual({ violations: [], truncated: false, entries: 64, accounts: 32 });
  });

  it('verify finds what somebody changed by hand, and says which rule, whose, what, and the numbers', async () => {
    const database = databaseOf(dataDir);
    const [one, other] = demo().profiles.map((profile) => profile.id);
    const change = async (sign: '+' | '-'): Promise<void> => {
      const where = 'where profile_id = $1 and asset = $2';
      await database.query(`update balances set available = available ${sign} 1 ${where}`, [one!, 'USD']);
      await database.query(`update balances set held = held ${sign} 250000000 ${where}`, [other!, 'BTC']);
      await database.query(
        `update entries set delta = delta ${sign} 5, balance_after = balance_after ${sign} 5
         where owner_id = $1 and asset = 'ETH' and account = 'available'`,
        [one!],
      );
    };
    await change('+');
    const [text, machine] = await Promise.all([ferry('verify'), ferry('verify', '--json')]);
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
    expect(report.violations).toHaveLength(expected.length);
    for (const violation of expected) expect(report.violations).toContainEqual(violation);

    expect(text.code).toBe(1);
    const lines = report.violations.map(
      ({ rule, line }: { rule: string; line: string }) => `${rule}: ${line}`,
    );
    const summary = '6 violations in 64 entries on 32 balances.';
    expect(new Set(text.stdout.trimEnd().split('\n'))).toEqual(new Set([...lines, summary]));
    expect((await ferry('verify')).code).toBe(0);
  });

  it('nothing of all this stops the service or its server', async () => {
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    expect(serverPid()).toBeDefined();
    expect((await service.end('SIGTERM')).code).toBe(0);
    expect(serverPid()).toBeUndefined();
  });
});

describe('without a service', () => {
  it('a command starts the embedded server and stops it again', async () => {
    expect(serverPid()).toBeUndefined();
    const names = (await json('customer', 'list')).map(({ name }: { name: string }) => name);
    expect(names).toContain('Dock');
    expect(serverPid()).toBeUndefined();
  });

  it('a command that fails leaves no server behind either', async () => {
    const sentence = 'There is a customer with the name "Dock" already.';
    expectSentence(await ferry('customer', 'create', '--name', 'Dock'), { code: 1, sentence });
    expect(serverPid()).toBeUndefined();
  });

  it('commands side by side do not stop the server under each other, and the last one does', async () => {
    const made = await Promise.all(
      [1, 2, 3, 4].map((number) => ferry('customer', 'create', '--name', `Quay ${number}`, '--json')),
    );
    expect(made.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      made.map(() => ({ code: 0, stderr: '' })),
    );
    expect(serverPid()).toBeUndefined();
  });
});

/** A Node that is too old to run TypeScript, where the machine has one; else our own, which has to work as well. */
function findOldNode(): string {
  const found = ['/usr/bin/node', '/usr/local/bin/node', '/opt/homebrew/bin/node'].find((path) =>
    existsSync(path),
  );
  return found ?? process.execPath;
}

describe("on the machine's own node", () => {
  const node = findOldNode();
  let isOld: boolean;
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    const { stdout } = await run(node, ['--version']);
    isOld = Number(/^v(\d+)/.exec(stdout)![1]) < 24;
  });
  afterAll(() => {
    for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
  });

  function start(...args: string[]): {
    child: ChildProcess;
    ended: Promise<number | null>;
    output: () => string;
  } {
    const { PATH = '' } = process.env;
    const child = spawn(node, [FERRY, ...args], {
      env: { PATH, PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    children.push(child);
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    return { child, ended: new Promise((done) => child.once('close', done)), output: () => output };
  }

  /** The process that does the work: the one that was started, or the child of an old one. */
  function worker(pid: number): number {
    if (!isOld) return pid;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
  }

  it('ferry passes its output and its exit code on', async () => {
    const help = start('--help');
    expect(await help.ended).toBe(0);
    expect(help.output()).toBe((await ferry('--help')).stdout);
    const codes = [start('demo', 'now').ended, start('client', 'disable', 'nobody').ended];
    expect(await Promise.all(codes)).toEqual([2, 1]);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ferry serve runs on the pinned Node and ends with 0 at %s',
    async (signal) => {
      const { child, ended, output } = start('serve');
      await expect.poll(output, { timeout: 20_000 }).toContain('listens on http');
      const pid = worker(child.pid!);
      const pinned = realpathSync(join(ROOT, 'node_modules/node/bin/node'));
      expect(readlinkSync(`/proc/${pid}/exe`)).toBe(isOld ? pinned : realpathSync(node));
      child.kill(signal);
      expect(await ended).toBe(0);
      expect(isRunning(pid)).toBe(false);
      expect(serverPid()).toBeUndefined();
    },
  );

  it('ferry serve that is killed ends with what a shell would say', async () => {
    const { child, ended, output } = start('serve');
    await expect.poll(output, { timeout: 20_000 }).toContain('listens on http');
    process.kill(worker(child.pid!), 'SIGKILL');
    // Without a parent of its own there is no exit code, only the signal.
    expect(await ended).toBe(isOld ? 137 : null);
    expect(await start('verify').ended).toBe(0);
  });

  it('npx finds ferry from the root of the project', async () => {
    const { PATH = '', HOME = dataDir } = process.env;
    // Whatever node is first in the path, as on a machine where only npm is installed.
    const machine = PATH.split(':').filter((part) => !part.includes('node_modules'));
    const options = { cwd: ROOT, env: { PATH: machine.join(':'), HOME, ...env } };
    const { stdout } = await run('npx', ['--no-install', 'ferry', '--help'], options);
    expect(stdout).toBe((await ferry('--help')).stdout);
  });
});

describe('the end of ferry serve', () => {
  it('is not cut short by a second Ctrl-C: the terminal sends one, and npm another', async () => {
    const service = await startFerry(env);
    const ended = service.end('SIGINT');
    // A moment later, so that the system does not make one signal of two.
    await sleep(10);
    service.child.kill('SIGINT');
    expect((await ended).code).toBe(0);
    expect(serverPid()).toBeUndefined();
  });

  it('may come while it starts: nothing is left behind', async () => {
    const { PATH = '' } = process.env;
    const child = spawn(process.execPath, [FERRY, 'serve'], {
      env: { PATH, PORT: '0', ...env },
      stdio: 'ignore',
    });
    const ended = new Promise((done) => child.once('exit', (code, signal) => done(signal ?? code)));
    await expect.poll(serverPid, { timeout: 20_000, interval: 1 }).toBeDefined();
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(serverPid()).toBeUndefined();
  });
});

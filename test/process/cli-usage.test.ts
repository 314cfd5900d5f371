import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { type Finished, makeDataDir, removeDataDir, runFerry } from '../support/process.ts';
import { expectSentence } from './sentence.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const dataDir = makeDataDir();
const env = { FERRY_DATA_DIR: dataDir };
afterAll(() => removeDataDir(dataDir));

const ferry = (...args: string[]): Promise<Finished> => runFerry(args, env);

/** The help of commands that begin with the same word, which one process prints, unless the word is a command itself. */
const groups = new Map<string, Promise<Finished>>();

async function helpOf(name: string): Promise<string> {
  const [word] = name.split(' ', 1) as [string];
  const isCommand = COMMANDS.some((command) => command.name === word);
  const asked = isCommand ? name : word;
  if (!groups.has(asked)) groups.set(asked, ferry(...asked.split(' '), '--help'));
  const { code, stdout, stderr } = await groups.get(asked)!;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split(/^(?=ferry [^:\n]+: )/m).find((one) => one.startsWith(`ferry ${name}: `)) ?? '';
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

  it('is what ferry prints without a command, with exit code 2', async () => {
    const [alone, asked] = await Promise.all([ferry(), ferry('--help')]);
    expect(alone).toEqual({ ...asked, code: 2 });
  });

  it.each(COMMANDS.map((command) => [command.name, command] as const))(
    'of %s has its usage and every option',
    async (name, { usage, summary, options, json: printsJson }) => {
      const stdout = await helpOf(name);
      expect(stdout).toContain(summary);
      expect(stdout).toContain(`Usage: ferry ${usage}`);
      for (const [option, { help }] of Object.entries(options ?? {})) {
        expect(stdout).toMatch(
          new RegExp(`^ {2}--${option}\\b.* ${help.replaceAll(/[.()]/g, '\\$&')}$`, 'm'),
        );
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

  it('of ferry and of serve names every environment variable that the documentation has', async () => {
    const text = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
    const documented = [...text.matchAll(/^\| `([A-Z_]+)` /gm)].map((match) => match[1]!);
    expect(documented.length).toBeGreaterThan(10);
    for (const args of [['--help'], ['serve', '--help']]) {
      const { stdout } = await ferry(...args);
      const named = [...stdout.matchAll(/^ {2}([A-Z_]+) {2,}\S/gm)].map((match) => match[1]!);
      expect([...named].sort()).toEqual([...documented].sort());
    }
  });

  it('of a group of commands is the help of each command', async () => {
    const [asked, alone] = await Promise.all([ferry('client', '--help'), ferry('client')]);
    expect(asked.code).toBe(0);
    for (const name of ['create', 'list', 'disable', 'secret add'])
      expect(asked.stdout).toContain(`Usage: ferry client ${name}`);
    const inner = await ferry('client', 'secret', '--help');
    expect([...inner.stdout.matchAll(/^Usage: ferry (\S+ \S+ \S+)/gm)].map((match) => match[1])).toEqual([
      'client secret add',
      'client secret list',
      'client secret remove',
    ]);
    expect(alone).toEqual({ ...asked, code: 2 });
  });
});

it('prints its version', async () => {
  expect(await ferry('--version')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^ferry \d+\.\d+\.\d+\n$/),
  });
});

describe('wrong usage', () => {
  it.each([
    [['frob'], 'Unknown command "frob". Try: ferry --help'],
    [['customer', 'frob'], 'Unknown command "customer frob". Try: ferry customer --help'],
    [['--frob'], 'Unknown command "--frob". Try: ferry --help'],
    [['verify', '--frob'], "Unknown option '--frob'. Try: ferry verify --help"],
    [['serve', '--json'], "Unknown option '--json'. Try: ferry serve --help"],
    [
      ['serve', '--port', '1'],
      "Unknown option '--port'. Set the environment variable PORT instead. Try: ferry serve --help",
    ],
    [
      ['customer', 'list', '--data-dir=x'],
      "Unknown option '--data-dir'. Set the environment variable FERRY_DATA_DIR instead. Try: ferry customer list --help",
    ],
    [['serve', 'now'], 'Unexpected argument "now". Try: ferry serve --help'],
    [['customer', 'list', 'all'], 'Unexpected argument "all". Try: ferry customer list --help'],
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
    [['client', 'disable'], 'Expected one client_id. Try: ferry client disable --help'],
    [['client', 'disable', 'one', 'two'], 'Expected one client_id. Try: ferry client disable --help'],
    [['client', 'secret', 'frob'], 'Unknown command "client secret frob". Try: ferry client secret --help'],
    [['client', 'secret', 'add'], 'Expected one client_id. Try: ferry client secret add --help'],
    [
      ['client', 'secret', 'add', 'x', '--expires', 'tomorrow'],
      '--expires must be a date or an RFC 3339 time, such as 2027-01-31 or 2027-01-31T12:00:00Z, not "tomorrow". Try: ferry client secret add --help',
    ],
    [
      ['client', 'secret', 'remove', 'x'],
      'Expected a client_id and a secret_id. Try: ferry client secret remove --help',
    ],
    [['client', 'key', 'add', 'x'], 'Expected a client_id and a file. Try: ferry client key add --help'],
    [
      ['client', 'allow', 'x'],
      'Expected a client_id, and either addresses or --clear. Try: ferry client allow --help',
    ],
    [
      ['client', 'allow', 'x', '10.0.0.0/8', '--clear'],
      'Expected a client_id, and either addresses or --clear. Try: ferry client allow --help',
    ],
    [['client', 'scopes', 'x'], '--scope is required. Try: ferry client scopes --help'],
    [['profile', 'disable'], 'Expected one profile_id. Try: ferry profile disable --help'],
    [['identity', 'enable', 'one', 'two'], 'Expected one identity_id. Try: ferry identity enable --help'],
  ])(
    'such as ferry %j exits with 2 and one line that names the closest help, and starts nothing',
    async (args, sentence) => {
      expectSentence(await ferry(...args), { code: 2, sentence });
      expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
    },
  );

  it('of demo before the first start of a sandbox says what to do', async () => {
    expectSentence(await ferry('demo'), {
      code: 1,
      sentence: `${dataDir}/sandbox.json does not exist: start the sandbox first, with ferry serve.`,
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
  ])('ferry %j fails and creates none', async (args) => {
    expectSentence(await runFerry(args, { FERRY_DATA_DIR: mistyped }), {
      code: 1,
      sentence: `No database found in ${mistyped}: set FERRY_DATA_DIR or DATABASE_URL as for your service.`,
    });
    expect(existsSync(mistyped)).toBe(false);
  });

  // Below /proc, mkdir reports that the existing parent does not exist: a loop that creates parents would not end.
  it
    .runIf(process.platform === 'linux')
    .each([[['serve']], [['migrate']], [['customer', 'create', '--name', 'x']]])(
    'and none can be created, ferry %j fails with one sentence',
    async (args) => {
      expectSentence(await runFerry(args, { FERRY_DATA_DIR: '/proc/x/y' }), {
        code: 1,
        sentence:
          'FERRY_DATA_DIR /proc/x/y cannot be created (ENOENT): set it to a directory that the user running Ferry may write to.',
      });
    },
  );
});

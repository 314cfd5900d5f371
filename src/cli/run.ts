import { inspect, parseArgs } from 'node:util';
import { AdministrationError } from '../auth/administration.ts';
import { ConfigError, isProduction, readConfig, variableLike } from '../config/config.ts';
import { NotAdmitted } from '../database/admission.ts';
import { EmbeddedError } from '../database/embedded/server.ts';
import { MigrationError } from '../database/migrate.ts';
import { OpenError } from '../database/reach.ts';
import { WrongWrappingKey } from '../sealing/data-keys.ts';
import { SignerError } from '../signer/failure.ts';
import { VERSION } from '../version.ts';
import { CommandError, type CommandLine, UsageError } from './command-line.ts';
import { COMMANDS, variables } from './commands.ts';

/** The `ferry` command as a function: `cli.ts` calls it for a process, and tests call it without one. */

/** Where the command reads its settings, and where its output goes. */
export type Surroundings = {
  readonly env: Readonly<Record<string, string | undefined>>;
  stdout(text: string): void;
  stderr(text: string): void;
};

function overview(): string {
  const width = Math.max(...COMMANDS.map((command) => command.name.length)) + 2;
  return [
    'ferry moves value: between profiles, to banks and blockchains, and between parties who settle.',
    '',
    'Usage: ferry <command> [options]',
    '',
    ...COMMANDS.map((command) => `  ${command.name.padEnd(width)}${command.summary}`),
    '',
    'Every command accepts --help; those that print data accept --json.',
    'Environment:',
    variables(),
    '',
  ].join('\n');
}

function helpFor(command: CommandLine, env: Surroundings['env']): string {
  const options = Object.entries(command.options ?? {});
  const lines = [`ferry ${command.name}: ${command.summary}`, '', `Usage: ferry ${command.usage}`];
  const { details } = command;
  if (details !== undefined) {
    lines.push('', typeof details === 'string' ? details : details(isProduction(env)));
  }
  lines.push('', 'Options:');
  for (const [name, { help, value }] of options)
    lines.push(`  ${`--${name}${value ? ` <${value}>` : ''}`.padEnd(34)}${help}`);
  if (command.json) lines.push(`  ${'--json'.padEnd(34)}print JSON`);
  lines.push(`  ${'--help'.padEnd(34)}print this help`, '');
  return lines.join('\n');
}

function findCommand(
  words: readonly string[],
): { command: CommandLine; rest: readonly string[] } | undefined {
  for (const length of [3, 2, 1]) {
    const name = words.slice(0, length).join(' ');
    const command = COMMANDS.find((one) => one.name === name);
    if (command !== undefined) return { command, rest: words.slice(length) };
  }
  return undefined;
}

/** A value may begin with a hyphen, as one digest in 64 does: parseArgs takes it only together with its option. */
function joinValues(words: readonly string[], isText: (name: string) => boolean): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const last = joined.at(-1);
    const isValue = /^-[^-]./.test(word) && last?.startsWith('--') === true && isText(last.slice(2));
    if (isValue) joined.push(`${joined.pop()}=${word}`);
    else joined.push(word);
  }
  return joined;
}

function parse(command: CommandLine, rest: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(command.options ?? {}).map(([name, { value, multiple }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: multiple ?? false },
    ]),
  );
  try {
    return parseArgs({
      args: joinValues(rest, (name) => options[name]?.type === 'string'),
      options: {
        ...options,
        ...(command.json ? { json: { type: 'boolean' as const } } : {}),
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    // Its first sentence says what is wrong; the rest explains how arguments are parsed.
    const [sentence] = (error as Error).message.split(/\.?(?:\s*\n|\s+(?=To )|$)/);
    const [, unknown] = /^Unknown option '(-[^']+)'/.exec(sentence!) ?? [];
    const variable = unknown === undefined ? undefined : variableLike(unknown);
    throw new UsageError(
      variable === undefined
        ? `${sentence}.`
        : `${sentence}. Set the environment variable ${variable} instead.`,
    );
  }
}

/** The longest beginning that commands have in common with the words: `client` or `client secret`. */
function findGroup(words: readonly string[]): { name: string; rest: readonly string[] } | undefined {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ');
    const isGroup = COMMANDS.some((command) => command.name.startsWith(`${name} `));
    if (isGroup) return { name, rest: words.slice(length) };
  }
  return undefined;
}

/** The most specific help: of the command, of its group, or the overview. */
function helpNear(words: readonly string[]): string {
  const name = findCommand(words)?.command.name ?? findGroup(words)?.name;
  return name === undefined ? 'ferry --help' : `ferry ${name} --help`;
}

async function run(words: readonly string[], { env, stdout, stderr }: Surroundings): Promise<number> {
  const [first] = words;
  if (first === '--version') {
    stdout(`ferry ${VERSION}\n`);
    return 0;
  }
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    stdout(overview());
    return first === undefined ? 2 : 0;
  }
  const found = findCommand(words);
  if (found === undefined) {
    const group = findGroup(words);
    const [next] = group?.rest ?? [];
    if (group !== undefined && (next === undefined || next.startsWith('-'))) {
      const commands = COMMANDS.filter((command) => command.name.startsWith(`${group.name} `));
      stdout(commands.map((command) => helpFor(command, env)).join('\n'));
      return next === undefined ? 2 : 0;
    }
    throw new UsageError(`Unknown command "${[group?.name, next ?? first].filter(Boolean).join(' ')}".`);
  }
  const { values, positionals } = parse(found.command, found.rest);
  if (values.help === true) {
    stdout(helpFor(found.command, env));
    return 0;
  }
  return found.command.run({
    config: readConfig(env),
    env,
    options: values,
    positionals,
    json: (values as { json?: boolean }).json === true,
    print: (text) => stdout(`${text}\n`),
    progress: (text) => stderr(`${text}\n`),
  });
}

/** PostgreSQL's error code for a role without the privilege. */
const NO_RIGHTS = '42501';

const EXPECTED = [
  UsageError,
  CommandError,
  ConfigError,
  MigrationError,
  EmbeddedError,
  OpenError,
  NotAdmitted,
  AdministrationError,
  WrongWrappingKey,
  SignerError,
];

function describe(error: unknown, words: readonly string[]): string {
  if (error instanceof UsageError) return `${error.message} Try: ${helpNear(words)}`;
  if (EXPECTED.some((kind) => error instanceof kind)) return (error as Error).message;
  if ((error as { code?: unknown }).code !== NO_RIGHTS) return inspect(error);
  return `The database refused it: ${(error as Error).message}. If another role than that of DATABASE_URL owns the tables, set FERRY_MIGRATE_DATABASE_URL.`;
}

/** Returns the exit code: 0 success, 1 failure or violations found, 2 wrong usage. */
export async function runCommand(words: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    return await run(words, surroundings);
  } catch (error) {
    surroundings.stderr(`${describe(error, words)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

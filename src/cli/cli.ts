import { parseArgs } from 'node:util';
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

/** The `ferry` command. Exit codes: 0 success, 1 failure or violations found, 2 wrong usage. */

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

function helpFor(command: CommandLine): string {
  const options = Object.entries(command.options ?? {});
  const lines = [`ferry ${command.name}: ${command.summary}`, '', `Usage: ferry ${command.usage}`];
  const { details } = command;
  if (details !== undefined) {
    lines.push('', typeof details === 'string' ? details : details(isProduction(process.env)));
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

function parse(command: CommandLine, rest: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(command.options ?? {}).map(([name, { value, multiple }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: multiple ?? false },
    ]),
  );
  try {
    return parseArgs({
      args: [...rest],
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

async function run(words: readonly string[]): Promise<number> {
  const [first] = words;
  if (first === '--version') {
    process.stdout.write(`ferry ${VERSION}\n`);
    return 0;
  }
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    process.stdout.write(overview());
    return first === undefined ? 2 : 0;
  }
  const found = findCommand(words);
  if (found === undefined) {
    const group = findGroup(words);
    const [next] = group?.rest ?? [];
    if (group !== undefined && (next === undefined || next.startsWith('-'))) {
      const commands = COMMANDS.filter((command) => command.name.startsWith(`${group.name} `));
      process.stdout.write(commands.map(helpFor).join('\n'));
      return next === undefined ? 2 : 0;
    }
    throw new UsageError(`Unknown command "${[group?.name, next ?? first].filter(Boolean).join(' ')}".`);
  }
  const { values, positionals } = parse(found.command, found.rest);
  if (values.help === true) {
    process.stdout.write(helpFor(found.command));
    return 0;
  }
  return found.command.run({
    config: readConfig(process.env),
    env: process.env,
    options: values,
    positionals,
    json: (values as { json?: boolean }).json === true,
    print: (text) => void process.stdout.write(`${text}\n`),
    progress: (text) => void process.stderr.write(`${text}\n`),
  });
}

/** PostgreSQL's error code for a role without the privilege. */
const NO_RIGHTS = '42501';

const words = process.argv.slice(2);
try {
  process.exitCode = await run(words);
} catch (error) {
  const expected = [
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
  ].some((kind) => error instanceof kind);
  const isForbidden = (error as { code?: unknown }).code === NO_RIGHTS;
  const message = expected
    ? (error as Error).message
    : isForbidden
      ? `The database refused it: ${(error as Error).message}. If another role than that of DATABASE_URL owns the tables, set FERRY_MIGRATE_DATABASE_URL.`
      : error;
  console.error(error instanceof UsageError ? `${error.message} Try: ${helpNear(words)}` : message);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

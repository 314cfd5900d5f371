import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type Config, checkDataDir } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { openForTool } from '../database/open.ts';
import { cliActor } from '../kernel/actor.ts';

/** What all commands share. */

/** Wrong usage of a command. */
export class UsageError extends Error {}

/** Correct usage of a command that cannot be carried out. */
export class CommandError extends Error {}

export type Invocation = {
  readonly config: Config;
  /** The environment, for the values of variables that an option names. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly options: Readonly<Record<string, string | boolean | string[] | undefined>>;
  readonly positionals: readonly string[];
  readonly json: boolean;
  print(text: string): void;
  /** Progress for people, on standard error. */
  progress(text: string): void;
};

export type CommandLine = {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly details?: string | ((production: boolean) => string);
  readonly options?: Readonly<Record<string, { help: string; value?: string; multiple?: boolean }>>;
  readonly json?: boolean;
  run(invocation: Invocation): Promise<number>;
};

/** Without this check, a mistyped directory would get a new, empty database. */
export function requireDatabase({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl !== undefined || existsSync(join(dataDir, 'postgres', 'PG_VERSION'))) return;
  throw new CommandError(
    `No database found in ${dataDir}: set FERRY_DATA_DIR or DATABASE_URL as for your service.`,
  );
}

/** For a command that may run before the service was ever started. */
export function prepareDataDir({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl === undefined) checkDataDir(dataDir);
}

/** Runs the work with a database whose schema this release supports, and closes it afterwards. */
export async function withDatabase<T>(
  { config }: Invocation,
  work: (database: Database) => Promise<T>,
  {
    mayMake = false,
    asOwner = false,
    mayBeStandby = false,
  }: { mayMake?: boolean; asOwner?: boolean; mayBeStandby?: boolean } = {},
): Promise<T> {
  if (mayMake) prepareDataDir(config);
  else requireDatabase(config);
  const opened = await openForTool(config, { mayMake, asOwner, mayBeStandby });
  try {
    opened.database.actor = cliActor(userInfo().username);
    return await work(opened.database);
  } finally {
    await opened.close();
  }
}

export function text(invocation: Invocation, name: string): string {
  const value = invocation.options[name];
  if (typeof value !== 'string' || value === '') throw new UsageError(`--${name} is required.`);
  return value;
}

export function noArguments({ positionals }: Invocation): void {
  if (positionals.length > 0) throw new UsageError(`Unexpected argument "${positionals[0]}".`);
}

export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** "1 entry", "2 entries". */
export function counted(count: number | bigint, one: string, many = `${one}s`): string {
  return `${count} ${Number(count) === 1 ? one : many}`;
}

export const show = (invocation: Invocation, data: unknown, lines: string): void =>
  invocation.print(invocation.json ? JSON.stringify(data, null, 2) : lines);

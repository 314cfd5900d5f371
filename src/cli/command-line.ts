import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, checkDataDir } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { openForTool } from '../database/open.ts';

/** What all commands are made of. */

/** A command was called wrongly. */
export class UsageError extends Error {}

/** It was called well, and cannot do it. */
export class CommandError extends Error {}

export type Invocation = {
  readonly config: Config;
  readonly options: Readonly<Record<string, string | boolean | string[] | undefined>>;
  readonly positionals: readonly string[];
  readonly json: boolean;
  print(text: string): void;
  /** For people only: goes to standard error. */
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

/** Looking into a new, empty database would hide that the directory is mistyped. */
export function requireDatabase({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl !== undefined || existsSync(join(dataDir, 'postgres', 'PG_VERSION'))) return;
  throw new CommandError(
    `There is no database in ${dataDir}: set FERRY_DATA_DIR or DATABASE_URL to where your service has it.`,
  );
}

/** For a command that may be the first one ever. */
export function prepareDataDir({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl === undefined) checkDataDir(dataDir);
}

/** With a database whose schema this release knows, which is closed again whatever happens. */
export async function withDatabase<T>(
  { config }: Invocation,
  work: (database: Database) => Promise<T>,
  { mayMake = false }: { mayMake?: boolean } = {},
): Promise<T> {
  if (mayMake) prepareDataDir(config);
  else requireDatabase(config);
  const opened = await openForTool(config, { mayMake });
  try {
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
  if (positionals.length > 0) throw new UsageError(`"${positionals[0]}" is not expected here.`);
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

export const show = (invocation: Invocation, data: unknown, lines: string): void =>
  invocation.print(invocation.json ? JSON.stringify(data, null, 2) : lines);

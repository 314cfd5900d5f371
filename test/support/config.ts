import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';

export type Environment = Parameters<typeof readConfig>[0];

/** What production needs besides its own settings. */
export const PRODUCTION = {
  FERRY_MODE: 'production',
  DATABASE_URL: 'postgres://ferry:geheim@db.example/ferry?sslmode=verify-full',
  FERRY_PUBLIC_URL: 'https://pay.example',
};

/** The error message of the start. */
export function refusal(env: Environment): string {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    const { message } = error as Error;
    expect(message).not.toContain('\n');
    expect(message).toMatch(/[^.]\.$/);
    return message;
  }
  throw new Error('the configuration was accepted');
}

export type ConfigFiles = {
  readonly directory: string;
  /** FERRY_CONFIG for a file with that content. */
  withFile(content: unknown): Environment;
  remove(): void;
};

export function createConfigFiles(): ConfigFiles {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-config-'));
  return {
    directory,
    withFile(content) {
      const path = join(directory, 'ferry.json');
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
      return { FERRY_CONFIG: path };
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

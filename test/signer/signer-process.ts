import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inject } from 'vitest';
import { connectDatabase, type Database } from '../../src/database/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { runFerry, urlOf } from '../support/process.ts';
import { until } from '../support/until.ts';
import { USDC } from './support.ts';

/** The signer as operators run it: a process with a file of its own, and a role of its own in the database. */

const FERRY = resolve(import.meta.dirname, '../../bin/ferry.js');
export const PASSPHRASE = 'correct horse battery staple';

export type SignerFile = Record<string, unknown>;

/** A file that `ferry signer` accepts. */
export function signerFile(directory: string, changes: SignerFile = {}): SignerFile {
  return {
    listen: { socket: join(directory, 'signer.sock') },
    database: { env: 'SIGNER_DATABASE_URL' },
    log: join(directory, 'log.jsonl'),
    keys: {
      kind: 'sealed_file',
      path: join(directory, 'keys.json'),
      passphrase: { env: 'SIGNER_PASSPHRASE' },
    },
    networks: {
      ETHEREUM: {
        chain_id: 1,
        lanes: 2,
        assets: { ETH: 'native', USDC },
        fee_units_max: '10000000000000000',
        fee_units_per_day: '1000000000000000000',
      },
    },
    limits: Object.fromEntries(
      ['ETH', 'USDC'].map((code) => [
        code,
        { units_per_hour: '1000000', units_per_day: '1000000', payments_per_minute: 1000 },
      ]),
    ),
    ...changes,
  };
}

export type Environment = Record<string, string>;

export function environmentOf(
  directory: string,
  databaseUrl: string,
  file = signerFile(directory),
): Environment {
  const path = join(directory, 'signer.json');
  writeFileSync(path, JSON.stringify(file));
  return {
    FERRY_SIGNER_CONFIG: path,
    SIGNER_DATABASE_URL: databaseUrl,
    SIGNER_PASSPHRASE: PASSPHRASE,
  };
}

const administer = async (work: (database: Database) => Promise<unknown>): Promise<void> => {
  const administration = connectDatabase({ ...inject('postgres'), database: 'postgres' }, 1);
  await work(administration);
  await administration.close();
};

/** Names a role for the signer as the guide says; returns its URL. */
export async function createSignerRole(test: TestDatabase, role: string): Promise<string> {
  await administer((database) => database.query(`create role ${role} login`));
  const { stderr, code } = await runFerry(['migrate', '--signer-role', role], {
    DATABASE_URL: urlOf(test.address),
  });
  if (code !== 0) throw new Error(stderr);
  return urlOf({ ...test.address, user: role });
}

export const dropRole = (role: string): Promise<void> =>
  administer((database) => database.query(`drop role ${role}`));

export type SignerProcess = {
  readonly child: ChildProcess;
  /** Where it listens. */
  readonly address: string;
  output(): string;
  end(signal: NodeJS.Signals): Promise<number | null>;
  readonly ended: Promise<number | null>;
};

export async function startSigner(env: Environment): Promise<SignerProcess> {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [FERRY, 'signer'], {
    env: { PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  const address = (): string | undefined => /listens on (\S+), with/.exec(output)?.[1];
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  await until('the signer listens or has ended', () => address() !== undefined || hasEnded());
  const found = address();
  if (found === undefined) throw new Error(`the signer ended with ${child.exitCode}: ${output}`);
  return {
    child,
    address: found,
    output: () => output,
    ended,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

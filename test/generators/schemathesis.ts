/**
 * `npm run test:schemathesis`: requests that schemathesis (PyPI) makes from the OpenAPI document, with all its checks and in all
 * its phases, stateful ones included, against a real Ferry. Fails on every finding that is not of a class that
 * `schemathesis.toml` and `schemathesis_rules.py` leave out, with the reason.
 *
 *   npm run test:schemathesis                          every operation
 *   npm run test:schemathesis -- --include-tag Transfers --max-examples 200     with options of schemathesis
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limitCustomer } from '../../src/auth/administration.ts';
import {
  databaseOf,
  makeDataDir,
  removeDataDir,
  sandboxOf,
  startFerry,
  tokenFrom,
} from '../support/process.ts';
import { unlockAsSandbox } from '../support/vault.ts';
import { canRun, runnerIn } from './commands.ts';

const VERSION = '4.32.5';
const SEED = '20';
const EXAMPLES = '20';
const CONFIG = join(import.meta.dirname, 'schemathesis.toml');
const RULES = join(import.meta.dirname, 'schemathesis_rules.py');
const given = process.argv.slice(2);

async function installed(): Promise<string> {
  const home = join(process.env.FERRY_GENERATORS_DIR ?? join(tmpdir(), 'ferry-generators'), 'tools');
  const python = join(home, 'schemathesis');
  mkdirSync(home, { recursive: true });
  const run = runnerIn(home, {});
  if (!existsSync(python)) await run('python3', ['-m', 'venv', python]);
  const pip = ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', `schemathesis==${VERSION}`];
  await run(join(python, 'bin/python'), pip);
  return join(python, 'bin/schemathesis');
}

/** What it sends is for the customer of the sandbox, whose rate must not be the limit. */
async function liftRate(dataDir: string, customerId: string): Promise<void> {
  const database = databaseOf(dataDir);
  await unlockAsSandbox(database);
  await limitCustomer(database, customerId, 1_000_000);
  await database.close();
}

/**
 * Operations that can lock out the client that calls them, or stop the platform. Each runs last, on a service of its own, with
 * those beside it that tell it what exists.
 */
const LOCKOUTS: Readonly<Record<string, readonly string[]>> = {
  changeClient: ['listClients'],
  disableClient: ['listClients'],
  removeClientCredential: ['listClients', 'getClient'],
  createFreeze: ['listFreezes', 'getFreeze', 'listProfiles'],
};

async function runOn(program: string, selection: readonly string[]): Promise<number> {
  const dataDir = makeDataDir();
  const ferry = await startFerry({ FERRY_DATA_DIR: dataDir, LOG_LEVEL: 'error' });
  try {
    const [customer] = sandboxOf(dataDir).customers;
    await liftRate(dataDir, customer!.customer_id);
    const token = await tokenFrom(ferry.url, customer!);
    const options = ['--header', `Authorization: Bearer ${token}`, '--seed', SEED, '--checks', 'all'];
    const bounded = given.includes('--max-examples') ? [] : ['--max-examples', EXAMPLES];
    const place = ['--config-file', CONFIG, 'run', `${ferry.url}/openapi.json`];
    const args = [...place, ...options, ...bounded, ...selection, ...given];
    const env = { ...process.env, FERRY_SCHEMATHESIS_RULES: RULES };
    const child = spawn(program, args, { stdio: 'inherit', cwd: dataDir, env });
    return await new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  } finally {
    await ferry.end('SIGTERM');
    await removeDataDir(dataDir);
  }
}

const flagged = (flag: string, values: readonly string[]): string[] => values.flatMap((one) => [flag, one]);

async function main(): Promise<number> {
  const program = await installed();
  let code = await runOn(program, flagged('--exclude-operation-id', Object.keys(LOCKOUTS)));
  // Given options select operations by themselves.
  for (const [operation, others] of given.length > 0 ? [] : Object.entries(LOCKOUTS))
    code = (await runOn(program, flagged('--include-operation-id', [operation, ...others]))) || code;
  return code;
}

if (canRun('python3')) process.exitCode = await main();
else console.log('not run: python3 is not on the PATH');

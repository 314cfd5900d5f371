import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Settings } from '../../../src/chains/evm/kind.ts';
import { LIMITS } from '../../../src/limits.ts';

/**
 * `ferry serve`, but with short leases, and it kills itself with SIGKILL at the checkpoint that a file names. A test changes the file
 * while the process runs. What the process passes is appended to another file.
 */
const { MORTAL_DIE_AT: dieAt, MORTAL_PASSED: passed } = process.env;
const LEASE_MS = 1_000;
const CALL_TIMEOUT_MS = 1_000;
// Read when the modules below are loaded.
Object.assign(LIMITS, { withdrawalLeaseMs: 3_000 });

const { evmKind, openEvmRail } = await import('../../../src/chains/evm/kind.ts');
const { readConfig } = await import('../../../src/config/config.ts');
const { NETWORKS } = await import('../../../src/networks/register.ts');
const { serve } = await import('../../../src/serve.ts');

async function checkpoint(name: string): Promise<void> {
  if (dieAt === undefined || passed === undefined) return;
  const isHere = existsSync(dieAt) && readFileSync(dieAt, 'utf8') === name;
  appendFileSync(passed, `${isHere ? 'died at' : 'passed'} ${name}\n`);
  if (isHere) process.kill(process.pid, 'SIGKILL');
}

const mortal = {
  ...evmKind,
  open: (settings: unknown, node: Parameters<typeof evmKind.open>[1]) =>
    openEvmRail(settings as Settings, node, {
      leaseMs: LEASE_MS,
      callTimeoutMs: CALL_TIMEOUT_MS,
      checkpoint,
    }),
};

await serve(readConfig(process.env, NETWORKS, [mortal]), (text) => void process.stdout.write(`${text}\n`));

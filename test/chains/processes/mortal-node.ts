import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { evmKind, openEvmRail, type Settings } from '../../../src/chains/evm/kind.ts';
import { readConfig } from '../../../src/config/config.ts';
import { NETWORKS } from '../../../src/networks/register.ts';
import { serve } from '../../../src/serve.ts';

/**
 * `ferry serve`, but with a short lease, and it kills itself with SIGKILL at the checkpoint that a file names. A test changes the
 * file while the process runs. What the process passes is appended to another file.
 */
const { MORTAL_DIE_AT: dieAt = '', MORTAL_PASSED: passed = '' } = process.env;
const LEASE_MS = 1_000;
const CALL_TIMEOUT_MS = 1_000;

const mortal = {
  ...evmKind,
  open: (settings: unknown, node: Parameters<typeof evmKind.open>[1]) =>
    openEvmRail(settings as Settings, node, {
      leaseMs: LEASE_MS,
      callTimeoutMs: CALL_TIMEOUT_MS,
      async checkpoint(name) {
        const isHere = existsSync(dieAt) && readFileSync(dieAt, 'utf8') === name;
        appendFileSync(passed, `${isHere ? 'died at' : 'passed'} ${name}\n`);
        if (isHere) process.kill(process.pid, 'SIGKILL');
      },
    }),
};

await serve(readConfig(process.env, NETWORKS, [mortal]), (text) => void process.stdout.write(`${text}\n`));

import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * `npm test`: formatting, lint, types and every test. Each step must pass before the next one runs; arguments go to
 * the test runner (`npm test -- test/ledger`).
 */
const steps: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['formatting and style', 'biome', 'check', '--error-on-warnings', '.'],
  ['lint with types', 'oxlint', '--type-aware', '--deny-warnings'],
  ['types', 'tsc', '--noEmit', '-p', '.'],
  ['types of the console', 'tsc', '--noEmit', '-p', 'console'],
  ['tests', 'vitest', 'run', ...process.argv.slice(2)],
];

// Every process of the run compiles the same modules, and strips their types: each does it once.
const env = { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'), ...process.env };

for (const [name, command, ...args] of steps) {
  console.log(`\n> ${name}: ${command} ${args.join(' ')}`);
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', env });
  if (status !== 0) {
    console.error(`\n${name} failed${error === undefined ? '' : `: ${error.message}`}`);
    process.exit(status ?? 1);
  }
}

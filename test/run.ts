import { spawn, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * `npm test`: formatting, lint, types and every test. All checks of the sources must pass before the tests run; arguments go to
 * the test runner (`npm test -- test/ledger`).
 */
type Step = readonly [name: string, command: string, ...args: string[]];

// The checks run at once, each on one core: every further checker resolves the types of all dependencies again, and with four of them
// tsc takes half as much processor time again.
const checks: readonly Step[] = [
  ['lint with types', 'oxlint', '--type-aware', '--deny-warnings'],
  ['types', 'tsc', '--noEmit', '--checkers', '1', '-p', '.'],
  ['formatting and style', 'biome', 'check', '--error-on-warnings', '.'],
  ['types of the console', 'tsc', '--noEmit', '--checkers', '1', '-p', 'console'],
];
// The checkers in Go need little more memory if they collect garbage less often (1.4 GB instead of 1.3), and less processor time.
const ofChecks = { ...process.env, GOMAXPROCS: '1', GOGC: '400' };

/** Whether it passed. Its output is printed when it has ended, so that those of several steps are not mixed. */
function check([name, command, ...args]: Step): Promise<boolean> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: ofChecks });
  const output: Buffer[] = [];
  child.stdout.on('data', (data: Buffer) => output.push(data));
  child.stderr.on('data', (data: Buffer) => output.push(data));
  return new Promise((resolve) => {
    const end = (failure: string | undefined): void => {
      console.log(`\n> ${name}: ${command} ${args.join(' ')}`);
      process.stdout.write(Buffer.concat(output));
      if (failure !== undefined) console.error(`\n${name} failed${failure}`);
      resolve(failure === undefined);
    };
    child.once('error', (error) => end(`: ${error.message}`));
    child.once('close', (status) => end(status === 0 ? undefined : ''));
  });
}

const passed = await Promise.all(checks.map(check));
if (passed.includes(false)) process.exit(1);

// Every process of the run compiles the same modules, and strips their types: each does it once.
const env = { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'), ...process.env };
const args = ['run', ...process.argv.slice(2)];
console.log(`\n> tests: vitest ${args.join(' ')}`);
const { status, error } = spawnSync('vitest', args, { stdio: 'inherit', env });
if (status !== 0) console.error(`\ntests failed${error === undefined ? '' : `: ${error.message}`}`);
process.exit(status ?? 1);

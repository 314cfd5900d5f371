import { configDefaults, defineConfig } from 'vitest/config';
import LongestFirst from './test/support/sequencer.ts';
import { testsWithoutNodes } from './test/support/utxo-programs.ts';

/** Tests that take minutes run only with FERRY_TEST_LONG, as in `npm run test:chains`. */
const isLong = process.env.FERRY_TEST_LONG !== undefined;
const longTests = isLong ? [] : ['**/*.long.test.ts'];

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...testsWithoutNodes(), ...longTests],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/patient-limits.ts'],
    // One PostgreSQL for the run, a database from a template for each file. Six files at once keep two cores busy: most
    // of the time a test waits for the database, a process or a timeout.
    pool: 'forks',
    maxWorkers: 6,
    // Fewer collections of young objects: 6 % less processor time.
    execArgv: ['--min-semi-space-size=16', '--max-semi-space-size=32'],
    // A process loads the modules of the service once, as they are, and runs many files: to load them takes longer than most files.
    // So a file leaves nothing behind that another one could notice; test/support/patient-limits.ts sets the limits for each.
    isolate: false,
    experimental: { viteModuleRunner: false },
    sequence: { sequencer: LongestFirst },
    // These limits only end tests that hang. They are far longer than any test takes, also on a machine that is ten times
    // slower, so no test needs its own. Without the last one Vitest polls for one second.
    testTimeout: isLong ? 3_600_000 : 300_000,
    hookTimeout: isLong ? 3_600_000 : 300_000,
    expect: { poll: { timeout: 60_000, interval: 50 } },
    reporters: [process.env.CI === undefined ? 'dot' : 'default', './test/support/count-reporter.ts'],
  },
});

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // One PostgreSQL for the run, a database from a template for each file. Three files on two cores: many only wait.
    pool: 'forks',
    maxWorkers: 3,
    // These bounds only end what hangs. They are far longer than any test takes, so that a test passes on a machine that is
    // ten times slower, and no test needs its own. Vitest polls for one second unless told otherwise.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    reporters: [process.env.CI === undefined ? 'dot' : 'default', './test/support/count-reporter.ts'],
  },
});

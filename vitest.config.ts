import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // One PostgreSQL for the run, a database from a template for each file. Three files on two cores: many only wait.
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 120_000,
    reporters: [process.env.CI === undefined ? 'dot' : 'default', './test/support/count-reporter.ts'],
  },
});

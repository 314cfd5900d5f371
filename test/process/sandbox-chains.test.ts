import { afterAll, describe, expect, it } from 'vitest';
import { findPrograms } from '../../src/sandbox/local-chains/programs.ts';
import { makeDataDir, removeDataDir, runHere } from '../support/process.ts';

/**
 * What `ferry sandbox --chains` refuses. sandbox-chains.long.test.ts runs it with its six nodes; the quick run has payments and deposits on
 * nodes of each family in test/chains.
 */
const dataDir = makeDataDir();
afterAll(() => removeDataDir(dataDir));

describe('ferry sandbox --chains', () => {
  it('needs a database and a configuration of its own, and does not run in production', async () => {
    const env = { FERRY_DATA_DIR: dataDir };
    const refused = (changes: Record<string, string>) =>
      runHere(['sandbox', '--chains'], { ...env, ...changes });
    expect((await refused({ DATABASE_URL: 'postgres://127.0.0.1/none' })).stderr).toContain(
      'unset DATABASE_URL',
    );
    const production = {
      FERRY_MODE: 'production',
      DATABASE_URL: 'postgres://127.0.0.1/none',
      FERRY_PUBLIC_URL: 'https://pay.example',
      FERRY_ALLOW_INSECURE: 'database',
    };
    expect((await refused(production)).stderr).toContain('does not run in production');
  });

  it('says which package is missing on a platform without local nodes', () => {
    const { anvil, surfpool, missing } = findPrograms({ platform: 'darwin', arch: 'arm64' });
    expect([anvil, surfpool]).toEqual([undefined, undefined]);
    expect(missing).toHaveLength(2);
    expect(missing[0]).toContain('npm install --no-save @foundry-rs/anvil-darwin-arm64@1.7.1');
    expect(missing[1]).toContain('There is no local node for SOLANA');
  });
});

/**
 * Tests that run only with FERRY_TEST_LONG (`.ci/run`, `npm run test:chains`), because each starts a node, a signer and several
 * processes of the service. Others run a part of what they do in a long run.
 */
const LONG_TESTS = [
  'test/chains/utxo-networks.test.ts',
  'test/chains/utxo-restore.test.ts',
  'test/chains/solana-restore.test.ts',
];

export const testsOfLongRuns = (): readonly string[] =>
  process.env.FERRY_TEST_LONG === undefined ? LONG_TESTS : [];

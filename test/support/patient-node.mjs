/**
 * Loaded into every process of the service that a test starts (NODE_OPTIONS). A stop that takes longer than `shutdownMs`
 * is cut off, and leaves the embedded server running. The tests are about what hangs, not about what a busy machine does
 * slowly: they give a stop more time.
 */
import process from 'node:process';

// npm may run on a Node that is too old to run TypeScript.
if (Number(process.versions.node.split('.')[0]) >= 24) {
  const { LIMITS } = await import('../../src/limits.ts');
  LIMITS.shutdownMs = 90_000;
  // Tests send more than a customer may.
  LIMITS.customerPointsPerSecond = 1_000_000;
  LIMITS.clientTokensPerSecond = 10_000;
}

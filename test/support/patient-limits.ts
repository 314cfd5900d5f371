import { LIMITS } from '../../src/limits.ts';
import { ORIGINAL_LIMITS } from './original-limits.ts';

/**
 * Runs before every test file. Many files share a process, so it first takes back what one of them changed. A service that is slow,
 * because the machine is, refuses requests as overload, and tests send more than a customer may: they would depend on how fast the
 * machine is. Tests of overload and of rate limits set their own.
 */
Object.assign(LIMITS, ORIGINAL_LIMITS, {
  admissionCommandsCrowd: 10_000,
  admissionReadsCrowd: 10_000,
  customerPointsPerSecond: 1_000_000,
  clientTokensPerSecond: 10_000,
});

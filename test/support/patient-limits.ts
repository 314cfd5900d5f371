import { LIMITS } from '../../src/limits.ts';

/**
 * Loaded before every test file. A service that is slow, because the machine is, refuses requests as overload, and tests send
 * more than a customer may: they would depend on how fast the machine is. Tests of overload and of rate limits set their own.
 */
Object.assign(LIMITS, {
  admissionCommandsCrowd: 10_000,
  admissionReadsCrowd: 10_000,
  customerPointsPerSecond: 1_000_000,
  clientTokensPerSecond: 10_000,
});

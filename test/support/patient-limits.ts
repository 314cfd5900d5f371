import { LIMITS } from '../../src/limits.ts';

/**
 * Loaded before every test file. A service that is slow, because the machine is, refuses requests as overload: tests that send
 * many at once would depend on how fast the machine is. Tests of overload set their own limits.
 */
Object.assign(LIMITS, { admissionCommandsCrowd: 10_000, admissionReadsCrowd: 10_000 });

import { createHmac, randomBytes } from 'node:crypto';
import { LIMITS } from '../limits.ts';
import { createGenerations } from './generations.ts';
import type { Credentials } from './token-request.ts';

/**
 * Too many wrong secrets for one client id, known or not: its token requests are refused for the rest of the window.
 * This spares the threads; guessing a secret of 256 bits is hopeless anyway. Each node counts for itself, so with
 * several nodes somebody gets that many attempts on each.
 *
 * A client id is no secret, and whoever knows it must not be able to lock its owner out. So credentials that were
 * right before on this node (kept as an HMAC under a key of this process) go on to the check regardless.
 */
export type Attempts = {
  /** Seconds to wait; zero when the attempt may be made. */
  waitSeconds(credentials: Credentials): number;
  failed(credentials: Credentials): void;
  succeeded(credentials: Credentials): void;
};

type Failures = { count: number; readonly endsAtMs: number };

export function createAttempts(windowMs: number = LIMITS.failedAttemptsWindowMs): Attempts {
  const processKey = randomBytes(32);
  const failures = createGenerations<Failures>(LIMITS.failedAttemptsClientsMax);
  const right = createGenerations<string>(LIMITS.knownClientsMax);

  const digest = ({ clientId, clientSecret }: Credentials): string =>
    createHmac('sha256', processKey)
      .update(JSON.stringify([clientId, clientSecret]))
      .digest('base64');

  return {
    waitSeconds(credentials) {
      const found = failures.get(credentials.clientId);
      const leftMs = found === undefined ? 0 : found.endsAtMs - performance.now();
      if (found === undefined || found.count < LIMITS.failedAttemptsMax || leftMs <= 0) return 0;
      const isRight = right.get(credentials.clientId) === digest(credentials);
      return isRight ? 0 : Math.ceil(leftMs / 1_000);
    },
    failed({ clientId }) {
      const found = failures.get(clientId);
      if (found !== undefined && found.endsAtMs > performance.now()) found.count += 1;
      else failures.set(clientId, { count: 1, endsAtMs: performance.now() + windowMs });
    },
    succeeded(credentials) {
      right.set(credentials.clientId, digest(credentials));
    },
  };
}

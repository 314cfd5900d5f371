import { createHmac, randomBytes } from 'node:crypto';
import { LIMITS } from '../limits.ts';
import { createGenerations } from './generations.ts';
import type { Credentials } from './token-request.ts';

/**
 * A rate limit per client id, known or unknown: after too many wrong secrets, token requests are refused for the rest
 * of the window. This saves worker threads; a secret of 256 bits cannot be guessed anyway. Each node counts on its own.
 *
 * A client id is not secret, and an attacker who knows it must not be able to lock its owner out. So credentials that
 * were right before on this node (kept as an HMAC under a key of this process) are always checked.
 */
export type Attempts = {
  /** Seconds to wait; zero if the attempt is allowed. */
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

import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { type Claim, type Held, releaseLease, renewLease } from './lease-store.ts';

/** The lease of one endpoint, as the node that has it knows it. */
export type Lease = Claim & {
  readonly token: string;
  /** The endpoint and its state as of the last renewal; undefined before the first one. */
  held(): Held | undefined;
  /** False when the lease is lost, or may be lost: it could not be renewed before it expired. */
  renew(): Promise<boolean>;
  renewInMs(): number;
  /** Settings have changed: the next renewal is due at once. */
  renewSoon(): void;
  leftMs(): number;
  release(): Promise<void>;
};

type Dependencies = {
  readonly database: Database;
  readonly log: Pick<Logger, 'warn'>;
  readonly timing: { readonly leaseMs: number; readonly renewMs: number };
};

export function createLease(
  { database, log, timing }: Dependencies,
  { endpointId, customerId, token }: Claim & { readonly token: string },
): Lease {
  let held: Held | undefined;
  let endsMs = 0;
  let nextRenewalMs = 0;
  return {
    endpointId,
    customerId,
    token,
    held: () => held,
    async renew() {
      // By the monotonic clock, measured before the query, so that the lease ends here before it ends in the database.
      const askedMs = performance.now();
      try {
        const now = await renewLease(database, endpointId, token, timing.leaseMs);
        if (now === undefined) return false;
        held = now;
        endsMs = askedMs + timing.leaseMs;
      } catch (error) {
        log.warn({ err: error, endpoint: endpointId }, 'could not renew the lease of a webhook endpoint');
      }
      nextRenewalMs = askedMs + timing.renewMs;
      return performance.now() < endsMs;
    },
    renewInMs: () => nextRenewalMs - performance.now(),
    renewSoon() {
      nextRenewalMs = 0;
    },
    leftMs: () => endsMs - performance.now(),
    // A lease that cannot be released expires.
    release: () => releaseLease(database, endpointId, token).catch(() => undefined),
  };
}

import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { type Claim, type Held, releaseLease, renewLease } from './lease-store.ts';

/** The lease of one endpoint, as the node that has claimed it sees it. */
export type Lease = Claim & {
  readonly token: string;
  /** The endpoint and its state as of the last renewal; undefined before the first one. */
  held(): Held | undefined;
  /** False when the lease is lost, or may be: it could not be renewed until it ran out. */
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
      // By the monotonic clock, from before the query: this node never believes in the lease for longer than the database.
      const askedMs = performance.now();
      try {
        const now = await renewLease(database, endpointId, token, timing.leaseMs);
        if (now === undefined) return false;
        held = now;
        endsMs = askedMs + timing.leaseMs;
      } catch (error) {
        log.warn(
          { err: error, endpoint: endpointId },
          'the lease of a webhook endpoint could not be renewed',
        );
      }
      nextRenewalMs = askedMs + timing.renewMs;
      return performance.now() < endsMs;
    },
    renewInMs: () => nextRenewalMs - performance.now(),
    renewSoon() {
      nextRenewalMs = 0;
    },
    leftMs: () => endsMs - performance.now(),
    // If it cannot be released, it runs out.
    release: () => releaseLease(database, endpointId, token).catch(() => undefined),
  };
}

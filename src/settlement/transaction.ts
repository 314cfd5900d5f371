import type { Instant } from '../kernel/instant.ts';

export const SETTLEMENT_STATUSES = ['PENDING', 'SETTLED', 'EXPIRED', 'CANCELLED', 'AFFIRMED'] as const;
export type SettlementStatus = (typeof SETTLEMENT_STATUSES)[number];

/** DELIVER: from the source to the target. RECEIVE: from the target to the source. */
export const LEG_DIRECTIONS = ['DELIVER', 'RECEIVE'] as const;

/** One way, one asset; all legs of a transaction are settled together or not at all. */
export type Leg = {
  readonly id: string;
  readonly direction: (typeof LEG_DIRECTIONS)[number];
  readonly asset: string;
  readonly units: bigint;
};

/** What an open transaction waits for: a name for programs, the same in words for people. */
export type SecondaryStatus = { readonly name: string; readonly detail: string };

/** A settlement between two profiles as the service keeps it: amounts in units, times in nanoseconds. */
export type Settlement = {
  readonly id: string;
  /** Owner of the source profile. */
  readonly customerId: string;
  readonly targetCustomerId: string;
  readonly refId: string;
  readonly sourceProfileId: string;
  readonly targetProfileId: string;
  readonly windowStartNs: Instant;
  readonly windowEndNs: Instant;
  readonly status: SettlementStatus;
  /** What an affirmed transaction was found to lack when it was tried; null as long as it was not. */
  readonly secondaryStatus: SecondaryStatus | null;
  readonly legs: readonly Leg[];
  readonly createdAtNs: Instant;
  readonly updatedAtNs: Instant;
};

export function partiesOf({ sourceProfileId, targetProfileId }: Settlement): [string, string] {
  return [sourceProfileId, targetProfileId];
}

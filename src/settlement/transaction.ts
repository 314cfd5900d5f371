import type { Static } from 'typebox';
import type { Assets } from '../kernel/asset.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import { secondaryStatusOf } from './effects.ts';
import type { SettlementTransactionShape } from './schema.ts';

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
  readonly secondaryStatus: { readonly name: string; readonly detail: string } | null;
  readonly legs: readonly Leg[];
  readonly createdAtNs: Instant;
  readonly updatedAtNs: Instant;
};

export function partiesOf({ sourceProfileId, targetProfileId }: Settlement): [string, string] {
  return [sourceProfileId, targetProfileId];
}

/** As both parties see it: one record, the same for each of them. */
export function presentSettlement(
  settlement: Settlement,
  assets: Assets,
): Static<typeof SettlementTransactionShape> {
  const secondaryStatus = secondaryStatusOf(settlement);
  return {
    id: settlement.id,
    ref_id: settlement.refId,
    settlement_window_start: formatInstant(settlement.windowStartNs),
    settlement_window_end: formatInstant(settlement.windowEndNs),
    source_profile_id: settlement.sourceProfileId,
    target_profile_id: settlement.targetProfileId,
    legs: settlement.legs.map(({ id, direction, asset, units }) => ({
      id,
      direction,
      asset,
      amount: assets.format(asset, units),
    })),
    status: settlement.status,
    ...(secondaryStatus === undefined ? {} : { secondary_status: { ...secondaryStatus } }),
    created_at: formatInstant(settlement.createdAtNs),
    updated_at: formatInstant(settlement.updatedAtNs),
  };
}

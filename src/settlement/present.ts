import type { Static } from 'typebox';
import type { Assets } from '../kernel/asset.ts';
import { formatInstant } from '../kernel/instant.ts';
import { secondaryStatusOf } from './effects.ts';
import type { SettlementTransactionShape } from './schema.ts';
import type { Settlement } from './transaction.ts';

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

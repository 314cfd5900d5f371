import type { Queryable } from '../database/database.ts';
import type { Assets } from '../kernel/asset.ts';
import { availableOf } from '../ledger/balances.ts';
import { AWAITING_PARTY, awaitingFunds, COVERED, effectsOf } from './effects.ts';
import type { DisabledProfiles } from './engine/plan.ts';
import { partiesOf, type Settlement } from './transaction.ts';

/**
 * What waiting transactions lack, computed from the current balances and profiles, for the customer who reads it. Their records keep what was found when
 * they were first tried: if a thousand transactions wait for one balance, recording each of its changes would take a
 * thousand updates.
 */
export async function explained(
  database: Queryable,
  assets: Assets,
  disabledProfiles: DisabledProfiles,
  rows: readonly Settlement[],
  viewer: string,
): Promise<Settlement[]> {
  const waits = (row: Settlement): boolean => row.status === 'AFFIRMED' && row.secondaryStatus !== null;
  const waiting = rows.filter(waits);
  if (waiting.length === 0) return [...rows];
  const [balances, disabled] = await Promise.all([
    availableOf(database, waiting.flatMap(effectsOf)),
    disabledProfiles(database, [...new Set(waiting.flatMap(partiesOf))]),
  ]);
  const available = (key: string): bigint => balances.get(key) ?? 0n;
  const why = (row: Settlement) =>
    partiesOf(row).some((id) => disabled.has(id))
      ? AWAITING_PARTY
      : (awaitingFunds(row, available, assets, viewer) ?? COVERED);
  return rows.map((row) => (waits(row) ? { ...row, secondaryStatus: why(row) } : row));
}

import type { Queryable } from '../database/database.ts';
import type { Assets } from '../kernel/asset.ts';
import { availableOf } from '../ledger/balances.ts';
import { awaitingFunds, COVERED, effectsOf } from './effects.ts';
import type { Settlement } from './transaction.ts';

/**
 * What waiting transactions lack by what the balances are now. Their records keep what was found when they were first
 * tried: writing it anew with every change of a balance would cost a thousand updates where a thousand wait for one.
 */
export async function explained(
  database: Queryable,
  assets: Assets,
  rows: readonly Settlement[],
): Promise<Settlement[]> {
  const waits = (row: Settlement): boolean => row.status === 'AFFIRMED' && row.secondaryStatus !== null;
  const waiting = rows.filter(waits);
  if (waiting.length === 0) return [...rows];
  const balances = await availableOf(database, waiting.flatMap(effectsOf));
  const available = (key: string): bigint => balances.get(key) ?? 0n;
  return rows.map((row) =>
    waits(row) ? { ...row, secondaryStatus: awaitingFunds(row, available, assets) ?? COVERED } : row,
  );
}

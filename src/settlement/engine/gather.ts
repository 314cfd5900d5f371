import type { Queryable } from '../../database/database.ts';
import { LIMITS } from '../../limits.ts';
import { waitingAround } from '../engine-store.ts';
import type { Settlement } from '../transaction.ts';
import { byAge } from './commands.ts';
import type { SetAside } from './set-aside.ts';

/** The seeds, and waiting transactions of the same parties, and of their parties in turn, up to a limit. Oldest first. */
export async function gather(
  database: Queryable,
  seeds: readonly Settlement[],
  setAside: Pick<SetAside, 'has'>,
): Promise<Settlement[]> {
  const found = new Map(seeds.map((seed) => [seed.id, seed]));
  const asked = new Set<string>();
  let legs = seeds.reduce((sum, seed) => sum + seed.legs.length, 0);
  for (;;) {
    const parties = [...found.values()].flatMap((one) => [one.sourceProfileId, one.targetProfileId]);
    const profileIds = [...new Set(parties)].filter((id) => !asked.has(id));
    if (profileIds.length === 0) break;
    for (const id of profileIds) asked.add(id);
    const around = await waitingAround(database, profileIds, LIMITS.settlementPageMax);
    for (const one of around.sort(byAge)) {
      if (found.has(one.id) || setAside.has(one.id)) continue;
      legs += one.legs.length;
      if (found.size >= LIMITS.settlementSetMax || legs > LIMITS.settlementSetLegsMax) {
        return [...found.values()].sort(byAge);
      }
      found.set(one.id, one);
    }
  }
  return [...found.values()].sort(byAge);
}

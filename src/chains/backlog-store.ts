import type { Database } from '../database/database.ts';
import { LIMITS } from '../limits.ts';

/** What waits on a chain, for metrics. */

export type LaneRow = {
  readonly network: string;
  readonly lane: string;
  readonly open: number;
  readonly oldestSeconds: number;
};

/** Reads at most so many rows of each lane. */
export function openByLane(database: Database, network: string): Promise<LaneRow[]> {
  return database.query<LaneRow>(
    `select $1::text as network, lane, count(*)::integer as open,
            (extract(epoch from clock_timestamp()) - min(assigned_at_ns) / 1000000000)::integer as "oldestSeconds"
     from (select lane, assigned_at_ns from chain_assignments where network = $1 and state = 'ASSIGNED' limit $2) as counted
     group by lane`,
    [network, LIMITS.backlogCountMax],
  );
}

export async function unreportedDeposits(database: Database, network: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::integer as count
     from (select from chain_deposits where network = $1 and not reported limit $2) as counted`,
    [network, LIMITS.backlogCountMax],
  );
  return row!.count;
}

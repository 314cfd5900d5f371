import type { Instant } from '../kernel/instant.ts';
import type { Queryable } from './queryable.ts';

/** An SQL expression: the database's clock, in nanoseconds since 1970 with a resolution of microseconds. */
export const CLOCK_NS = '(extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000';

/** The database's time. */
export async function clockOf(tx: Queryable): Promise<Instant> {
  const [row] = await tx.query<{ now: Instant }>(`select ${CLOCK_NS} as now`);
  return row!.now;
}

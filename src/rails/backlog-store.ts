import { textArray } from '../database/array.ts';
import { countUpTo, secondsSince } from '../database/backlog.ts';
import type { Queryable } from '../database/database.ts';
import type { Backlog } from '../kernel/capability.ts';
import { LIMITS } from '../limits.ts';

/** What rails have reported, and no node has processed. */
export function noticeBacklog(database: Queryable, rails: readonly string[]): Backlog {
  return {
    gauges: {
      ferry_rail_notices_waiting: `Reports of rails that have no effect yet, counted up to ${LIMITS.backlogCountMax}`,
      ferry_rail_notices_oldest_seconds:
        'Age of the oldest of them. If this grows, no worker runs, or a report contradicts the records: see the log',
    },
    labels: ['rail'],
    read: () =>
      database.query(
        `select r.rail,
           ${countUpTo(LIMITS.backlogCountMax, 'from rail_notices n where n.rail = r.rail')} as ferry_rail_notices_waiting,
           ${secondsSince('select min(n.created_at_ns) from rail_notices n where n.rail = r.rail')}
             as ferry_rail_notices_oldest_seconds
         from unnest($1::text[]) as r (rail)`,
        [textArray(rails)],
      ),
  };
}

import { countUpTo, secondsSince } from '../database/backlog.ts';
import { CLOCK_NS } from '../database/clock.ts';
import type { Queryable } from '../database/database.ts';
import type { Backlog } from '../kernel/capability.ts';
import { LIMITS } from '../limits.ts';

/** Requests that somebody has to look at. */
export function approvalBacklog(database: Queryable): Backlog {
  const waiting = `from approvals a where a.level = l.level and a.status = 'PENDING' and a.expires_at_ns > ${CLOCK_NS}`;
  return {
    gauges: {
      ferry_approvals_waiting: 'Requests that wait for approval',
      ferry_approvals_waiting_seconds: 'Age of the oldest request that waits for approval',
    },
    labels: ['level'],
    read: () =>
      database.query(
        `select l.level, ${countUpTo(LIMITS.backlogCountMax, waiting)} as ferry_approvals_waiting,
           ${secondsSince(`select min(a.created_at_ns) ${waiting}`)} as ferry_approvals_waiting_seconds
         from unnest(array['OPERATOR', 'CUSTOMER']) as l (level)`,
      ),
  };
}

import { secondsSince } from '../database/backlog.ts';
import type { Queryable } from '../database/database.ts';
import type { Backlog } from '../kernel/capability.ts';

export const settlementBacklog = (database: Queryable): Backlog => ({
  gauges: {
    ferry_settlement_overdue_seconds:
      'For how long a settlement transaction should have been tried, or expired: no node settles, or it cannot keep up',
  },
  // The first entries of the two indexes that the engine works by.
  read: () =>
    database.query(
      `select ${secondsSince(`least(
                (select min(window_start_ns) from settlement_transactions
                 where status = 'AFFIRMED' and secondary_status is null),
                (select min(window_end_ns) from settlement_transactions
                 where status in ('PENDING', 'AFFIRMED')))`)} as ferry_settlement_overdue_seconds`,
    ),
});

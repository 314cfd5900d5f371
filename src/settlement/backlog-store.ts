import { type Backlog, secondsSince } from '../database/backlog.ts';

export const settlementBacklog: Backlog = {
  gauges: {
    ferry_settlement_overdue_seconds:
      'How long a settlement transaction has been due to be tried or expired: if this grows, no node settles, or it cannot keep up',
  },
  // The first entries of the two indexes that the engine works by.
  read: (database) =>
    database.query(
      `select ${secondsSince(`least(
                (select min(window_start_ns) from settlement_transactions
                 where status = 'AFFIRMED' and secondary_status is null),
                (select min(window_end_ns) from settlement_transactions
                 where status in ('PENDING', 'AFFIRMED')))`)} as ferry_settlement_overdue_seconds`,
    ),
};

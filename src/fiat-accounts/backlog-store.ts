import { countUpTo, secondsSince } from '../database/backlog.ts';
import type { Queryable } from '../database/database.ts';
import type { Backlog } from '../kernel/capability.ts';
import { LIMITS } from '../limits.ts';

const PENDING = `from fiat_accounts where status = 'PENDING' and deleted_at_ns is null`;

export const reviewBacklog = (database: Queryable): Backlog => ({
  gauges: {
    ferry_fiat_account_reviews_waiting: `Fiat accounts that wait for a review, counted up to ${LIMITS.backlogCountMax}`,
    ferry_fiat_account_reviews_oldest_seconds: 'For how long the first of them has waited',
  },
  read: () =>
    database.query(
      `select ${countUpTo(LIMITS.backlogCountMax, PENDING)} as ferry_fiat_account_reviews_waiting,
              ${secondsSince(`select min(updated_at_ns) ${PENDING}`)} as ferry_fiat_account_reviews_oldest_seconds`,
    ),
});

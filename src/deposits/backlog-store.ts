import { countUpTo, secondsSince } from '../database/backlog.ts';
import type { Queryable } from '../database/database.ts';
import type { Backlog } from '../kernel/capability.ts';
import { LIMITS } from '../limits.ts';

const OPEN = 'from suspense_deposits where transfer_id is null and returned_by is null';

export const suspenseBacklog = (database: Queryable): Backlog => ({
  gauges: {
    ferry_suspense_deposits: `Deposits that could not be credited, counted up to ${LIMITS.backlogCountMax}`,
    ferry_suspense_oldest_seconds: 'Age of the oldest of them',
  },
  read: () =>
    database.query(
      `select ${countUpTo(LIMITS.backlogCountMax, OPEN)} as ferry_suspense_deposits,
              ${secondsSince(`select min(created_at_ns) ${OPEN}`)} as ferry_suspense_oldest_seconds`,
    ),
});

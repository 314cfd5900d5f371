import { type Backlog, countUpTo, secondsSince } from '../database/backlog.ts';
import { LIMITS } from '../limits.ts';

const OPEN = 'from suspense_deposits where transfer_id is null';

export const suspenseBacklog: Backlog = {
  gauges: {
    ferry_suspense_deposits: `Deposits that could not be credited, counted up to ${LIMITS.backlogCountMax}`,
    ferry_suspense_oldest_seconds: 'Age of the oldest of them',
  },
  read: (database) =>
    database.query(
      `select ${countUpTo(LIMITS.backlogCountMax, OPEN)} as ferry_suspense_deposits,
              ${secondsSince(`select min(created_at_ns) ${OPEN}`)} as ferry_suspense_oldest_seconds`,
    ),
};

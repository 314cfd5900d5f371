import { secondsSince } from '../database/backlog.ts';
import type { Queryable } from '../database/database.ts';
import type { Backlog } from '../kernel/capability.ts';

export const feedBacklog = (database: Queryable): Backlog => ({
  gauges: {
    ferry_events_unreadable_seconds:
      'For how long an event has been committed without its place in the feed: more than a second, and readers wait',
  },
  read: () =>
    database.query(
      `select ${secondsSince('select min(written_ns) from event_groups where position is null')}
                as ferry_events_unreadable_seconds`,
    ),
});

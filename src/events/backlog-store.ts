import { type Backlog, secondsSince } from '../database/backlog.ts';

export const feedBacklog: Backlog = {
  gauges: {
    ferry_events_unreadable_seconds:
      'How long an event has been committed without a position in the feed: above one second, readers have to wait',
  },
  read: (database) =>
    database.query(
      `select ${secondsSince('select min(written_ns) from event_groups where position is null')}
                as ferry_events_unreadable_seconds`,
    ),
};

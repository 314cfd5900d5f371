import { textArray } from '../database/array.ts';
import { type Backlog, countUpTo, secondsSince } from '../database/backlog.ts';
import { LIMITS } from '../limits.ts';

/** Also rails that are not configured any more: nobody looks at their withdrawals, so somebody has to know. */
const PRESENT_RAILS = `
  with recursive present as (
    select min(rail) as rail from withdrawal_work
    union all
    select (select min(w.rail) from withdrawal_work w where w.rail > p.rail) from present p where p.rail is not null)
  select rail from present where rail is not null`;

/** What waits to go out. */
export function withdrawalBacklogs(rails: readonly string[]): Backlog[] {
  return [
    {
      gauges: {
        ferry_withdrawals_waiting: `Withdrawals that are not final, counted up to ${LIMITS.backlogCountMax}`,
        ferry_withdrawals_overdue_seconds:
          'For how long the first of them should have been looked at: no worker runs, or the rail is down',
      },
      label: 'rail',
      read: (database) =>
        database.query(
          `select r.rail,
             ${countUpTo(LIMITS.backlogCountMax, 'from withdrawal_work w where w.rail = r.rail')} as ferry_withdrawals_waiting,
             ${secondsSince('select min(w.due_at_ns) from withdrawal_work w where w.rail = r.rail')}
               as ferry_withdrawals_overdue_seconds
           from (select unnest($1::text[]) as rail union (${PRESENT_RAILS})) as r`,
          [textArray(rails)],
        ),
    },
    {
      gauges: {
        ferry_withdrawals_oldest_seconds: 'Age of the oldest withdrawal that is not final',
        ferry_withdrawals_unknown: 'Withdrawals of which it is not known whether the rail has them',
        ferry_withdrawals_unknown_seconds: 'For how long that has been so for the first of them',
        ferry_rail_contradictions:
          'Reports of rails that contradict the record of a withdrawal: look at each',
      },
      // Ids of transfers begin with the time, so the first one is the oldest.
      read: (database) =>
        database.query(
          `select
             ${secondsSince(`select t.created_at_ns from transfers t
                             where t.id = (select min_id.transfer_id from withdrawal_work min_id
                                           order by min_id.transfer_id limit 1)`)} as ferry_withdrawals_oldest_seconds,
             ${countUpTo(LIMITS.backlogCountMax, `from withdrawal_work where state = 'UNKNOWN'`)}
               as ferry_withdrawals_unknown,
             ${secondsSince(`select min(intent_at_ns) from withdrawal_work where state = 'UNKNOWN'`)}
               as ferry_withdrawals_unknown_seconds,
             ${countUpTo(LIMITS.backlogCountMax, 'from rail_contradictions')} as ferry_rail_contradictions`,
        ),
    },
  ];
}

import { textArray } from '../database/array.ts';
import { countUpTo, secondsSince } from '../database/backlog.ts';
import { CLOCK_NS } from '../database/clock.ts';
import type { Queryable } from '../database/database.ts';
import type { Backlog } from '../kernel/capability.ts';
import type { Instant } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';
import type { Transfer } from '../transfers/transfer.ts';

/** Includes rails that are no longer configured: no worker claims their withdrawals, so an operator has to know. */
const PRESENT_RAILS = `
  with recursive present as (
    select min(rail) as rail from withdrawal_work
    union all
    select (select min(w.rail) from withdrawal_work w where w.rail > p.rail) from present p where p.rail is not null)
  select rail from present where rail is not null`;

function railBacklog(database: Queryable, rails: readonly string[]): Backlog {
  return {
    gauges: {
      ferry_withdrawals_waiting: `Withdrawals that have not ended, counted up to ${LIMITS.backlogCountMax}`,
      ferry_withdrawals_overdue_seconds:
        'How long the first of them has been due. If this grows, no worker runs, or the rail is unavailable',
    },
    labels: ['rail'],
    read: () =>
      database.query(
        `select r.rail,
           ${countUpTo(LIMITS.backlogCountMax, 'from withdrawal_work w where w.rail = r.rail')} as ferry_withdrawals_waiting,
           ${secondsSince('select min(w.due_at_ns) from withdrawal_work w where w.rail = r.rail')}
             as ferry_withdrawals_overdue_seconds
         from (select unnest($1::text[]) as rail union (${PRESENT_RAILS})) as r`,
        [textArray(rails)],
      ),
  };
}

type Row = Record<string, unknown> & {
  readonly oldest_id: string | null;
  readonly oldest_held_id: string | null;
  readonly now_ns: Instant;
};

/** Released ones are submitted soon. */
const HELD = `w.holds is not null and w.state = 'QUEUED'`;

/** Withdrawals that wait for a rail. */
export function withdrawalBacklogs(
  database: Queryable,
  rails: readonly string[],
  transferById: (id: string) => Promise<Transfer | undefined>,
): Backlog[] {
  return [
    railBacklog(database, rails),
    {
      gauges: {
        ferry_withdrawals_oldest_seconds: 'Age of the oldest withdrawal that has not ended',
        ferry_withdrawals_unknown: 'Withdrawals for which it is unknown whether the rail has the payment',
        ferry_withdrawals_unknown_seconds: 'How long this has been unknown for the first of them',
        ferry_withdrawals_held: 'Withdrawals that a policy holds',
        ferry_withdrawals_held_seconds: 'Age of the oldest withdrawal that a policy holds',
        ferry_rail_contradictions:
          'Reports of rails that contradict the record of a withdrawal: investigate each',
      },
      async read() {
        // Ids of transfers begin with the time, so the first one is the oldest.
        const [row] = await database.query<Row>(
          `select
             (select w.transfer_id from withdrawal_work w order by w.transfer_id limit 1) as oldest_id,
             (select w.transfer_id from withdrawal_work w where ${HELD} order by w.transfer_id limit 1) as oldest_held_id,
             ${countUpTo(LIMITS.backlogCountMax, `from withdrawal_work w where ${HELD}`)} as ferry_withdrawals_held,
             ${CLOCK_NS} as now_ns,
             ${countUpTo(LIMITS.backlogCountMax, `from withdrawal_work where state = 'UNKNOWN'`)}
               as ferry_withdrawals_unknown,
             ${secondsSince(`select min(intent_at_ns) from withdrawal_work where state = 'UNKNOWN'`)}
               as ferry_withdrawals_unknown_seconds,
             ${countUpTo(LIMITS.backlogCountMax, 'from rail_contradictions')} as ferry_rail_contradictions`,
        );
        const { oldest_id: oldestId, oldest_held_id: heldId, now_ns: nowNs, ...others } = row!;
        const secondsOf = async (id: string | null): Promise<number> => {
          const transfer = id === null ? undefined : await transferById(id);
          const ageNs = transfer === undefined ? 0n : nowNs - transfer.createdAtNs;
          return ageNs > 0n ? Number(ageNs) / 1e9 : 0;
        };
        return [
          {
            ...others,
            ferry_withdrawals_oldest_seconds: await secondsOf(oldestId),
            ferry_withdrawals_held_seconds: await secondsOf(heldId),
          },
        ];
      },
    },
  ];
}

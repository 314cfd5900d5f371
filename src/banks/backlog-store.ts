import { countUpTo, secondsSince } from '../database/backlog.ts';
import type { Queryable } from '../database/database.ts';
import type { Backlog } from '../kernel/capability.ts';
import { LIMITS } from '../limits.ts';
import type { RailName } from '../rails/rail.ts';

/** Files that wait for the bank, and those that wait for an operator. */
export function bankBacklog(database: Queryable, rail: RailName): Backlog {
  const unanswered = (state: string): string =>
    `from bank_files f where f.rail = $1 and f.state in (${state})`;
  return {
    gauges: {
      ferry_bank_files_unanswered: `Uploaded files that the bank has not answered, counted up to ${LIMITS.backlogCountMax}`,
      ferry_bank_files_asked:
        'Files that wait for an operator: not answered by the bank (ASKED), or refused by it (HELD)',
      ferry_bank_files_unsent_seconds:
        'How long the first file waits for its upload. If this grows, the bank is unreachable',
    },
    labels: ['rail'],
    read: () =>
      database.query(
        `select $1::text as rail,
           ${countUpTo(LIMITS.backlogCountMax, unanswered(`'UPLOADED'`))} as ferry_bank_files_unanswered,
           ${countUpTo(LIMITS.backlogCountMax, unanswered(`'ASKED', 'HELD'`))} as ferry_bank_files_asked,
           ${secondsSince(`select min(f.made_at_ns) from bank_files f where f.rail = $1 and f.state in ('MADE', 'STAGED')`)}
             as ferry_bank_files_unsent_seconds`,
        [rail],
      ),
  };
}

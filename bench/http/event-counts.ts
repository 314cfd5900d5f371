// How many events of each type there are: they are packed, so they have to be unpacked to be counted.
import type { Queryable } from '../../src/database/database.ts';
import { unpackEvents } from '../../src/events/pack.ts';

const GROUPS_AT_ONCE = 500;
const FIRST = '00000000-0000-0000-0000-000000000000';

type Row = { readonly batch_id: string; readonly customer_id: string; readonly events: Buffer };

export async function eventCounts(database: Queryable): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let last = { batch_id: FIRST, customer_id: FIRST }; ; ) {
    const rows = await database.query<Row>(
      `select batch_id, customer_id, events from event_groups where (batch_id, customer_id) > ($1::uuid, $2::uuid)
       order by batch_id, customer_id limit ${GROUPS_AT_ONCE}`,
      [last.batch_id, last.customer_id],
    );
    for (const { events } of rows) {
      const count = ({ type }: { type: string }): boolean => {
        counts.set(type, (counts.get(type) ?? 0) + 1);
        return false;
      };
      for (const _ of unpackEvents(events, count));
    }
    if (rows.length < GROUPS_AT_ONCE) return counts;
    last = rows.at(-1)!;
  }
}

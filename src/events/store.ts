import { plainArray, textArray } from '../database/array.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Table } from '../ledger/command.ts';

/** A change of state, appended in the transaction that makes it. Carries the resource as it was, as users see it. */
export type EventRow = {
  readonly customerId: string;
  readonly type: string;
  readonly resourceId: string;
  readonly atNs: Instant;
  readonly resource: string;
  /** For whoever must name the event before it is written; others are named here. */
  readonly id?: string;
};

type Group = { readonly id: string; readonly customerId: string; atNs: Instant; lines: number };

/** One group per customer, with lines in the order in which the events were decided. */
function groupsOf(rows: readonly EventRow[]): {
  groups: Group[];
  places: { groupId: string; line: number }[];
} {
  const groups = new Map<string, Group>();
  const places = rows.map(({ customerId, atNs }) => {
    let group = groups.get(customerId);
    if (group === undefined) {
      group = { id: newId(), customerId, atNs, lines: 0 };
      groups.set(customerId, group);
    }
    if (atNs > group.atNs) group.atNs = atNs;
    group.lines += 1;
    return { groupId: group.id, line: group.lines };
  });
  return { groups: [...groups.values()], places };
}

export const events: Table<EventRow> = {
  name: 'events',
  write(tx, rows) {
    const { groups, places } = groupsOf(rows);
    return tx.query(
      `with new_groups as (
         insert into event_groups (id, customer_id, at_ns)
         select * from unnest($9::uuid[], $10::uuid[], $11::bigint[]))
       insert into events (id, group_id, line, customer_id, type, resource_id, at_ns, resource)
       select id, group_id, line, customer_id, type, resource_id, at_ns, resource::json
       from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[], $5::text[], $6::uuid[], $7::bigint[], $8::text[])
            as row (id, group_id, line, customer_id, type, resource_id, at_ns, resource)`,
      [
        // Ids are made here and not by rules, which are pure and may run again.
        plainArray(rows.map((row) => row.id ?? newId())),
        plainArray(places.map((place) => place.groupId)),
        plainArray(places.map((place) => place.line)),
        plainArray(rows.map((row) => row.customerId)),
        textArray(rows.map((row) => row.type)),
        plainArray(rows.map((row) => row.resourceId)),
        plainArray(rows.map((row) => row.atNs)),
        textArray(rows.map((row) => row.resource)),
        plainArray(groups.map((group) => group.id)),
        plainArray(groups.map((group) => group.customerId)),
        plainArray(groups.map((group) => group.atNs)),
      ],
    );
  },
};

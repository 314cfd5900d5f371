import { appendTo } from '../database/binary.ts';
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

type GroupedEvent = { readonly event: EventRow; readonly group: Group; readonly line: number };

const insertGroups = appendTo<Group>('event_groups', [
  { name: 'id', type: 'uuid', value: (group) => group.id },
  { name: 'customer_id', type: 'uuid', value: (group) => group.customerId },
  { name: 'at_ns', type: 'bigint', value: (group) => group.atNs },
]);

const insertEvents = appendTo<GroupedEvent>('events', [
  // Ids are made here and not by rules, which are pure and may run again.
  { name: 'id', type: 'uuid', value: ({ event }) => event.id ?? newId() },
  { name: 'group_id', type: 'uuid', value: ({ group }) => group.id },
  { name: 'line', type: 'integer', value: ({ line }) => line },
  { name: 'customer_id', type: 'uuid', value: ({ event }) => event.customerId },
  { name: 'type', type: 'text', value: ({ event }) => event.type },
  { name: 'resource_id', type: 'uuid', value: ({ event }) => event.resourceId },
  { name: 'at_ns', type: 'bigint', value: ({ event }) => event.atNs },
  { name: 'resource', type: 'text', value: ({ event }) => event.resource },
]);

/** One group per customer, with lines in the order in which the events were decided. */
function groupEvents(rows: readonly EventRow[]): { groups: Group[]; events: GroupedEvent[] } {
  const groups = new Map<string, Group>();
  const grouped = rows.map((event) => {
    let group = groups.get(event.customerId);
    if (group === undefined) {
      group = { id: newId(), customerId: event.customerId, atNs: event.atNs, lines: 0 };
      groups.set(event.customerId, group);
    }
    if (event.atNs > group.atNs) group.atNs = event.atNs;
    group.lines += 1;
    return { event, group, line: group.lines };
  });
  return { groups: [...groups.values()], events: grouped };
}

export const events: Table<EventRow> = {
  name: 'events',
  sendsAtOnce: true,
  write(tx, rows) {
    const grouped = groupEvents(rows);
    return Promise.all([insertGroups(tx, grouped.groups), insertEvents(tx, grouped.events)]);
  },
};

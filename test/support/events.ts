import type { Queryable } from '../../src/database/database.ts';
import { named } from '../../src/events/group-store.ts';
import { event as eventRow } from '../../src/events/outbox.ts';
import { unpackEvents } from '../../src/events/pack.ts';
import { workerActor } from '../../src/kernel/actor.ts';
import type { EventType } from '../../src/kernel/event-types.ts';
import { newId } from '../../src/kernel/id.ts';
import type { Command } from '../../src/ledger/command.ts';

/** An event as the feed and webhooks show it. */
export type Event = { id: string; type: string; created_at: string; resource_id: string; data: any };

/** A command that only appends events, one for each item. */
export function emit(
  customerId: string,
  items: readonly { resourceId?: string; type?: string; data?: object }[],
): Command<void> {
  return {
    actor: workerActor('test'),
    balances: [],
    decide: (view) => ({
      accepted: true,
      causeId: newId(),
      postings: [],
      writes: items.map(({ resourceId = newId(), type = 'transfer.test.completed', data = {} }, index) =>
        eventRow(type as EventType, customerId, resourceId, view.now + BigInt(index), data),
      ),
      answer: undefined,
    }),
  };
}

/** An event as it is stored: its customer and its content. */
export type WrittenEvent = { customer_id: string; type: string; resource: any };

type GroupRow = { readonly batch_id: string; readonly customer_id: string; readonly events: Buffer };
type Found = { readonly atNs: bigint; readonly resourceId: string; readonly event: WrittenEvent };

/** By time; events of the same instant by type and customer. */
function compare(a: Found, b: Found): number {
  if (a.atNs !== b.atNs) return a.atNs < b.atNs ? -1 : 1;
  const [one, other] = [a, b].map(({ event }) => `${event.type} ${event.customer_id}`) as [string, string];
  return one < other ? -1 : one > other ? 1 : 0;
}

function eventsIn(database: Queryable, groups: readonly GroupRow[]): Found[] {
  const found = groups.flatMap(({ batch_id, customer_id, events }) =>
    [...unpackEvents(events)].map((packed) => {
      const { atNs, resourceId, type, resource } = named(database, batch_id, packed);
      return {
        atNs,
        resourceId,
        event: { customer_id, type, resource: JSON.parse(resource) as unknown },
      };
    }),
  );
  return found.sort(compare);
}

/** All stored events of a resource, for every customer, whether they are in the feed yet or not. */
export async function eventsOf(database: Queryable, resourceId: string): Promise<WrittenEvent[]> {
  const groups = await database.query<GroupRow>(
    `select batch_id, customer_id, events from event_groups where batch_id in (
       select batch_id from event_resources where resource_id = $1
       union select batch_id from transfers where id = $1)`,
    [resourceId],
  );
  return eventsIn(database, groups)
    .filter((one) => one.resourceId === resourceId)
    .map(({ event }) => event);
}

export async function allEvents(database: Queryable): Promise<(WrittenEvent & { resource_id: string })[]> {
  const groups = await database.query<GroupRow>('select batch_id, customer_id, events from event_groups');
  return eventsIn(database, groups).map(({ event, resourceId }) => ({ ...event, resource_id: resourceId }));
}

import type { Queryable } from '../../src/database/database.ts';
import { unpackEvents } from '../../src/events/pack.ts';

/** An event as a test looks at it: whose it is, and what it says. */
export type WrittenEvent = { customer_id: string; type: string; resource_id: string; resource: any };

type GroupRow = { readonly customer_id: string; readonly events: Buffer };

function eventsIn(groups: readonly GroupRow[], isWanted: (resourceId: string) => boolean): WrittenEvent[] {
  const found = groups.flatMap(({ customer_id, events }) =>
    [...unpackEvents(events, ({ resourceId }) => isWanted(resourceId))].map((one) => ({
      atNs: one.atNs,
      event: {
        customer_id,
        type: one.type,
        resource_id: one.resourceId,
        resource: JSON.parse(one.resource) as unknown,
      },
    })),
  );
  const order = ({ event }: (typeof found)[number]): string => `${event.type} ${event.customer_id}`;
  found.sort((a, b) =>
    a.atNs !== b.atNs ? (a.atNs < b.atNs ? -1 : 1) : order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0,
  );
  return found.map(({ event }) => event);
}

/** All that was written of a resource, to whomever, in the order of time, whether it is in the feed already or not. */
export async function eventsOf(database: Queryable, resourceId: string): Promise<WrittenEvent[]> {
  const groups = await database.query<GroupRow>(
    `select customer_id, events from event_groups where batch_id in (
       select batch_id from event_resources where resource_id = $1
       union select batch_id from transfers where id = $1)`,
    [resourceId],
  );
  return eventsIn(groups, (id) => id === resourceId);
}

export async function allEvents(database: Queryable): Promise<WrittenEvent[]> {
  const groups = await database.query<GroupRow>('select customer_id, events from event_groups');
  return eventsIn(groups, () => true);
}

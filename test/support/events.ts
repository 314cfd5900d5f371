import type { Queryable } from '../../src/database/database.ts';
import { unpackEvents } from '../../src/events/pack.ts';

/** An event as a test looks at it: whose it is, and what it says. */
export type WrittenEvent = { customer_id: string; type: string; resource: any };

type GroupRow = { readonly customer_id: string; readonly events: Buffer };
type Found = { readonly atNs: bigint; readonly resourceId: string; readonly event: WrittenEvent };

/** In the order of time; at one instant by type and customer. */
function compare(a: Found, b: Found): number {
  if (a.atNs !== b.atNs) return a.atNs < b.atNs ? -1 : 1;
  const [one, other] = [a, b].map(({ event }) => `${event.type} ${event.customer_id}`) as [string, string];
  return one < other ? -1 : one > other ? 1 : 0;
}

function eventsIn(groups: readonly GroupRow[]): Found[] {
  const found = groups.flatMap(({ customer_id, events }) =>
    [...unpackEvents(events)].map(({ atNs, resourceId, type, resource }) => ({
      atNs,
      resourceId,
      event: { customer_id, type, resource: JSON.parse(resource) as unknown },
    })),
  );
  return found.sort(compare);
}

/** All that was written of a resource, to whomever, whether it is in the feed already or not. */
export async function eventsOf(database: Queryable, resourceId: string): Promise<WrittenEvent[]> {
  const groups = await database.query<GroupRow>(
    `select customer_id, events from event_groups where batch_id in (
       select batch_id from event_resources where resource_id = $1
       union select batch_id from transfers where id = $1)`,
    [resourceId],
  );
  return eventsIn(groups)
    .filter((one) => one.resourceId === resourceId)
    .map(({ event }) => event);
}

export async function allEvents(database: Queryable): Promise<(WrittenEvent & { resource_id: string })[]> {
  const groups = await database.query<GroupRow>('select customer_id, events from event_groups');
  return eventsIn(groups).map(({ event, resourceId }) => ({ ...event, resource_id: resourceId }));
}

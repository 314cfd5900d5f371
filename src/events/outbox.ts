import type { EventType } from '../kernel/event-types.ts';
import type { Instant } from '../kernel/instant.ts';
import { type Write, write } from '../ledger/command.ts';
import { eventErasures } from './erasure-store.ts';
import { events } from './store.ts';

/** An event to append in the transaction that changes the resource. */
export function event(
  type: EventType,
  customerId: string,
  resourceId: string,
  at: Instant,
  /** The resource as users see it, as an object or as JSON text. */
  resource: object | string,
  /**
   * The resource never changes again, and its own row names the batch that created it. Such events are looked up through
   * that row instead of `event_resources`, which saves an index entry for each of them.
   */
  isOnly = false,
  /** The resource has personal data, see `EventFamily`. */
  isSealed = false,
): Write {
  const text = typeof resource === 'string' ? resource : JSON.stringify(resource);
  const row = { customerId, type, resourceId, atNs: at, resource: text, isOnly, isSealed };
  return write(events, resourceId, row);
}

/** Erases personal data in the earlier events of a resource, soon after the commit: these fields replace what they show. */
export function erasure(resourceId: string, fields: object): Write {
  return write(eventErasures, resourceId, { resourceId, fields });
}

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
  const row = { customerId, type, resourceId, atNs: at, resource: text, isOnly, isSealed, isRecord: false };
  return write(events, resourceId, row);
}

/** The customer of changes that belong to none, such as those of rails. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

/** A change that is only in the audit log: who changed what, and what the resource is now. */
export type Change = {
  /** The type of the resource, and what happened to it: `profile.created`. */
  readonly action: string;
  readonly customerId: string | null;
  readonly resourceId: string;
  readonly at: Instant;
  /** As the API shows it, as an object or as JSON text; null if it does not exist any more. */
  readonly after: object | string | null;
  /** The resource has personal data. */
  readonly isSealed?: boolean;
  /** If the command appends events under the id of the resource that show something else. */
  readonly key?: string;
};

/** Records a change for which customers get no event, in the transaction that makes it. */
export function change(made: Change): Write {
  const { action, customerId, resourceId, at, after, isSealed = false, key = resourceId } = made;
  const resource = typeof after === 'string' ? after : after === null ? '{}' : JSON.stringify(after);
  return write(events, key, {
    customerId: customerId ?? NOBODY,
    type: action,
    resourceId,
    atNs: at,
    resource,
    isOnly: false,
    isSealed,
    isRecord: true,
  });
}

/** Erases personal data in the earlier events of a resource, soon after the commit: these fields replace what they show. */
export function erasure(resourceId: string, fields: object): Write {
  return write(eventErasures, resourceId, { resourceId, fields });
}

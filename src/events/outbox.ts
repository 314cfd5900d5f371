import type { Instant } from '../kernel/instant.ts';
import { type Write, write } from '../ledger/command.ts';
import { events } from './store.ts';

/** An event to be appended. `type` names the resource and what it became: `transfer.wire_withdrawal.pending`. */
export function event(
  type: string,
  customerId: string,
  resourceId: string,
  at: Instant,
  /** As users see it; or that as JSON, where it is at hand. */
  resource: object | string,
  /** The resource never changes again, and its own row says which batch made it: events of it are looked up there. */
  isOnly = false,
): Write {
  const text = typeof resource === 'string' ? resource : JSON.stringify(resource);
  const row = { customerId, type, resourceId, atNs: at, resource: text, isOnly };
  return write(events, resourceId, row);
}

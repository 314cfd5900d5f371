import type { Instant } from '../kernel/instant.ts';
import { type Write, write } from '../ledger/command.ts';
import { events } from './store.ts';

/** An event to be appended. `type` names the resource and what it became: `transfer.wire_withdrawal.pending`. */
export function event(
  type: string,
  customerId: string,
  resourceId: string,
  at: Instant,
  resource: object,
  /** Only for whoever must know the event's id beforehand. */
  id?: string,
): Write {
  const row = { customerId, type, resourceId, atNs: at, resource: JSON.stringify(resource) };
  return write(events, `${customerId}/${resourceId}/${type}/${at}`, id === undefined ? row : { ...row, id });
}

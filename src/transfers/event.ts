import { event } from '../events/outbox.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Write } from '../ledger/command.ts';
import { type Transfer, transferText } from './transfer.ts';

/** `transfer.wire_withdrawal.pending`. Written once for each type and status. */
const eventTypes = new Map<string, string>();

function eventTypeOf({ type, status }: Pick<Transfer, 'type' | 'status'>): string {
  const key = type + status;
  let name = eventTypes.get(key);
  if (name === undefined) {
    name = `transfer.${type.toLowerCase()}.${status.toLowerCase()}`;
    eventTypes.set(key, name);
  }
  return name;
}

/** The transfer as it is now; `text` is what `transferText` says of it, where that is at hand. */
export function transferEvent(
  transfer: Transfer,
  assets: Assets,
  text: string = transferText(transfer, assets),
): Write {
  const { customerId, id, updatedAtNs, batchId } = transfer;
  return event(eventTypeOf(transfer), customerId, id, updatedAtNs, text, batchId !== undefined);
}

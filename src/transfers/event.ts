import { event } from '../events/outbox.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Write } from '../ledger/command.ts';
import {
  TRANSFER_STATUSES,
  TRANSFER_TYPES,
  type Transfer,
  type TransferStatus,
  type TransferType,
  transferText,
} from './transfer.ts';

/** `transfer.wire_withdrawal.pending` */
const EVENT_TYPES = Object.fromEntries(
  TRANSFER_TYPES.map((type) => [
    type,
    Object.fromEntries(
      TRANSFER_STATUSES.map((status) => [status, `transfer.${type.toLowerCase()}.${status.toLowerCase()}`]),
    ),
  ]),
) as Record<TransferType, Record<TransferStatus, string>>;

/** The transfer as it is now; `text` is what `transferText` says of it, where that is at hand. */
export function transferEvent(
  transfer: Transfer,
  assets: Assets,
  text: string = transferText(transfer, assets),
): Write {
  const { customerId, id, updatedAtNs, batchId } = transfer;
  const type = EVENT_TYPES[transfer.type][transfer.status];
  return event(type, customerId, id, updatedAtNs, text, batchId !== undefined);
}

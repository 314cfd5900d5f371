import { event } from '../events/outbox.ts';
import type { Assets } from '../kernel/asset.ts';
import { type EventType, eventFamily, lowerCase } from '../kernel/event-types.ts';
import type { Write } from '../ledger/command.ts';
import {
  TRANSFER_STATUSES,
  TRANSFER_TYPES,
  type Transfer,
  type TransferStatus,
  type TransferType,
  transferText,
} from './transfer.ts';

const nameOf = (type: TransferType, status: TransferStatus) =>
  `${lowerCase(type)}.${lowerCase(status)}` as const;

export const TRANSFER_EVENTS = eventFamily(
  'transfer',
  TRANSFER_TYPES.flatMap((type) => TRANSFER_STATUSES.map((status) => nameOf(type, status))),
);

/** Looked up instead of put together: every transfer needs its event type. */
const TYPES = Object.fromEntries(
  TRANSFER_TYPES.map((type) => [
    type,
    Object.fromEntries(
      TRANSFER_STATUSES.map((status) => [status, TRANSFER_EVENTS.types[nameOf(type, status)]]),
    ),
  ]),
) as Record<TransferType, Record<TransferStatus, EventType>>;

/** The transfer as it is now; `text` is its `transferText`, for callers that have it already. */
export function transferEvent(
  transfer: Transfer,
  assets: Assets,
  text: string = transferText(transfer, assets),
): Write {
  const { customerId, id, updatedAtNs, batchId } = transfer;
  const type = TYPES[transfer.type][transfer.status];
  return event(type, customerId, id, updatedAtNs, text, batchId !== undefined);
}

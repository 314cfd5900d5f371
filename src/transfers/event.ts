import { event } from '../events/outbox.ts';
import type { Assets } from '../kernel/asset.ts';
import { type EventType, eventFamily, lowerCase } from '../kernel/event-types.ts';
import type { Write } from '../ledger/command.ts';
import type { Networks } from '../networks/register.ts';
import { TRANSFER_STATUSES, type Transfer, transferText } from './transfer.ts';

type Kind = Pick<Transfer, 'type' | 'status'>;

const nameOf = ({ type, status }: Kind) => `${lowerCase(type)}.${lowerCase(status)}` as const;

/** An event for each type of transfer that the register has, and each status. */
export const transferEvents = ({ transferTypes }: Networks) =>
  eventFamily(
    'transfer',
    transferTypes.flatMap((type) => TRANSFER_STATUSES.map((status) => nameOf({ type, status }))),
  );

/** A cache, because every transfer needs its event type. */
const known = new Map<string, EventType>();

function eventTypeOf(kind: Kind): EventType {
  const key = kind.type + kind.status;
  let type = known.get(key);
  if (type === undefined) {
    const name = nameOf(kind);
    type = eventFamily('transfer', [name]).types[name];
    known.set(key, type);
  }
  return type;
}

/** The event of a transfer in its current state; `text` is its `transferText`, for callers that already have it. */
export function transferEvent(
  transfer: Transfer,
  assets: Assets,
  text: string = transferText(transfer, assets),
): Write {
  const { customerId, id, updatedAtNs, batchId } = transfer;
  return event(eventTypeOf(transfer), customerId, id, updatedAtNs, text, batchId !== undefined);
}

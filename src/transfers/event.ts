import { event } from '../events/outbox.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Write } from '../ledger/command.ts';
import { presentTransfer, type Transfer } from './transfer.ts';

/** `transfer.wire_withdrawal.pending`: the transfer as it is now. */
export function transferEvent(transfer: Transfer, assets: Assets): Write {
  const type = `transfer.${transfer.type.toLowerCase()}.${transfer.status.toLowerCase()}`;
  const { customerId, id, updatedAtNs } = transfer;
  return event(type, customerId, id, updatedAtNs, presentTransfer(transfer, assets));
}

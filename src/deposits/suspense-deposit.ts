import type { Assets } from '../kernel/asset.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import type { SystemAccount } from '../ledger/command.ts';
import type { ArrivedDeposit, RailName } from '../rails/rail.ts';
import { clearingAccount } from '../transfers/rails.ts';
import { referenceOf } from './identity.ts';

export const SUSPENSE_STATUSES = ['OPEN', 'CREDITED', 'RETURNED'] as const;
export type SuspenseStatus = (typeof SUSPENSE_STATUSES)[number];

/** A deposit that could not be credited; an operator has to investigate. */
export type SuspenseDeposit = {
  readonly id: string;
  readonly rail: string;
  /** The operator's own bank account; null on a chain, and for deposits that were recorded without one. */
  readonly account: string | null;
  readonly reference: string;
  readonly asset: string;
  readonly amountUnits: bigint;
  readonly sentTo: string;
  readonly reason: string;
  readonly createdAtNs: Instant;
  /** The transfer that credited it. */
  readonly transferId: string | null;
  /** The journal entry that returned it to its sender. */
  readonly returnedBy: string | null;
  /** The journal entry that put the value into suspense; null for a deposit that a rail reported. */
  readonly journalEntryId: string | null;
  /** Whether its value was posted to the account `suspense`. */
  readonly booked: boolean;
};

/** What has arrived, and cannot be credited for this reason. */
export function inSuspense(
  id: string,
  arrived: ArrivedDeposit,
  reason: string,
  now: Instant,
): SuspenseDeposit {
  const { rail, asset, amountUnits } = arrived;
  return {
    id,
    rail,
    account: 'txHash' in arrived ? null : arrived.account,
    reference: referenceOf(arrived),
    asset,
    amountUnits,
    sentTo: 'txHash' in arrived ? arrived.address : arrived.memoId,
    reason,
    createdAtNs: now,
    transferId: null,
    returnedBy: null,
    journalEntryId: null,
    booked: true,
  };
}

/** The account that has its value. Nothing was posted for an asset that was not configured: that value is still outside. */
export function accountOf({ booked, rail }: Pick<SuspenseDeposit, 'booked' | 'rail'>): SystemAccount {
  return booked ? { account: 'suspense' } : clearingAccount(rail as RailName);
}

export function presentSuspense(suspense: SuspenseDeposit, assets: Assets) {
  const { id, rail, account, reference, asset, amountUnits, reason, transferId } = suspense;
  const { returnedBy, journalEntryId } = suspense;
  return {
    id,
    rail,
    ...(account !== null && { account }),
    reference,
    asset,
    // The decimals of an asset that is not configured are unknown.
    ...(assets.find(asset) !== undefined && { amount: assets.format(asset, amountUnits) }),
    amount_units: amountUnits.toString(),
    sent_to: suspense.sentTo,
    reason,
    created_at: formatInstant(suspense.createdAtNs),
    ...(transferId !== null && { transfer_id: transferId }),
    ...(returnedBy !== null && { returned_by: returnedBy }),
    ...(journalEntryId !== null && { journal_entry_id: journalEntryId }),
  };
}

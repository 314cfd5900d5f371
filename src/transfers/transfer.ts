import type { Assets } from '../kernel/asset.ts';
import { newId } from '../kernel/id.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';

/** A transfer as the service keeps it: amounts in units, times in nanoseconds. */
export type Transfer = {
  readonly id: string;
  readonly customerId: string;
  readonly profileId: string;
  readonly type: TransferType;
  readonly direction: 'CREDIT' | 'DEBIT';
  readonly status: (typeof TRANSFER_STATUSES)[number];
  readonly asset: string;
  readonly amountUnits: bigint;
  readonly feeUnits: bigint;
  /** What the balance changes by, and of which asset: another one only when the transfer converts. */
  readonly balanceAsset: string;
  readonly balanceUnits: bigint;
  readonly createdAtNs: Instant;
  readonly updatedAtNs: Instant;
  readonly identityId?: string | null;
  readonly accountId?: string | null;
  readonly refId?: string | null;
  readonly groupId?: string | null;
  readonly metadata?: Readonly<Record<string, string>> | null;
  readonly memo?: string | null;
  readonly fiatAccountId?: string | null;
  readonly destinationAddress?: string | null;
  readonly cryptoNetwork?: string | null;
  readonly cryptoTxHash?: string | null;
  readonly cryptoTxIndex?: string | null;
  readonly notionalValue?: string | null;
  readonly secondaryStatus?: { readonly name: string; readonly detail: string } | null;
  readonly statusDetails?: object | null;
  /** Kept, never shown. */
  readonly beneficiary?: object | null;
  readonly feeId?: string | null;
};

export const TRANSFER_TYPES = [
  'INTERNAL_TRANSFER_DEBIT',
  'INTERNAL_TRANSFER_CREDIT',
  'CRYPTO_DEPOSIT',
  'CRYPTO_WITHDRAWAL',
  'WIRE_DEPOSIT',
  'WIRE_WITHDRAWAL',
  'SEN_DEPOSIT',
  'SEN_WITHDRAWAL',
  'BANK_DEPOSIT',
  'BANK_WITHDRAWAL',
  'PLATFORM_TRANSFER_DEBIT',
  'PLATFORM_TRANSFER_CREDIT',
  'SIGNET_DEPOSIT',
  'SIGNET_WITHDRAWAL',
  'CBIT_WITHDRAWAL',
  'CBIT_DEPOSIT',
  'CUBIX_DEPOSIT',
  'CUBIX_WITHDRAWAL',
] as const;
export type TransferType = (typeof TRANSFER_TYPES)[number];

/** Inside the service. They are complete when they are made, and never change; the schema holds them to it. */
export const INSIDE_TYPES: readonly TransferType[] = [
  'PLATFORM_TRANSFER_DEBIT',
  'PLATFORM_TRANSFER_CREDIT',
  'INTERNAL_TRANSFER_DEBIT',
  'INTERNAL_TRANSFER_CREDIT',
];

export const TRANSFER_STATUSES = ['PENDING', 'COMPLETED', 'FAILED'] as const;

/**
 * The two sides of a transfer inside the service are named after their group, with another last digit. So they are found
 * without an index, in which every payment would need two entries: 3 of the 50 µs that inserting its rows takes.
 */
export function newGroupId(): string {
  return withLastDigit(newId(), 0);
}

export function sideIds(groupId: string): [debitId: string, creditId: string] {
  return [withLastDigit(groupId, 1), withLastDigit(groupId, 2)];
}

/** The two last bits. */
function withLastDigit(id: string, bits: number): string {
  const digit = Number.parseInt(id.slice(-1), 16);
  return id.slice(0, -1) + ((digit & 0b1100) | bits).toString(16);
}

/** One space of ref_ids for transfers of all kinds. */
export const TRANSFER_SPACE = 'transfers';

/** Deposits bring in amount - fee, withdrawals cost amount + fee; unsigned, in the transfer's asset. */
export function totalUnits(transfer: Pick<Transfer, 'direction' | 'amountUnits' | 'feeUnits'>): bigint {
  return transfer.direction === 'DEBIT'
    ? transfer.amountUnits + transfer.feeUnits
    : transfer.amountUnits - transfer.feeUnits;
}

function hasAutoConversion(type: TransferType): boolean {
  return type.startsWith('CRYPTO_') || type.startsWith('PLATFORM_');
}

/** As users see it. Absent fields are left out, never null. */
export function presentTransfer(transfer: Transfer, assets: Assets): Record<string, unknown> {
  const { asset } = transfer;
  return {
    id: transfer.id,
    customer_id: transfer.customerId,
    profile_id: transfer.profileId,
    amount: assets.format(asset, transfer.amountUnits),
    total: assets.format(asset, totalUnits(transfer)),
    fee: assets.format(asset, transfer.feeUnits),
    asset,
    direction: transfer.direction,
    type: transfer.type,
    status: transfer.status,
    created_at: formatInstant(transfer.createdAtNs),
    updated_at: formatInstant(transfer.updatedAtNs),
    identity_id: transfer.identityId ?? undefined,
    ref_id: transfer.refId ?? undefined,
    balance_asset: transfer.balanceAsset,
    metadata: transfer.metadata ?? undefined,
    destination_address: transfer.destinationAddress ?? undefined,
    crypto_network: transfer.cryptoNetwork ?? undefined,
    crypto_tx_hash: transfer.cryptoTxHash ?? undefined,
    crypto_tx_index: transfer.cryptoTxIndex ?? undefined,
    account_id: transfer.accountId ?? undefined,
    auto_conversion: hasAutoConversion(transfer.type) ? {} : undefined,
    group_id: transfer.groupId ?? undefined,
    fiat_account_id: transfer.fiatAccountId ?? undefined,
    secondary_status: transfer.secondaryStatus ?? undefined,
    notional_value: transfer.notionalValue ?? undefined,
    memo: transfer.memo ?? undefined,
    status_details: transfer.statusDetails ?? undefined,
  };
}

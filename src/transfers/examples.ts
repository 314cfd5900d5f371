import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS } from '../kernel/examples.ts';
import { NETWORKS } from '../networks/register.ts';
import { transferEvents } from './event.ts';
import type { TransferShape } from './schema.ts';

/** Answers for the API reference. A test compares them with real ones. */
type Transfer = Static<typeof TransferShape>;

export const EXAMPLE_TRANSFER = {
  customer_id: EXAMPLE_IDS.customer,
  profile_id: EXAMPLE_IDS.profile,
  direction: 'DEBIT',
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
} as const;

export const PLATFORM_TRANSFER: Transfer = {
  ...EXAMPLE_TRANSFER,
  id: '019bc0fd-8ba2-73a0-83a0-f080bd6010d9',
  amount: '25',
  total: '25',
  fee: '0',
  asset: 'USD',
  type: 'PLATFORM_TRANSFER_DEBIT',
  status: 'COMPLETED',
  ref_id: 'invoice-2041',
  balance_asset: 'USD',
  metadata: { invoice: '2041' },
  auto_conversion: {},
  group_id: '019bc0fd-8ba2-73a0-83a0-f080bd6010d8',
};

export const INTERNAL_TRANSFER: Transfer = {
  ...EXAMPLE_TRANSFER,
  id: '019bc0fd-8ba2-72b6-92b6-8922303a5011',
  amount: '0.5',
  total: '0.5',
  fee: '0',
  asset: 'BTC',
  type: 'INTERNAL_TRANSFER_DEBIT',
  status: 'COMPLETED',
  ref_id: 'rebalance-0117',
  balance_asset: 'BTC',
  group_id: '019bc0fd-8ba2-72b6-92b6-8922303a5010',
};

/** Without a `ref_id`. */
export const CRYPTO_WITHDRAWAL: Transfer = {
  ...EXAMPLE_TRANSFER,
  id: EXAMPLE_IDS.cryptoWithdrawal,
  amount: '0.05',
  total: '0.0501',
  fee: '0.0001',
  asset: 'BTC',
  type: 'CRYPTO_WITHDRAWAL',
  status: 'PENDING',
  balance_asset: 'BTC',
  destination_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  crypto_network: 'BITCOIN',
  auto_conversion: {},
  secondary_status: { name: 'QUEUED', detail: 'Waits to be submitted to the BITCOIN rail.' },
  notional_value: '3256.5',
};

/** The event of the API reference. */
export const TRANSFER_EVENT_EXAMPLE = {
  type: transferEvents(NETWORKS).types['crypto_withdrawal.pending'],
  resource: CRYPTO_WITHDRAWAL,
} as const;

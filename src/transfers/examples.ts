import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS } from '../kernel/examples.ts';
import type { TransferShape } from './schema.ts';

/** Answers to the requests beside which they stand; a test holds them against real ones. */
type Transfer = Static<typeof TransferShape>;

const common = {
  customer_id: EXAMPLE_IDS.customer,
  profile_id: EXAMPLE_IDS.profile,
  direction: 'DEBIT',
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
} as const;

export const PLATFORM_TRANSFER: Transfer = {
  ...common,
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
  ...common,
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

export const FIAT_WITHDRAWAL: Transfer = {
  ...common,
  id: '019bc0fd-8ba2-739a-939a-606a3d832b86',
  amount: '1500',
  total: '1520',
  fee: '20',
  asset: 'USD',
  type: 'WIRE_WITHDRAWAL',
  status: 'PENDING',
  ref_id: 'payout-3310',
  balance_asset: 'USD',
  fiat_account_id: EXAMPLE_IDS.fiatAccount,
  secondary_status: {
    name: 'AWAITING_FIAT_ACCOUNT_APPROVAL',
    detail: `Goes out when fiat account ${EXAMPLE_IDS.fiatAccount} is approved, and fails if it is rejected.`,
  },
  memo: 'Invoice 2041',
};

/** One without a ref_id of its own. */
export const CRYPTO_WITHDRAWAL: Transfer = {
  ...common,
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

export const RAIL_CONTRADICTION = {
  transfer_id: EXAMPLE_IDS.cryptoWithdrawal,
  rail: 'BITCOIN',
  reported: 'COMPLETED',
  recorded: 'FAILED',
  detail: '3 confirmations on BITCOIN.',
  created_at: EXAMPLE_AT,
} as const;

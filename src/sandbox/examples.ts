import type { Static } from 'typebox';
import { SUSPENSE_DEPOSIT } from '../deposits/examples.ts';
import { EXAMPLE_AT, EXAMPLE_IDS, EXAMPLE_LATER } from '../kernel/examples.ts';
import { CRYPTO_WITHDRAWAL } from '../transfers/examples.ts';
import type { TransferShape } from '../transfers/schema.ts';

type Transfer = Static<typeof TransferShape>;

export const SIMULATED_DEPOSIT: Transfer = {
  id: '019bc0fd-8ba2-73d2-bbd2-f47f105356b1',
  customer_id: EXAMPLE_IDS.customer,
  profile_id: EXAMPLE_IDS.profile,
  amount: '2',
  total: '2',
  fee: '0',
  asset: 'BTC',
  direction: 'CREDIT',
  type: 'CRYPTO_DEPOSIT',
  status: 'COMPLETED',
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
  ref_id: 'deposit-0001',
  balance_asset: 'BTC',
  crypto_network: 'BITCOIN',
  auto_conversion: {},
  notional_value: '130000',
};

const { account: _bankAccount, ...SUSPENDED } = SUSPENSE_DEPOSIT;
export const SUSPENSE_CRYPTO_DEPOSIT = {
  ...SUSPENDED,
  rail: 'BITCOIN',
  reference: 'c69ad90a180a7b32a1c058bf931c9cbade301f385d7e99d7f7c8461bd76b8490:0',
  asset: 'BTC',
  amount: '2',
  amount_units: '200000000',
  sent_to: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
};

export const COMPLETED_WITHDRAWAL: Transfer = {
  ...CRYPTO_WITHDRAWAL,
  status: 'COMPLETED',
  updated_at: EXAMPLE_LATER,
  crypto_tx_hash: 'bdc9abbe2c37c61a3831225a9ddba51148e03f37648cdce4f4f1f673062a40a1',
  crypto_tx_index: '1',
  secondary_status: { name: 'PAID', detail: '3 confirmations on BITCOIN.' },
};

export const FAILED_WITHDRAWAL: Transfer = {
  ...CRYPTO_WITHDRAWAL,
  status: 'FAILED',
  updated_at: EXAMPLE_LATER,
  secondary_status: {
    name: 'FAILED_BY_RAIL',
    detail: 'You failed the payment. The full total was returned.',
  },
};

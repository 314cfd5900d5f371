import { EXAMPLE_AT, EXAMPLE_IDS } from '../kernel/examples.ts';

export const SEARCH_HIT = {
  type: 'TRANSFER' as const,
  id: EXAMPLE_IDS.cryptoWithdrawal,
  matched: 'ID' as const,
  label: 'CRYPTO_WITHDRAWAL',
  created_at: EXAMPLE_AT,
  customer_id: EXAMPLE_IDS.customer,
  status: 'PENDING',
  asset: 'BTC',
  amount: '0.05',
};

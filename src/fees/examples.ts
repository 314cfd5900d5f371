import type { Static } from 'typebox';
import type { GuaranteedFeeShape } from './schema.ts';

export const GUARANTEED_FEE: Static<typeof GuaranteedFeeShape> = {
  id: '019bc0fd-8ba2-718f-a18f-b7fd1380b125',
  asset: 'BTC',
  crypto_network: 'BITCOIN',
  destination_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  amount: '0.05',
  total: '0.0501',
  fee: '0.0001',
  expires_at: '2026-01-15T09:45:00.482193Z',
};

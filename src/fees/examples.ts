import type { Static } from 'typebox';
import { EXAMPLE_IDS } from '../kernel/examples.ts';
import type { AssetList } from './assets.ts';
import type { guaranteedFeeShape } from './schema.ts';

export const GUARANTEED_FEE: Static<ReturnType<typeof guaranteedFeeShape>> = {
  id: EXAMPLE_IDS.fee,
  asset: 'BTC',
  crypto_network: 'BITCOIN',
  destination_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  amount: '0.05',
  total: '0.0501',
  fee: '0.0001',
  expires_at: '2026-01-15T09:45:00.482193Z',
};

export const ASSETS: Static<typeof AssetList> = {
  items: [
    {
      asset: 'BTC',
      kind: 'CRYPTO',
      decimals: 8,
      rails: [{ rail: 'BITCOIN', withdrawal_fee: '0.0001', deposit_fee: '0' }],
    },
  ],
};

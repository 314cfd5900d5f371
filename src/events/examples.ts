import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS } from '../kernel/examples.ts';
import type { EventPage, EventShape } from './schema.ts';

/** With the whole resource in it: a crypto withdrawal, as its own operation shows it. */
export const EVENT: Static<typeof EventShape> = {
  id: '019bc0fd-8ba3-73e3-83e3-c9040e220001',
  type: 'transfer.crypto_withdrawal.pending',
  created_at: EXAMPLE_AT,
  resource_id: EXAMPLE_IDS.cryptoWithdrawal,
  data: {
    id: EXAMPLE_IDS.cryptoWithdrawal,
    customer_id: EXAMPLE_IDS.customer,
    profile_id: EXAMPLE_IDS.profile,
    amount: '0.05',
    total: '0.0501',
    fee: '0.0001',
    asset: 'BTC',
    direction: 'DEBIT',
    type: 'CRYPTO_WITHDRAWAL',
    status: 'PENDING',
    created_at: EXAMPLE_AT,
    updated_at: EXAMPLE_AT,
    balance_asset: 'BTC',
    destination_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    crypto_network: 'BITCOIN',
    auto_conversion: {},
    secondary_status: { name: 'QUEUED', detail: 'Waits to be submitted to the BITCOIN rail.' },
    notional_value: '3256.5',
  },
};

export const EVENT_PAGE: Static<typeof EventPage> = {
  items: [EVENT],
  next_page_cursor: 'ZmVlZCAzNyAx',
  has_more: false,
};

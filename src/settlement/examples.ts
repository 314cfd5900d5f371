import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS, EXAMPLE_LATER, EXAMPLE_NEXT_DAY } from '../kernel/examples.ts';
import type { SettlementNetworkShape } from './network-route.ts';
import type { SettlementTransactionShape } from './schema.ts';

type Settlement = Static<typeof SettlementTransactionShape>;

const common = {
  id: '019bc0fd-8ba2-70d2-8263-159f662f3dad',
  ref_id: 'trade-7781',
  source_profile_id: EXAMPLE_IDS.profile,
  target_profile_id: EXAMPLE_IDS.otherProfile,
  settlement_window_start: EXAMPLE_AT,
  settlement_window_end: EXAMPLE_NEXT_DAY,
  legs: [
    { id: '019bc0fd-8ba2-70d0-88d0-e3137bfc18fb', direction: 'DELIVER', asset: 'BTC', amount: '1.5' },
    { id: '019bc0fd-8ba2-70d1-aa3c-dcaba13ba26f', direction: 'RECEIVE', asset: 'USD', amount: '97500' },
  ],
  created_at: EXAMPLE_AT,
} satisfies Partial<Settlement>;

export const SETTLEMENT: Settlement = {
  ...common,
  status: 'PENDING',
  updated_at: EXAMPLE_AT,
  secondary_status: {
    name: 'AWAITING_AFFIRMATION',
    detail: `The owner of the target profile ${EXAMPLE_IDS.otherProfile} has not affirmed the transaction. It expires at ${EXAMPLE_NEXT_DAY}.`,
  },
};

export const AFFIRMED_SETTLEMENT: Settlement = {
  ...common,
  status: 'AFFIRMED',
  updated_at: EXAMPLE_LATER,
  secondary_status: {
    name: 'AWAITING_SETTLEMENT',
    detail: 'The settlement window is open; settlement is in progress.',
  },
};

export const CANCELLED_SETTLEMENT: Settlement = {
  ...common,
  status: 'CANCELLED',
  updated_at: EXAMPLE_LATER,
};

export const SETTLEMENT_NETWORK: Static<typeof SettlementNetworkShape> = {
  obligations: [
    {
      from_profile_id: EXAMPLE_IDS.otherProfile,
      from_customer_id: EXAMPLE_IDS.operator,
      to_profile_id: EXAMPLE_IDS.profile,
      to_customer_id: EXAMPLE_IDS.customer,
      asset: 'USD',
      amount: '97500',
      transactions: 1,
    },
  ],
  settled_together: [
    {
      settled_at: EXAMPLE_LATER,
      transaction_ids: [common.id, '019bc0fd-8ba2-70d3-9264-26a0773b4ebe'],
      profile_ids: [EXAMPLE_IDS.profile, EXAMPLE_IDS.otherProfile],
      assets: [{ asset: 'USD', gross: '195000', net: '1200' }],
    },
  ],
  complete: true,
};

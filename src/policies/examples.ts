import { EXAMPLE_AT, EXAMPLE_IDS } from '../kernel/examples.ts';

const rules = [
  { type: 'amount_limit', name: 'one payment', asset: 'USD', max: '250000' },
  { type: 'velocity', name: 'one day', asset: 'USD', max: '1000000', window: 'DAY', per: 'CUSTOMER' },
  { type: 'approval', name: 'large payments', asset: 'USD', above: '50000' },
] as const;

const applies_to = { rails: ['wire'] };

export const POLICY_REQUEST = {
  name: 'wires',
  enabled: true,
  applies_to,
  rules: [...rules],
  reason: 'Agreed with the bank: CASE-2290.',
};

export const POLICY = {
  id: '019bc0fd-8ba2-7b1d-9e02-6c1f4d8a7b35',
  name: 'wires',
  version: 1,
  enabled: true,
  applies_to,
  rules: [...rules],
  changed_by: `client:${EXAMPLE_IDS.operator}`,
  reason: POLICY_REQUEST.reason,
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
};

export const OWN_POLICY = { ...POLICY, customer_id: EXAMPLE_IDS.customer };

export const DRY_RUN = {
  from: '2025-12-16T09:30:00Z',
  examined: 0,
  complete: true,
  passed: 0,
  held: 0,
  refused: 0,
  withdrawals: [],
};

export const DESTINATION_REQUEST = {
  destination: 'BITCOIN/bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  label: 'Cold wallet',
};

export const DESTINATION = {
  id: '019bc0fd-8ba2-7a44-8f3e-0d2b6c9e1a58',
  destination: 'BITCOIN/bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  label: 'Cold wallet',
  added_by: `client:${EXAMPLE_IDS.operator}`,
  created_at: EXAMPLE_AT,
};

export const SAVED_ADDRESS_REQUEST = {
  crypto_network: 'BITCOIN' as const,
  address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  label: 'Cold wallet',
};

export const SAVED_ADDRESS = { ...SAVED_ADDRESS_REQUEST, id: DESTINATION.id, created_at: EXAMPLE_AT };

export const UTILIZATION = {
  policy: 'wires',
  rule: 'one day',
  window: 'DAY' as const,
  per: 'CUSTOMER' as const,
  asset: 'USD',
  max: '1000000',
  used: '0',
  available: '1000000',
  rails: ['wire'],
};

import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS, EXAMPLE_LATER } from '../kernel/examples.ts';
import type { fiatAccountShape, reviewedAccountShape, ViewList, viewedAccountShape } from './schema.ts';

type FiatAccount = Static<ReturnType<typeof fiatAccountShape>>;

const routing = {
  routing_number_type: 'ABA',
  routing_number: '021000021',
  bank_name: 'First Example Bank',
  bank_address: { country: 'US', address1: '1 Bank Street', city: 'New York', province: 'NY' },
} as const;
const ownerAddress = { address1: '456 Main Street', city: 'New York', province: 'NY', zip_code: '10001' };

export const FIAT_ACCOUNT: FiatAccount = {
  id: EXAMPLE_IDS.fiatAccount,
  status: 'PENDING',
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
  fiat_account_owner: { person_details: { first_name: 'Ada', last_name: 'Lovelace' } },
  fiat_network_instructions: {
    wire: {
      account_number: '****6789',
      routing_details: routing,
      fiat_account_owner_address: { country: 'US', ...ownerAddress },
    },
  },
};

export const UPDATED_ACCOUNT: FiatAccount = {
  ...FIAT_ACCOUNT,
  updated_at: EXAMPLE_LATER,
  fiat_account_owner: { person_details: { first_name: 'Ada', last_name: 'King' } },
  metadata: { reason: 'married' },
};

export const DELETED_ACCOUNT: FiatAccount = {
  ...FIAT_ACCOUNT,
  fiat_account_owner: { person_details: { first_name: '****', last_name: '****' } },
  fiat_network_instructions: {
    wire: {
      account_number: '****6789',
      routing_details: routing,
      fiat_account_owner_address: { country: 'US' },
    },
  },
  updated_at: EXAMPLE_LATER,
  deleted_at: EXAMPLE_LATER,
};

export const APPROVED_ACCOUNT: FiatAccount = {
  ...FIAT_ACCOUNT,
  status: 'APPROVED',
  updated_at: EXAMPLE_LATER,
};

export const REJECTED_ACCOUNT: FiatAccount = {
  ...FIAT_ACCOUNT,
  status: 'REJECTED',
  reason: 'The bank has no such account.',
  updated_at: EXAMPLE_LATER,
};

/** An operator has to review it, because a country is written in words. */
export const ACCOUNT_TO_REVIEW: Static<ReturnType<typeof reviewedAccountShape>> = {
  ...FIAT_ACCOUNT,
  customer_id: EXAMPLE_IDS.customer,
  fiat_network_instructions: {
    wire: {
      account_number: '****6789',
      routing_details: routing,
      fiat_account_owner_address: { country: 'Atlantis', ...ownerAddress },
    },
  },
  findings: [{ verdict: 'ASK', reason: 'The country of the owner is not an ISO 3166 code.' }],
};

export const DIGEST = 'q3v0bXkD2o0c7m8iJY5W1uRr9sT4eLhZ6yFgNnAaB1E';

/** The same with the whole number. */
export const VIEWED_ACCOUNT: Static<ReturnType<typeof viewedAccountShape>> = {
  ...ACCOUNT_TO_REVIEW,
  fiat_network_instructions: {
    wire: {
      account_number: '000123456789',
      routing_details: routing,
      fiat_account_owner_address: { country: 'Atlantis', ...ownerAddress },
    },
  },
  digest: DIGEST,
};

export const VIEW: Static<typeof ViewList>['items'][number] = {
  id: EXAMPLE_IDS.fiatAccountView,
  customer_id: EXAMPLE_IDS.operator,
  client_id: 'ferry_5f1c09e2a7b84d3610c2e9f4',
  digest: DIGEST,
  created_at: EXAMPLE_LATER,
};

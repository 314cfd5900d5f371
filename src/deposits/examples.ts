import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS } from '../kernel/examples.ts';
import type { TransferShape } from '../transfers/schema.ts';
import type { depositAddressShape, depositInstructionsShape, SuspenseDepositShape } from './schema.ts';

const common = {
  customer_id: EXAMPLE_IDS.customer,
  profile_id: EXAMPLE_IDS.profile,
  created_at: EXAMPLE_AT,
} as const;

export const DEPOSIT_ADDRESS: Static<ReturnType<typeof depositAddressShape>> = {
  ...common,
  id: '019bc0fd-8ba2-7017-b017-c1e4fd88537f',
  crypto_network: 'BITCOIN',
  address: 'bc1q5r7u8vvu0yqwc4uaahnkyls46gynyk0c60gq3m',
  ref_id: 'address-0001',
  metadata: { user: '42' },
};

export const DEPOSIT_INSTRUCTIONS: Static<ReturnType<typeof depositInstructionsShape>> = {
  ...common,
  id: '019bc0fd-8ba2-72ed-b6ed-4c82b03e7f64',
  fiat_network: 'WIRE',
  memo_id: 'NZ4TBTPRJKQ5',
  fiat_network_instructions: {
    wire: {
      account_number: '000987654321',
      routing_details: {
        routing_number_type: 'ABA',
        routing_number: '021000021',
        bank_name: 'Sandbox Bank',
        bank_address: { country: 'US', address1: '1 Pier Street', city: 'New York', province: 'NY' },
      },
      fiat_account_owner_address: { country: 'US', address1: '2 Pier Street', city: 'New York' },
    },
  },
  ref_id: 'instructions-0001',
  metadata: { user: '42' },
};

export const SUSPENSE_DEPOSIT: Static<typeof SuspenseDepositShape> = {
  id: EXAMPLE_IDS.suspenseDeposit,
  rail: 'wire',
  account: 'sandbox',
  reference: '019bc0fd-8ba2-7171-af5a-d6c1025691f8',
  asset: 'USD',
  amount: '250',
  amount_units: '25000',
  sent_to: '7K3JQ0W9XN4T',
  reason: 'No profile has this address or memo.',
  created_at: EXAMPLE_AT,
};

export const CREDITED_DEPOSIT: Static<typeof TransferShape> = {
  ...common,
  id: '019bc0fd-8ba2-70fc-88fc-6e55f42f821d',
  amount: '250',
  total: '250',
  fee: '0',
  asset: 'USD',
  direction: 'CREDIT',
  type: 'WIRE_DEPOSIT',
  status: 'COMPLETED',
  updated_at: EXAMPLE_AT,
  balance_asset: 'USD',
};

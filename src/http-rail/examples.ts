/** Examples for the documentation of adapters. A test holds them against their schemas. */

const KEY = '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40';
const VALUE = { asset: 'USD', amount: '100.5' } as const;

export const ORDER = {
  key: KEY,
  rail: 'wire',
  ...VALUE,
  memo: 'Invoice 42',
  destination: {
    instructions: {
      wire: {
        account_number: '000123456789',
        routing_details: {
          routing_number_type: 'ABA',
          routing_number: '021000021',
          bank_name: 'First Bank',
          bank_address: { country: 'US', city: 'New York' },
        },
        fiat_account_owner_address: { country: 'US', city: 'New York' },
      },
    },
    owner: { person_details: { first_name: 'Ada', last_name: 'Lovelace' } },
  },
  originator: {
    customer_id: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d41',
    profile_id: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d42',
  },
};

const PAYMENT = { key: KEY, ...VALUE, reference: 'BANK-7781' } as const;
export const PENDING = { ...PAYMENT, status: 'pending', next_ask_ms: 5_000 } as const;
export const COMPLETED = { ...PAYMENT, status: 'completed', detail: 'Paid by Example Bank.' } as const;
export const FAILED = { ...PAYMENT, status: 'failed', reason: 'The account is closed.' } as const;

export const REFUSALS = {
  rejected: { outcome: 'rejected', detail: 'The account is closed.' },
  not_accepted: { outcome: 'not_accepted', detail: 'The bank is closed for maintenance.' },
  not_found: { outcome: 'not_found', detail: 'There is no payment with this key.' },
  conflict: { outcome: 'conflict', detail: 'The key has another payment.' },
  unauthenticated: { outcome: 'unauthenticated', detail: 'The signature does not match.' },
} as const;

export const INSTRUCTIONS = ORDER.destination.instructions.wire;
export const ADDRESS_ORDER = { id: KEY, rail: 'ETHEREUM' };
export const ADDRESS = { id: KEY, address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' };
export const QUOTE = { asset: 'USD', fee: '0.25' };
export const HEALTH = { status: 'ok' } as const;

export const NOTICES = {
  'a payment was completed': {
    type: 'payment',
    key: KEY,
    status: 'completed',
    detail: 'Paid by Example Bank.',
  },
  'a payment failed': { type: 'payment', key: KEY, status: 'failed', reason: 'The account is closed.' },
  'a deposit arrived at the bank': {
    type: 'deposit',
    account: 'DE02120300000000202051',
    reference: '2026-10-01/7781',
    memo_id: 'F7K2M9QX',
    ...VALUE,
  },
  'a payment came back': {
    type: 'return',
    key: KEY,
    account: 'DE02120300000000202051',
    reference: '2026-10-03/12',
    ...VALUE,
  },
} as const;
export const DEPOSIT_ON_CHAIN = {
  type: 'deposit',
  tx_hash: `0x${'ab'.repeat(32)}`,
  output: 0,
  address: ADDRESS.address,
  asset: 'ETH',
  amount: '0.25',
} as const;

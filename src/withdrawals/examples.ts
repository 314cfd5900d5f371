import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS } from '../kernel/examples.ts';
import { CRYPTO_WITHDRAWAL, EXAMPLE_TRANSFER } from '../transfers/examples.ts';
import type { TransferShape } from '../transfers/schema.ts';
import { awaitingApproval, queued, REFUSED } from './words.ts';

export const FIAT_WITHDRAWAL: Static<typeof TransferShape> = {
  ...EXAMPLE_TRANSFER,
  id: '019bc0fd-8ba2-739a-939a-606a3d832b86',
  amount: '1500',
  total: '1520',
  fee: '20',
  asset: 'USD',
  type: 'WIRE_WITHDRAWAL',
  status: 'PENDING',
  ref_id: 'payout-3310',
  balance_asset: 'USD',
  fiat_account_id: EXAMPLE_IDS.fiatAccount,
  secondary_status: awaitingApproval({ id: EXAMPLE_IDS.fiatAccount }),
  memo: 'Invoice 2041',
};

export const RELEASED_WITHDRAWAL: Static<typeof TransferShape> = {
  ...CRYPTO_WITHDRAWAL,
  secondary_status: queued('BITCOIN'),
};

export const REFUSED_WITHDRAWAL: Static<typeof TransferShape> = {
  ...CRYPTO_WITHDRAWAL,
  status: 'FAILED',
  secondary_status: REFUSED,
};

export const WITHDRAWAL_NOTE = {
  kind: 'RELEASED',
  detail: 'The invoice was checked with the payee: CASE-2311.',
  noted_by: `client:${EXAMPLE_IDS.operator}`,
  created_at: EXAMPLE_AT,
} as const;

export const OPEN_WITHDRAWAL = {
  transfer_id: EXAMPLE_IDS.cryptoWithdrawal,
  customer_id: EXAMPLE_IDS.customer,
  profile_id: EXAMPLE_IDS.profile,
  rail: 'BITCOIN',
  state: 'QUEUED',
  attempts: 0,
  failures: 0,
  asset: 'BTC',
  amount: '0.05',
  created_at: EXAMPLE_AT,
  waits_for: queued('BITCOIN').name,
  detail: queued('BITCOIN').detail,
} as const;

export const RAIL_CONTRADICTION = {
  transfer_id: EXAMPLE_IDS.cryptoWithdrawal,
  rail: 'BITCOIN',
  reported: 'COMPLETED',
  recorded: 'FAILED',
  detail: '3 confirmations on BITCOIN.',
  created_at: EXAMPLE_AT,
} as const;

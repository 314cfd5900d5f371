import type { Static } from 'typebox';
import { EXAMPLE_IDS } from '../kernel/examples.ts';
import { EXAMPLE_TRANSFER } from './examples.ts';
import type { BulkTransferRequest, bulkShape } from './schema.ts';

/** The bulk of the API reference. A test compares its answer with a real one. */
type Request = Static<typeof BulkTransferRequest>;
type Results = Static<ReturnType<typeof bulkShape>>['results'];

const RECIPIENT = '01981b40-0d91-7a53-8b27-64c0f1a97e15';
const [FIRST, SECOND] = [
  { amount: '2150', ref_id: 'salary-2026-11-0001' },
  { amount: '1980.5', ref_id: 'salary-2026-11-0002' },
];

const order = (one: typeof FIRST): Request['transfers'][number] => ({
  from_profile_id: EXAMPLE_IDS.profile,
  to_profile_id: RECIPIENT,
  asset: 'USD',
  ...one,
});

const result = ({ amount, ref_id }: typeof FIRST, group: string): Results[number] => ({
  ref_id,
  status: 200,
  transfer: {
    ...EXAMPLE_TRANSFER,
    id: `${group}1`,
    amount,
    total: amount,
    fee: '0',
    asset: 'USD',
    type: 'PLATFORM_TRANSFER_DEBIT',
    status: 'COMPLETED',
    ref_id,
    balance_asset: 'USD',
    auto_conversion: {},
    group_id: `${group}0`,
  },
});

export const BULK_REQUEST: Request = { transfers: [order(FIRST), order(SECOND)], atomic: true };

export const BULK_ANSWER: { results: Results } = {
  results: [
    result(FIRST, '019bc0fd-8ba2-74c1-91d7-5c0de28f713'),
    result(SECOND, '019bc0fd-8ba2-7d02-a6b4-07f9c2e1b58'),
  ],
};

import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS } from '../kernel/examples.ts';
import type { JournalBody, JournalEntryShape } from './schema.ts';

type Entry = Static<typeof JournalEntryShape>;

const ACTOR = 'ferry_b4347fb43a4afb2b9f86baf8';

export const WRITE_OFF_REQUEST: JournalBody = {
  kind: 'WRITE_OFF',
  ref_id: 'write-off-0001',
  reason: 'Remainder of a closed profile.',
  reference: 'CASE-1042',
  note: 'Remainder of your closed profile',
  profile_id: EXAMPLE_IDS.profile,
  asset: 'USD',
  amount: '0.5',
};

export const WRITE_OFF: Entry = {
  id: '019bc0fd-8ba2-74c1-84c1-9d0f6a2b7e35',
  kind: 'WRITE_OFF',
  actor: ACTOR,
  ref_id: 'write-off-0001',
  reason: 'Remainder of a closed profile.',
  reference: 'CASE-1042',
  note: 'Remainder of your closed profile',
  created_at: EXAMPLE_AT,
  asset: 'USD',
  amount: '0.5',
  profile_ids: [EXAMPLE_IDS.profile],
  postings: [
    {
      asset: 'USD',
      amount: '0.5',
      from: { profile_id: EXAMPLE_IDS.profile },
      to: { account: 'treasury' },
    },
  ],
};

const ended = {
  actor: ACTOR,
  created_at: EXAMPLE_AT,
  asset: 'BTC',
  amount: '0.0501',
  profile_ids: [EXAMPLE_IDS.profile],
  corrects: { type: 'TRANSFER', id: EXAMPLE_IDS.cryptoWithdrawal },
  transfer_id: EXAMPLE_IDS.cryptoWithdrawal,
  postings: [],
} as const;

export const RESOLVED: Entry = {
  ...ended,
  profile_ids: [...ended.profile_ids],
  postings: [],
  id: '019bc0fd-8ba2-74d7-a4d7-05c8e1f93b26',
  kind: 'WITHDRAWAL_RESOLUTION',
  ref_id: 'resolution-0001',
  reason: 'The custodian has no such transaction, and confirms that in writing.',
  reference: 'CASE-1043',
  outcome: 'NOT_PAID',
};

export const CANCELLED: Entry = {
  ...ended,
  profile_ids: [...ended.profile_ids],
  postings: [],
  id: '019bc0fd-8ba2-74e9-b4e9-71d2a0c64f58',
  kind: 'WITHDRAWAL_CANCELLATION',
  ref_id: 'cancellation-0001',
  reason: 'The customer called: wrong address.',
  reference: 'CASE-1044',
};

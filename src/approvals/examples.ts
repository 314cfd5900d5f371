import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS, EXAMPLE_LATER } from '../kernel/examples.ts';
import type { ApprovalShape, ClaimShape } from './schema.ts';

type Shape = Static<typeof ApprovalShape>;

export const APPROVAL_DIGEST = 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg';

const MAKER = {
  kind: 'CLIENT',
  id: 'f81f7a43-8c4e-4a0c-9e0f-5a3b8f0c1d27',
  customer_id: EXAMPLE_IDS.operator,
  name: 'back office',
  from: '192.0.2.10',
  request_id: '019bc0fd-8ba2-7c11-8d02-3b6f0a91e5d4',
} as const;

const APPROVER = {
  ...MAKER,
  id: '2c9b1e7d-5f60-4d3a-b8a1-7e4f92d0c653',
  name: 'controller',
  from: '192.0.2.11',
  request_id: '019bc0fd-8ba2-7c12-9a4e-60d1c8f27b35',
} as const;

const proposal = {
  asset: 'USD',
  profile_id: EXAMPLE_IDS.profile,
  amount: '12.5',
  kind: 'WRITE_OFF',
  ref_id: 'goodwill-0001',
  reason: 'Goodwill after the outage.',
  reference: 'CASE-1042',
};

export const WAITING: Shape = {
  id: '019bc0fd-8ba2-7a30-b1c5-94e6f20d7a81',
  action: 'journal_entry.book',
  level: 'OPERATOR',
  status: 'PENDING',
  summary: 'Book a journal entry: WRITE_OFF of 12.5 USD. Goodwill after the outage.',
  proposal,
  digest: APPROVAL_DIGEST,
  maker: MAKER,
  quorum: 1,
  votes: [],
  ref_id: 'goodwill-0001',
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
  expires_at: '2026-01-22T09:30:00.482193Z',
};

const REASON = 'Checked with support.';

export const EXECUTED: Shape = {
  ...WAITING,
  status: 'EXECUTED',
  votes: [{ decision: 'APPROVED', by: APPROVER, created_at: EXAMPLE_LATER, reason: REASON }],
  result: { type: 'journal_entry', id: '019bc0fd-8ba2-74e7-a2c1-5d3fe8b06a94' },
  updated_at: EXAMPLE_LATER,
};

export const REJECTED: Shape = {
  ...WAITING,
  status: 'REJECTED',
  votes: [{ decision: 'REJECTED', by: APPROVER, created_at: EXAMPLE_LATER, reason: REASON }],
  updated_at: EXAMPLE_LATER,
};

/** Of a request to create a client. */
export const CLAIM: Static<typeof ClaimShape> = {
  approval_id: WAITING.id,
  client_id: 'ferry_b4347fb43a4afb2b9f86baf8',
  secret_id: '019bc0fd-8ba2-7e91-9b3d-7c1f5a20d684',
  client_secret: 'ferry_secret_EXAMPLE-f3b1c0de9a8d7c6b5a493827160f5e4d',
};

/** Of a request to add a person. */
export const OWN_CLAIM: Static<typeof ClaimShape> = {
  approval_id: WAITING.id,
  person_id: '019bc0fd-8ba2-7a17-9c3e-51d08f6b2e49',
  enrolment_url: 'https://example.com/signin/enrol#Zm9yLW9uZS1wZXJzb24tYW5kLW9ubHktb25jZS0tLS0',
  enrolment_expires_at: '2026-01-18T09:30:00.482193Z',
};

export const VOTE = { digest: APPROVAL_DIGEST, reason: REASON };

/** Of a customer: held by the policy of that customer. */
export const OWN_WAITING: Shape = { ...WAITING, level: 'CUSTOMER' };

import { EXAMPLE_AT, EXAMPLE_IDS, EXAMPLE_LATER } from '../kernel/examples.ts';

export const FREEZE = {
  id: '019bc0fd-8ba2-7c55-8d10-5f0b7a3e9c21',
  scope: 'PROFILE',
  subject_id: EXAMPLE_IDS.profile,
  status: 'IN_FORCE',
  reason: 'Credentials of the customer are for sale: CASE-2207.',
  frozen_by: `client:${EXAMPLE_IDS.operator}`,
  created_at: EXAMPLE_AT,
} as const;

export const FROZEN = { ...FREEZE, in_force: true, submissions_under_way: 0 } as const;

export const LIFTED = {
  ...FREEZE,
  status: 'LIFTED',
  lifted_by: `client:${EXAMPLE_IDS.operator}`,
  lifted_because: 'New credentials were issued: CASE-2207.',
  lifted_at: EXAMPLE_LATER,
} as const;

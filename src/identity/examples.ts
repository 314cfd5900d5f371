import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS, EXAMPLE_LATER } from '../kernel/examples.ts';
import type { AccountShape, AddedMembers, IdentityShape, RemovedMember } from './schema.ts';

const times = { created_at: EXAMPLE_AT, updated_at: EXAMPLE_AT } as const;

export const IDENTITY: Static<typeof IdentityShape> = {
  ...times,
  id: EXAMPLE_IDS.identity,
  type: 'PERSON',
  status: 'APPROVED',
  person_details: { first_name: 'Grace', last_name: 'Hopper' },
};

export const UPDATED_IDENTITY: Static<typeof IdentityShape> = {
  ...IDENTITY,
  updated_at: EXAMPLE_LATER,
  person_details: { first_name: 'Grace', last_name: 'Murray' },
};

/** One without a profile of its own. */
export const ACCOUNT: Static<typeof AccountShape> = {
  ...times,
  id: EXAMPLE_IDS.account,
  identity_id: EXAMPLE_IDS.identity,
  type: 'BROKERAGE',
  members: [],
};

const MEMBER_ID = '019bc0fd-8ba2-7295-a295-602142ee384d';

export const CREATED_ACCOUNT: Static<typeof AccountShape> = {
  ...ACCOUNT,
  members: [{ id: MEMBER_ID, identity_id: EXAMPLE_IDS.identity, roles: ['AUTHORIZED_USER'] }],
  profile_id: EXAMPLE_IDS.profile,
  ref_id: 'account-0007',
};

export const UPDATED_ACCOUNT: Static<typeof AccountShape> = {
  ...ACCOUNT,
  description: 'Long-term savings',
  updated_at: EXAMPLE_LATER,
};

export const ADDED_MEMBERS: Static<typeof AddedMembers> = {
  account_id: EXAMPLE_IDS.account,
  members: [{ id: MEMBER_ID, identity_id: EXAMPLE_IDS.identity, roles: ['AUTHORIZED_USER'] }],
};

export const REMOVED_MEMBER: Static<typeof RemovedMember> = {
  id: MEMBER_ID,
  account_id: EXAMPLE_IDS.account,
  identity_id: EXAMPLE_IDS.identity,
  roles: ['FINANCIAL_ADVISOR'],
};

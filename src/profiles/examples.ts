import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS, EXAMPLE_LATER } from '../kernel/examples.ts';
import type { BalanceShape, ProfileShape } from './schema.ts';

export const PROFILE: Static<typeof ProfileShape> = {
  id: EXAMPLE_IDS.profile,
  nickname: 'Treasury',
  type: 'DEFAULT',
  description: 'Where customers are paid from',
  status: 'ACTIVE',
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
};

export const UPDATED_PROFILE: Static<typeof ProfileShape> = {
  ...PROFILE,
  nickname: 'Operations',
  type: 'NORMAL',
  updated_at: EXAMPLE_LATER,
};

export const DEACTIVATED_PROFILE: Static<typeof ProfileShape> = {
  id: EXAMPLE_IDS.profile,
  nickname: 'Old treasury',
  type: 'NORMAL',
  status: 'DISABLED',
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_LATER,
};

export const BALANCE: Static<typeof BalanceShape> = {
  asset: 'USD',
  available: '1000000',
  held: '0',
  trading: '0',
};

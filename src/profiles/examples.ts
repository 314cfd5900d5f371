import type { Static } from 'typebox';
import { EXAMPLE_IDS } from '../kernel/examples.ts';
import type { BalanceShape, ProfileShape } from './schema.ts';

export const PROFILE: Static<typeof ProfileShape> = {
  id: EXAMPLE_IDS.profile,
  nickname: 'Treasury',
  type: 'DEFAULT',
  description: 'Where customers are paid from',
};

export const BALANCE: Static<typeof BalanceShape> = {
  asset: 'USD',
  available: '1000000',
  held: '0',
  trading: '0',
};

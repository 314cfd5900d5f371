import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS } from '../kernel/examples.ts';
import type { EntryShape, StatementShape, SystemEntryShape, TrialBalanceShape } from './schema.ts';

const DEPOSIT = '019bc0fd-8ba2-73e1-93e1-4c7d20f8a916';
const CAUSE = { type: 'TRANSFER', id: DEPOSIT, kind: 'WIRE_DEPOSIT' } as const;

export const ENTRY: Static<typeof EntryShape> = {
  at: EXAMPLE_AT,
  asset: 'USD',
  account: 'available',
  direction: 'CREDIT',
  amount: '1250',
  balance_after: '1250',
  cause: CAUSE,
};

export const STATEMENT: Static<typeof StatementShape> = {
  profile_id: EXAMPLE_IDS.profile,
  asset: 'USD',
  from: '2026-01-15T00:00:00Z',
  to: '2026-01-16T00:00:00Z',
  opening: { total: '0', available: '0', held: '0' },
  closing: { total: '1250', available: '1250', held: '0' },
  movements: [{ at: EXAMPLE_AT, direction: 'CREDIT', amount: '1250', balance_after: '1250', cause: CAUSE }],
};

export const TRIAL_BALANCE: Static<typeof TrialBalanceShape> = {
  at: EXAMPLE_AT,
  assets: [
    {
      asset: 'USD',
      accounts: [
        { account: 'available', balance: '1250' },
        { account: 'held', balance: '0' },
        { account: 'clearing:wire', balance: '-1250' },
      ],
      total: '0',
    },
  ],
};

export const SYSTEM_ENTRY: Static<typeof SystemEntryShape> = {
  at: EXAMPLE_AT,
  asset: 'USD',
  account: 'clearing:wire',
  direction: 'DEBIT',
  amount: '1250',
  profile_id: EXAMPLE_IDS.profile,
  cause: CAUSE,
};

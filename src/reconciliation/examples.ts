import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_LATER } from '../kernel/examples.ts';
import type {
  BalanceRequest,
  BalanceShape,
  ImportedShape,
  ImportRequest,
  ItemList,
  MatchShape,
} from './schema.ts';

const ACTOR = 'ferry_b4347fb43a4afb2b9f86baf8';

export const IMPORT: Static<typeof ImportRequest> = {
  account: 'clearing:wire',
  format: 'CSV',
  statement_id: '2026-01-15',
  content: 'at,asset,direction,amount,reference\n2026-01-15,USD,CREDIT,1250.00,FT26015X7781\n',
};

export const IMPORTED: Static<typeof ImportedShape> = {
  id: '019bc0fd-8ba2-7512-9512-60b3d7e4f1a8',
  account: 'clearing:wire',
  statement_id: '2026-01-15',
  asset: 'USD',
  format: 'CSV',
  line_count: 1,
  actor: ACTOR,
};

export const ITEM: Static<typeof ItemList>['items'][number] = {
  id: '019bc0fd-8ba2-7523-a523-17c8f0e5d29b',
  side: 'STATEMENT',
  account: 'clearing:wire',
  asset: 'USD',
  direction: 'CREDIT',
  amount: '1250',
  reference: 'FT26015X7781',
  since: '2026-01-15T00:00:00Z',
  imported_statement_id: IMPORTED.id,
};

export const MATCH: Static<typeof MatchShape> = {
  id: '019bc0fd-8ba2-7534-b534-28d9a1f6e3ac',
  account: 'clearing:wire',
  actor: ACTOR,
  reason: 'A payment and its return, both before the go-live.',
  created_at: EXAMPLE_AT,
};

export const REMOVED: Static<typeof MatchShape> = {
  ...MATCH,
  removed_by: ACTOR,
  removed_because: 'Two different payments.',
  removed_at: EXAMPLE_LATER,
};

export const BALANCE_REQUEST: Static<typeof BalanceRequest> = {
  account: 'clearing:wire',
  asset: 'USD',
  at: EXAMPLE_AT,
  balance: '1250',
  reference: '2026-01-15',
};

export const BALANCE: Static<typeof BalanceShape> = {
  id: '019bc0fd-8ba2-7556-8556-4afbc318a5ce',
  ...BALANCE_REQUEST,
  ledger_balance: '0',
  difference: '1250',
  unexplained: '0',
  actor: ACTOR,
  created_at: EXAMPLE_LATER,
};

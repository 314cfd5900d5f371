import { listQuery, listShape } from '../kernel/paging.ts';
import { AmountOut, AssetCode, closed, DateTime, Id, LABEL_PATTERN } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';

const Account = Type.String({
  pattern: '^(treasury|clearing:[a-z0-9_]{1,60})$',
  description: '`treasury` or `clearing:<rail>`',
  examples: ['clearing:wire'],
});
const Text = (description: string) =>
  Type.String({ minLength: 1, maxLength: LIMITS.journalTextMax, pattern: LABEL_PATTERN, description });
const Reason = Text('Why; for operators only');

const Balance = (description: string) =>
  Type.String({ description: `${description}; negative if it is owed`, examples: ['12.5', '-0.01'] });

export const ImportRequest = Type.Object(
  {
    account: Account,
    format: Type.Enum(['CAMT053', 'CSV']),
    statement_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: LIMITS.depositTextMax,
        pattern: LABEL_PATTERN,
        description: "The bank's id of the statement; of a camt.053 its own",
      }),
    ),
    content: Type.String({
      minLength: 1,
      description: 'The file. CSV has the columns at, asset, direction, amount and reference',
    }),
  },
  { ...closed, title: 'ImportStatementRequest' },
);

export const ImportedShape = Type.Object(
  {
    id: Id('Identifier'),
    account: Type.String({ description: 'Account' }),
    statement_id: Type.String({ description: "The bank's id" }),
    asset: AssetCode('Asset'),
    format: Type.Enum(['CAMT053', 'CSV']),
    line_count: Type.Integer({ description: 'Booked lines' }),
    closing_difference: Type.Optional(
      Balance('The closing balance of a camt.053, less that of the ledger at that time'),
    ),
    actor: Type.String({ description: 'The client that imported it' }),
  },
  { ...closed, title: 'ImportedStatement' },
);

export const BalanceRequest = Type.Object(
  {
    account: Account,
    asset: AssetCode('Asset'),
    at: DateTime('When the balance was that'),
    balance: Type.String({
      pattern: '^-?[0-9]{1,60}(\\.[0-9]{1,30})?$',
      description: 'What was there',
      examples: ['12.5'],
    }),
    reference: Text('The statement, or the block'),
  },
  { ...closed, title: 'ReportBalanceRequest' },
);

export const BalanceShape = Type.Object(
  {
    id: Id('Identifier'),
    account: Type.String({ description: 'Account' }),
    asset: AssetCode('Asset'),
    at: DateTime('When the balance was that'),
    reference: Type.String({ description: 'The statement, or the block' }),
    balance: Balance('What was there'),
    ledger_balance: Balance('What the ledger had at that time'),
    difference: Balance('What was there in excess of the ledger'),
    unexplained: Balance('The difference without the items that are on one side only'),
    actor: Type.String({ description: 'The client that reported it' }),
    created_at: DateTime('When it was reported'),
  },
  { ...closed, title: 'ReportedBalance' },
);

export const BalanceQuery = listQuery({ account: Account }, ['created_at']);
export const BalanceList = listShape(BalanceShape, 'ReportedBalanceList');

const ItemShape = Type.Object(
  {
    id: Id('Identifier'),
    side: Type.Enum(['LEDGER', 'STATEMENT'], { description: 'Where it is' }),
    account: Type.String({ description: 'Account' }),
    asset: AssetCode('Asset'),
    direction: Type.Enum(['CREDIT', 'DEBIT'], { description: 'As the bank sees it: CREDIT came in' }),
    amount: AmountOut('Amount'),
    reference: Type.String({
      description: "The bank's reference, the transaction, or the id of the transfer",
    }),
    since: DateTime('When it was booked'),
    cause_id: Type.Optional(Id('Of the entries of the ledger')),
    imported_statement_id: Type.Optional(Id('The statement that was imported')),
  },
  { ...closed, title: 'ReconciliationItem' },
);

export const UnmatchedQuery = listQuery(
  {
    account: Account,
    side: Type.Optional(Type.Enum(['LEDGER', 'STATEMENT'], { description: 'Default both' })),
  },
  ['created_at'],
);
export const ItemList = listShape(ItemShape, 'ReconciliationItemList');

export const MatchRequest = Type.Object(
  {
    item_ids: Type.Array(Id('Item'), { minItems: 2, maxItems: LIMITS.matchedItemsMax, uniqueItems: true }),
    reason: Reason,
  },
  { ...closed, title: 'MatchRequest' },
);
export const UnmatchRequest = Type.Object({ reason: Reason }, { ...closed, title: 'UnmatchRequest' });

export const MatchShape = Type.Object(
  {
    id: Id('Identifier'),
    account: Type.String({ description: 'Account' }),
    actor: Type.Optional(Type.String({ description: 'The client; absent if it was matched automatically' })),
    reason: Type.Optional(Type.String({ description: 'Why' })),
    created_at: DateTime('When'),
    removed_by: Type.Optional(Type.String({ description: 'The client that removed it' })),
    removed_because: Type.Optional(Type.String({ description: 'Why' })),
    removed_at: Type.Optional(DateTime('When')),
  },
  { ...closed, title: 'Match' },
);

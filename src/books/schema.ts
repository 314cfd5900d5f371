import { listQuery, listShape } from '../kernel/paging.ts';
import { AmountOut, AssetCode, closed, DateTime, Id } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';

const DIRECTION = Type.Enum(['CREDIT', 'DEBIT'], { description: 'CREDIT adds to the balance' });

export const CauseShape = Type.Object(
  {
    type: Type.Enum(['TRANSFER', 'SETTLEMENT', 'JOURNAL_ENTRY', 'SUSPENSE_DEPOSIT', 'CONVERSION', 'UNKNOWN']),
    id: Id('The transfer, settlement transaction, journal entry or suspense deposit'),
    kind: Type.Optional(Type.String({ description: 'Type of the transfer, or kind of the journal entry' })),
    ref_id: Type.Optional(Type.String({ description: 'Of the transfer' })),
    note: Type.Optional(Type.String({ description: 'Of the journal entry, for you' })),
  },
  { ...closed, title: 'Cause', description: 'Why value moved' },
);

export const EntryShape = Type.Object(
  {
    at: DateTime('Its instant: entries of a profile and asset are strictly ordered by it'),
    asset: AssetCode('Asset'),
    account: Type.Enum(['available', 'held']),
    direction: DIRECTION,
    amount: AmountOut('Amount'),
    balance_after: AmountOut('Balance of the account after it'),
    cause: CauseShape,
  },
  { ...closed, title: 'Entry' },
);

const Asset = AssetCode('Asset');

export const EntriesQuery = listQuery(
  {
    asset: Asset,
    account: Type.Optional(Type.Enum(['available', 'held'], { description: 'Default both' })),
  },
  ['created_at'],
);
export const EntryList = listShape(EntryShape, 'EntryList');

const PositionShape = Type.Object(
  {
    total: AmountOut('What the profile owns: available and held'),
    available: AmountOut('Amount that can be spent'),
    held: AmountOut('Amount that is reserved by pending withdrawals'),
  },
  { ...closed, title: 'Position' },
);

export const StatementShape = Type.Object(
  {
    profile_id: Id('Profile'),
    asset: Asset,
    from: DateTime('Start of the period, inclusive'),
    to: DateTime('End of the period, exclusive'),
    opening: PositionShape,
    closing: PositionShape,
    movements: Type.Array(
      Type.Object(
        {
          at: DateTime('When'),
          direction: DIRECTION,
          amount: AmountOut('Amount'),
          balance_after: AmountOut('The total after it'),
          cause: CauseShape,
        },
        { ...closed, title: 'Movement' },
      ),
      { description: 'Oldest first. Value that is put on hold or released is not a movement' },
    ),
  },
  { ...closed, title: 'Statement' },
);

export const StatementQuery = Type.Object(
  {
    asset: Asset,
    from: DateTime('Start of the period, inclusive'),
    to: Type.Optional(DateTime('End of the period, exclusive; default as late as is final')),
  },
  closed,
);

const signed = {
  balance: Type.Optional(AmountOut('Signed; absent while the asset is not configured')),
  balance_units: Type.Optional(Type.String({ description: 'Only while the asset is not configured' })),
};

export const TrialBalanceShape = Type.Object(
  {
    at: DateTime('The instant of the balances, inclusive'),
    assets: Type.Array(
      Type.Object(
        {
          asset: Asset,
          accounts: Type.Array(
            Type.Object(
              {
                account: Type.String({
                  description:
                    '`available` and `held`: of all profiles together; otherwise an account of the service',
                }),
                ...signed,
              },
              { ...closed, title: 'AccountBalance' },
            ),
          ),
          total: AmountOut('The sum of the accounts: "0", or the ledger is broken'),
        },
        { ...closed, title: 'AssetTrialBalance' },
      ),
    ),
  },
  { ...closed, title: 'TrialBalance' },
);

export const TrialBalanceQuery = Type.Object(
  { at: Type.Optional(DateTime('Default as late as is final')) },
  closed,
);

/** Names of the service's accounts. */
const SYSTEM_ACCOUNT = '^(fees|conversion|suspense|treasury|[a-z-]+:[a-z0-9_:-]{1,60})$';

export const AccountParams = Type.Object(
  {
    account: Type.String({
      pattern: SYSTEM_ACCOUNT,
      description: 'Account of the service',
      examples: ['clearing:wire'],
    }),
  },
  closed,
);

export const SystemEntryShape = Type.Object(
  {
    at: DateTime('Its instant'),
    asset: Asset,
    account: Type.String({ description: 'Account of the service' }),
    direction: DIRECTION,
    amount: AmountOut('Amount'),
    profile_id: Type.Optional(Id('The profile on the other side, of any customer')),
    cause: CauseShape,
  },
  { ...closed, title: 'SystemEntry' },
);

export const SystemEntriesQuery = listQuery({ asset: Asset }, ['created_at']);
export const SystemEntryList = listShape(SystemEntryShape, 'SystemEntryList');

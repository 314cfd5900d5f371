import { listQuery, listShape, One, Several } from '../kernel/paging.ts';
import { Amount, AmountOut, AssetCode, closed, DateTime, Id, RefId } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { LEG_DIRECTIONS, SETTLEMENT_STATUSES } from './transaction.ts';

const LegDirection = Type.Enum([...LEG_DIRECTIONS], {
  description: 'DELIVER: from the source to the target; RECEIVE: from the target to the source',
});

const Status = Type.Enum([...SETTLEMENT_STATUSES]);

const LegShape = Type.Object(
  {
    id: Id('Leg identifier'),
    direction: LegDirection,
    asset: AssetCode('Asset that moves'),
    amount: AmountOut('Amount that moves'),
  },
  { ...closed, title: 'SettlementLeg' },
);

export const SettlementTransactionShape = Type.Object(
  {
    id: Id('Transaction identifier'),
    ref_id: Type.String({
      description: 'Idempotency key of the source; assigned by the service if none was sent',
    }),
    settlement_window_start: DateTime('The transaction can settle from this time on'),
    settlement_window_end: DateTime(
      'The transaction expires at this time unless it has settled or was cancelled',
    ),
    source_profile_id: Id('Profile of the party that submitted the transaction'),
    target_profile_id: Id('Profile of the party that receives the transaction'),
    legs: Type.Array(LegShape, {
      description: 'One-way asset movements settled atomically, in request order',
    }),
    status: Status,
    secondary_status: Type.Optional(
      Type.Object(
        {
          name: Type.String({ description: 'What the transaction is waiting for' }),
          detail: Type.String({ description: 'The same as a sentence' }),
        },
        closed,
      ),
    ),
    created_at: DateTime('Creation time'),
    updated_at: DateTime('Last update time'),
  },
  { ...closed, title: 'SettlementTransaction' },
);

export const SettlementTransactionRequest = Type.Object(
  {
    source_profile_id: Id('Your profile'),
    target_profile_id: Id('Profile of the other party'),
    legs: Type.Array(
      Type.Object(
        {
          direction: LegDirection,
          asset: AssetCode('Asset to move'),
          amount: Amount('Amount to move'),
        },
        closed,
      ),
      {
        minItems: 1,
        maxItems: LIMITS.settlementLegsMax,
        description: `Obligations settled atomically, 1 to ${LIMITS.settlementLegsMax}`,
      },
    ),
    ref_id: Type.Optional(RefId),
    settlement_window_start: Type.Optional(DateTime('Default: now')),
    settlement_window_end: Type.Optional(
      DateTime('Default: 24 hours after the start. Must be in the future, at most 90 days from now'),
    ),
  },
  { ...closed, title: 'SettlementTransactionRequest' },
);

export const SettlementTransactionQuery = listQuery(
  {
    ids: Several(Id('Transaction identifier'), 'Transactions with these ids'),
    ref_ids: Several(RefId, 'Transactions that you submitted with these ref_ids'),
    profile_ids: Several(
      Id('Profile identifier'),
      'Transactions with one of these profiles as source or target',
    ),
    source_profile_id: One(Id('Profile identifier'), 'Transactions with this profile as source'),
    target_profile_id: One(Id('Profile identifier'), 'Transactions with this profile as target'),
    statuses: Several(Status, 'Transactions with these statuses'),
    secondary_statuses: Several(
      Type.String({ minLength: 1, maxLength: LIMITS.secondaryStatusLengthMax }),
      'Transactions whose `secondary_status` has one of these names',
    ),
  },
  ['created_at', 'updated_at'],
);

export const SettlementTransactionList = listShape(SettlementTransactionShape, 'SettlementTransactionList');

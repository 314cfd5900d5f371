import { Type } from 'typebox';
import { listQuery, listShape, Several } from '../kernel/paging.ts';
import { Amount, AmountOut, AssetCode, closed, DateTime, Id, RefId } from '../kernel/shapes.ts';
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
    amount: AmountOut('How much of it moves'),
  },
  { ...closed, title: 'SettlementLeg' },
);

export const SettlementTransactionShape = Type.Object(
  {
    id: Id('Transaction identifier'),
    ref_id: Type.String({
      description: 'Idempotency key of the source; assigned by the service if none was sent',
    }),
    settlement_window_start: DateTime('From then on the transaction is eligible for settlement'),
    settlement_window_end: DateTime('Neither cancelled nor settled by then, the transaction expires'),
    source_profile_id: Id('Profile of the party that submitted the transaction'),
    target_profile_id: Id('Profile of the party that receives the transaction'),
    legs: Type.Array(LegShape, {
      description: 'One-way asset movements settled atomically, in request order',
    }),
    status: Status,
    secondary_status: Type.Optional(
      Type.Object(
        {
          name: Type.String({ description: 'What the transaction waits for' }),
          detail: Type.String({ description: 'The same in words' }),
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
          amount: Amount('How much of it to move'),
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
      DateTime('Default: 24 hours after the start. In the future, and at most 90 days away'),
    ),
  },
  { ...closed, title: 'SettlementTransactionRequest' },
);

export const SettlementTransactionQuery = listQuery(
  {
    ids: Several(Id('Transaction identifier'), 'Transactions with these ids'),
    ref_ids: Several(RefId, 'Transactions that you submitted with these ref_ids'),
    profile_ids: Several(Id('Profile identifier'), 'Transactions with one of these as source or target'),
    statuses: Several(Status, 'Transactions in these states'),
  },
  ['created_at', 'updated_at'],
);

export const SettlementTransactionList = listShape(SettlementTransactionShape, 'SettlementTransactionList');

import type { Static } from 'typebox';
import { listQuery, listShape, Several } from '../kernel/paging.ts';
import {
  Amount,
  AmountOut,
  AssetCode,
  closed,
  DateTime,
  Id,
  LABEL_PATTERN,
  RefId,
} from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { NETWORKS, type Networks, type RailName } from '../networks/register.ts';
import { withProperties } from '../networks/schema.ts';
import { clearingAccount } from '../transfers/rails.ts';
import { BOOKED_KIND_NAMES, JOURNAL_KINDS } from './kinds.ts';

const Text = (description: string, maxLength: number = LIMITS.journalTextMax) =>
  Type.String({ minLength: 1, maxLength, pattern: LABEL_PATTERN, description });

const railNames = ({ fiatKinds, cryptoNetworks }: Networks): RailName[] => [...fiatKinds, ...cryptoNetworks];

const railName = (networks: Networks) => Type.Enum(railNames(networks), { description: 'Rail' });

/** Accounts of the service that a correction may name. What is in suspense is credited or returned instead. */
const systemAccountName = (networks: Networks) =>
  Type.Enum(
    ['fees', 'conversion', 'treasury', ...railNames(networks).map((rail) => clearingAccount(rail).account)],
    { description: 'Account of the service' },
  );

const side = (networks: Networks, description: string) =>
  Type.Object(
    {
      profile_id: Type.Optional(Id('Profile, of any customer')),
      account: Type.Optional(systemAccountName(networks)),
    },
    { ...closed, description: `${description}: exactly one of profile_id and account` },
  );

const CorrectsShape = Type.Object(
  {
    type: Type.Enum(['TRANSFER', 'SETTLEMENT', 'JOURNAL_ENTRY']),
    id: Id('Transfer (withdrawal, deposit, or either side), settlement transaction or journal entry'),
    leg_id: Type.Optional(Id('Only this leg of a settlement transaction')),
  },
  { ...closed, description: 'What the entry corrects' },
);

/** The fields of every journal entry. */
const common = {
  ref_id: RefId,
  reason: Text('Why; for operators, never shown to customers'),
  reference: Text(
    "The evidence outside: the bank's reference, the transaction hash, or the number of a case",
    LIMITS.depositTextMax,
  ),
  note: Type.Optional(Text('Shown to the customers concerned, in their events')),
};

const JournalRequest = Type.Object(
  {
    kind: Type.Enum([...BOOKED_KIND_NAMES]),
    ...common,
    profile_id: Type.Optional(Id('Profile, of any customer')),
    asset: Type.Optional(AssetCode('Asset')),
    amount: Type.Optional(Amount('Amount')),
    rail: Type.Optional(railName(NETWORKS)),
    account: Type.Optional(
      Text("The operator's own account at the bank, or the address on the chain", LIMITS.depositTextMax),
    ),
    output: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LIMITS.outputNumberMax,
        description:
          'On a chain: the number of the output, log or instruction; absent: all of the asset that the transaction paid to the account',
      }),
    ),
    transfer_id: Type.Optional(Id('Withdrawal')),
    suspense_deposit_id: Type.Optional(Id('Suspense deposit')),
    source: Type.Optional(Type.Enum(['fees', 'conversion'])),
    corrects: Type.Optional(CorrectsShape),
    from: Type.Optional(side(NETWORKS, 'Where the value comes from')),
    to: Type.Optional(side(NETWORKS, 'Where the value goes')),
  },
  { ...closed, title: 'JournalEntryRequest' },
);

export type JournalBody = Static<typeof JournalRequest>;

export const journalRequest = (networks: Networks) =>
  withProperties(JournalRequest, {
    rail: Type.Optional(railName(networks)),
    from: Type.Optional(side(networks, 'Where the value comes from')),
    to: Type.Optional(side(networks, 'Where the value goes')),
  });

export const ResolveRequest = Type.Object(
  {
    outcome: Type.Enum(['PAID', 'NOT_PAID'], {
      description: 'PAID: the withdrawal is COMPLETED. NOT_PAID: it FAILED, and its total returns',
    }),
    ...common,
  },
  { ...closed, title: 'ResolveWithdrawalRequest' },
);

export const CancelRequest = Type.Object(common, { ...closed, title: 'CancelWithdrawalRequest' });

export const CreditSuspenseRequest = Type.Object(
  {
    profile_id: Id('Profile to credit'),
    ref_id: Type.Optional(RefId),
    reason: Type.Optional(common.reason),
    reference: Type.Optional(common.reference),
    note: common.note,
  },
  { ...closed, title: 'CreditSuspenseDepositRequest' },
);

const SideOut = Type.Object(
  {
    profile_id: Type.Optional(Id('Profile')),
    account: Type.Optional(Type.String({ description: 'Account of the service' })),
  },
  closed,
);

const amountOut = {
  amount: Type.Optional(AmountOut('Amount; absent while the asset is not configured')),
  amount_units: Type.Optional(Type.String({ description: 'Only while the asset is not configured' })),
};

export const JournalEntryShape = Type.Object(
  {
    id: Id('Identifier'),
    kind: Type.Enum([...JOURNAL_KINDS]),
    actor: Type.String({ description: 'The client that booked it' }),
    ref_id: RefId,
    reason: Type.String({ description: 'Why' }),
    reference: Type.String({ description: 'The evidence outside' }),
    note: Type.Optional(Type.String({ description: 'What the customers concerned are shown' })),
    created_at: DateTime('When it was booked'),
    asset: Type.Optional(Type.String({ description: 'Asset' })),
    ...amountOut,
    rail: Type.Optional(Type.String({ description: 'Rail' })),
    account: Type.Optional(Type.String({ description: "The operator's own account, or an address" })),
    output: Type.Optional(Type.Integer({ description: 'Number of the output' })),
    profile_ids: Type.Array(Id('Profile'), { description: 'Profiles whose balances changed' }),
    corrects: Type.Optional(CorrectsShape),
    transfer_id: Type.Optional(Id('The transfer that it created or ended')),
    suspense_deposit_id: Type.Optional(Id('The suspense deposit that it credited, returned or created')),
    outcome: Type.Optional(Type.Enum(['PAID', 'NOT_PAID'])),
    postings: Type.Array(
      Type.Object(
        { asset: Type.String({ description: 'Asset' }), ...amountOut, from: SideOut, to: SideOut },
        closed,
      ),
      { description: 'What it moved itself; empty if a transfer moved the value' },
    ),
    reversed_by: Type.Optional(Id('The journal entry that reversed it')),
  },
  { ...closed, title: 'JournalEntry' },
);

export const JournalListQuery = listQuery(
  {
    ids: Several(Id('Journal entry'), 'With these ids'),
    ref_ids: Several(RefId, 'Booked by the caller with these ref_ids'),
    profile_ids: Several(Id('Profile'), 'That changed balances of these profiles'),
    kinds: Several(Type.Enum([...JOURNAL_KINDS]), 'Of these kinds'),
    assets: Several(AssetCode('Asset'), 'That moved these assets'),
  },
  ['created_at'],
);
export type JournalQuery = Static<typeof JournalListQuery>;

export const JournalList = listShape(JournalEntryShape, 'JournalEntryList');

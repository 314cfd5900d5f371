import { listQuery, listShape, Several } from '../kernel/paging.ts';
import {
  Amount,
  AmountOut,
  AssetCode,
  closed,
  DateTime,
  Id,
  LABEL_PATTERN,
  Metadata,
  OPTIONAL_TEXT_PATTERN,
  RefId,
} from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { NETWORKS, type Networks } from '../networks/register.ts';
import { cryptoNetworkName, withProperties } from '../networks/schema.ts';
import { NOTE_KINDS } from './notes.ts';
import { WORK_STATES } from './states.ts';

const Memo = Type.String({
  maxLength: LIMITS.memoLengthMax,
  // A line break could end a field of a bank's message and begin another one.
  pattern: OPTIONAL_TEXT_PATTERN,
  description: `At most ${LIMITS.memoLengthMax} characters; over a bank less: wire 100, cubix 40, bank_network_2 100, bank_network_3 140`,
});

/** Exactly one of the two. Checked by a rule, because the error of a schema would name neither field. */
const amountOrTotal = {
  amount: Type.Optional(Amount('Amount excluding the fee; exactly one of amount and total')),
  total: Type.Optional(Amount('Total including the fee; exactly one of amount and total')),
};

export const FiatWithdrawalRequest = Type.Object(
  {
    asset: AssetCode('Only USD'),
    fiat_account_id: Id('Destination fiat account'),
    profile_id: Id('Profile to withdraw from'),
    ref_id: Type.Optional(RefId),
    ...amountOrTotal,
    identity_id: Type.Optional(Id('Identity of the user; required for third-party integrations')),
    account_id: Type.Optional(Id('Account of that identity; required for third-party integrations')),
    metadata: Type.Optional(Metadata),
    memo: Type.Optional(Memo),
  },
  { ...closed, title: 'FiatWithdrawalRequest' },
);

const Name = Type.String({ minLength: 1, maxLength: LIMITS.beneficiaryNameMax });

const Beneficiary = Type.Object(
  {
    person_details: Type.Optional(Type.Object({ first_name: Name, last_name: Name }, closed)),
    institution_details: Type.Optional(Type.Object({ name: Name }, closed)),
  },
  { ...closed, description: 'The recipient: person_details or institution_details. Stored, never returned.' },
);

export const CryptoWithdrawalRequest = Type.Object(
  {
    profile_id: Id('Profile to withdraw from'),
    destination_address: Type.String({ minLength: 1, description: 'Destination address' }),
    asset: AssetCode('Asset to withdraw'),
    crypto_network: cryptoNetworkName(NETWORKS),
    ref_id: Type.Optional(RefId),
    identity_id: Type.Optional(Id('Identity of the user making the withdrawal')),
    account_id: Type.Optional(Id('Account of that identity')),
    balance_asset: Type.Optional(
      AssetCode("Asset to debit; only for the operator's stablecoin: that asset or USD"),
    ),
    metadata: Type.Optional(Metadata),
    fee_id: Type.Optional(Id('A guaranteed fee')),
    ...amountOrTotal,
    beneficiary: Type.Optional(Beneficiary),
    memo: Type.Optional(Memo),
  },
  { ...closed, title: 'CryptoWithdrawalRequest' },
);

/** The same for another register than the product's. */
export const cryptoWithdrawalRequest = (networks: Networks) =>
  withProperties(CryptoWithdrawalRequest, { crypto_network: cryptoNetworkName(networks) });

/** Without times: the list is ordered by the ids of the transfers, which begin with the time. */
export const OpenWithdrawalQuery = listQuery(
  {
    ids: Several(Id('Withdrawal'), 'Only these withdrawals'),
    states: Several(Type.Enum([...WORK_STATES]), 'In these states'),
    rails: Several(
      Type.String({ minLength: 1, maxLength: LIMITS.cryptoTxHashMax, examples: ['wire'] }),
      'Of these rails',
    ),
  },
  [],
);

export const OpenWithdrawalList = listShape(
  Type.Object(
    {
      transfer_id: Id('The withdrawal'),
      customer_id: Id('Customer identifier'),
      profile_id: Id('Profile whose balance is held'),
      rail: Type.String({ description: 'The rail that pays it' }),
      state: Type.Enum([...WORK_STATES], {
        description: 'UNKNOWN: it is not known whether the rail has the payment',
      }),
      attempts: Type.Integer({ description: 'Requests that were made to the rail' }),
      failures: Type.Integer({ description: 'Consecutive calls of the rail that failed' }),
      submitted_at: Type.Optional(DateTime('When the last request was made')),
      asset: AssetCode('Asset'),
      amount: AmountOut('Amount to be paid'),
      created_at: DateTime('When the withdrawal was requested'),
      waits_for: Type.Optional(
        Type.String({
          description: 'What it waits for: the `name` of its `secondary_status`',
          examples: ['AWAITING_APPROVAL'],
        }),
      ),
      detail: Type.Optional(Type.String({ description: 'The same in words' })),
    },
    { ...closed, title: 'OpenWithdrawal' },
  ),
  'OpenWithdrawalList',
);

export const HeldRequest = Type.Object(
  {
    reason: Type.String({
      minLength: 1,
      maxLength: LIMITS.reasonLengthMax,
      pattern: LABEL_PATTERN,
      description: 'Why. The customer is not shown it.',
    }),
  },
  { ...closed, title: 'HeldWithdrawalRequest' },
);

export const NoteList = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          kind: Type.Enum([...NOTE_KINDS]),
          detail: Type.String({ description: 'In words, for operators only' }),
          noted_by: Type.String({ description: 'Who: `client:<id>`, `rail:<name>` or `hook:<name>`' }),
          created_at: DateTime('When'),
        },
        { ...closed, title: 'WithdrawalNote' },
      ),
    ),
  },
  { ...closed, title: 'WithdrawalNoteList' },
);

export const RailContradictionQuery = listQuery({}, ['created_at']);

export const RailContradictionList = listShape(
  Type.Object(
    {
      transfer_id: Id('The withdrawal'),
      rail: Type.String({ description: 'The rail that sent the report' }),
      reported: Type.Enum(['COMPLETED', 'FAILED']),
      recorded: Type.Enum(['PENDING', 'COMPLETED', 'FAILED'], {
        description: 'PENDING: that rail was not asked to pay it',
      }),
      detail: Type.String({ description: 'The report, in words' }),
      created_at: DateTime('When it was first reported'),
    },
    { ...closed, title: 'RailContradiction' },
  ),
  'RailContradictionList',
);

import type { Static } from 'typebox';
import { Amount as AmountShape, closed } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { HTTP_RAIL_LIMITS } from '../limits-http-rail.ts';

/**
 * What Ferry and an adapter send each other. Requests of Ferry are closed objects in the documentation, so that an adapter can
 * refuse what it does not know; answers of adapters may have more fields, which are ignored.
 */

const { textMax, referenceMax, nextAskMsMin, nextAskMsMax, confirmationsMax, noticesMax } = HTTP_RAIL_LIMITS;

const text = (description: string, maxLength: number = textMax) =>
  Type.String({ minLength: 1, maxLength, description });
const Key = Type.String({
  minLength: 1,
  maxLength: referenceMax,
  description: 'Names the payment for all time. It is the id of the transfer in Ferry.',
});
const Amount = AmountShape('Decimal string. Never convert it to a floating-point number.');
const Asset = Type.String({ minLength: 1, maxLength: 12, description: 'Code of the asset, such as USD' });
const Rail = Type.String({ minLength: 1, maxLength: 40, description: 'Name of the rail, such as wire' });
const txHash = text(
  'Transaction hash. Required on crypto networks once the payment is completed.',
  referenceMax,
);
const txIndex = text('Output within the transaction', referenceMax);

/** Any fields: Ferry's API describes them. */
const open = { additionalProperties: true } as const;

const Originator = Type.Object(
  {
    customer_id: Type.String(),
    customer_name: Type.Optional(Type.String({ description: 'Name of the customer' })),
    profile_id: Type.String(),
    identity_id: Type.Optional(Type.String()),
    account_id: Type.Optional(Type.String()),
    identity: Type.Optional(
      Type.Object(
        {},
        {
          ...open,
          description:
            'The identity that pays, or that owns the account: `person_details` or `institution_details`',
        },
      ),
    ),
  },
  { ...closed, description: 'Who pays, for the checks that the law requires of you' },
);

const Destination = Type.Object(
  {
    address: Type.Optional(text('On crypto networks: the address')),
    instructions: Type.Optional(
      Type.Object(
        {},
        { ...open, description: 'For bank accounts: the instructions, under the name of the rail' },
      ),
    ),
    owner: Type.Optional(
      Type.Object({}, { ...open, description: 'For bank accounts: the owner of the account' }),
    ),
  },
  { ...closed, description: 'Either `address`, or `instructions` and `owner`' },
);

export const PaymentOrderShape = Type.Object(
  {
    key: Key,
    rail: Rail,
    asset: Asset,
    amount: Amount,
    memo: Type.Optional(text('Text for the recipient')),
    destination: Destination,
    originator: Type.Optional(Originator),
    beneficiary: Type.Optional(
      Type.Object(
        {},
        {
          ...open,
          description:
            'On crypto networks: who is paid, as the customer says: `person_details` or `institution_details`',
        },
      ),
    ),
  },
  { ...closed, title: 'PaymentOrder' },
);
export type PaymentOrder = Static<typeof PaymentOrderShape>;

export const PaymentShape = Type.Object(
  {
    key: Key,
    asset: Asset,
    amount: Amount,
    status: Type.Enum(['pending', 'completed', 'failed'], {
      description:
        '`pending`: you have it and will pay it, or are paying it. `completed`: paid. `failed`: not paid, and never will be under this key. The last two are final.',
    }),
    reference: text(
      'Your own id of the payment. The same key always has the same reference: that shows that there is one payment.',
      referenceMax,
    ),
    detail: Type.Optional(text('How it was paid. Shown to the customer once it is completed.')),
    reason: Type.Optional(
      text('Why it failed, for the operator. Never shown to the customer. Required if failed.'),
    ),
    public_reason: Type.Optional(
      text('Why it failed, as the customer is shown it. Absent: only that the payment was not made.'),
    ),
    next_ask_ms: Type.Optional(
      Type.Integer({
        minimum: nextAskMsMin,
        maximum: nextAskMsMax,
        description: 'When to ask again, while it is pending',
      }),
    ),
    confirmations: Type.Optional(
      Type.Object({
        have: Type.Integer({ minimum: 0, maximum: confirmationsMax }),
        need: Type.Integer({ minimum: 1, maximum: confirmationsMax }),
      }),
    ),
    tx_hash: Type.Optional(txHash),
    tx_index: Type.Optional(txIndex),
  },
  { title: 'Payment' },
);
export type AdapterPayment = Static<typeof PaymentShape>;

export const OUTCOMES = ['rejected', 'not_accepted', 'not_found', 'conflict', 'unauthenticated'] as const;

export const RefusalShape = Type.Object(
  {
    outcome: Type.Enum(OUTCOMES, {
      description:
        '`rejected`: never paid under this key. `not_accepted`: you did not take it, Ferry may repeat it. `not_found`: you do not know the key. `conflict`: the key has another payment. `unauthenticated`: the signature or its timestamp is not valid.',
    }),
    detail: Type.Optional(text('What is wrong, as a sentence, for the operator')),
    public_reason: Type.Optional(text('If rejected: why, as the customer is shown it')),
  },
  { title: 'Refusal', description: 'May have the fields of an RFC 9457 problem as well' },
);
export type Refusal = Static<typeof RefusalShape>;

export const AddressOrderShape = Type.Object(
  { id: Type.String({ description: 'The same id always gets the same address' }), rail: Rail },
  { ...closed, title: 'DepositAddressOrder' },
);
export const AddressShape = Type.Object(
  { id: Type.String(), address: text('The address', referenceMax) },
  { title: 'DepositAddress' },
);
export const QuoteShape = Type.Object(
  { asset: Asset, fee: Amount },
  { title: 'Quote', description: 'What sending any amount of the asset costs now, in that asset' },
);
export const HealthShape = Type.Object({ status: Type.Enum(['ok']) }, { title: 'Health' });

export const NOTICE_TYPES = ['payment', 'deposit', 'return'] as const;

/** All fields of all types; which of them a type has is checked by `readNotices`, whose messages are clearer. */
export const NoticeShape = Type.Object(
  {
    type: Type.Enum(NOTICE_TYPES),
    key: Type.Optional(Key),
    status: Type.Optional(Type.Enum(['completed', 'failed'])),
    detail: Type.Optional(text('As in the payment')),
    reason: Type.Optional(text('As in the payment')),
    public_reason: Type.Optional(text('As in the payment')),
    tx_hash: Type.Optional(txHash),
    tx_index: Type.Optional(txIndex),
    output: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 4_294_967_295, description: 'Number of the output, on a chain' }),
    ),
    address: Type.Optional(text('The address that was paid, on a chain', referenceMax)),
    account: Type.Optional(
      text('Your own bank account that was paid: always written the same way', referenceMax),
    ),
    reference: Type.Optional(
      text("The bank's reference of the arrival, unique within the account for all time", referenceMax),
    ),
    memo_id: Type.Optional(Type.String({ maxLength: textMax, description: 'The memo that the payer wrote' })),
    asset: Type.Optional(Asset),
    amount: Type.Optional(Amount),
  },
  { ...closed, title: 'Notice' },
);
export type AdapterNotice = Static<typeof NoticeShape>;

export const NoticesShape = Type.Object(
  { rail: Rail, notices: Type.Array(NoticeShape, { minItems: 1, maxItems: noticesMax }) },
  { ...closed, title: 'Notices' },
);
export const RecordedShape = Type.Object(
  { recorded: Type.Integer({ description: 'Notices of the request. All of them are durable now.' }) },
  { ...closed, title: 'Recorded' },
);

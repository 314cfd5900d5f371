import { type Static, type TObject, type TString, Type } from 'typebox';
import { listQuery, listShape, Several } from '../kernel/paging.ts';
import {
  closed,
  DateTime,
  Id,
  Metadata,
  OPTIONAL_TEXT_PATTERN,
  RefId,
  TEXT_PATTERN,
} from '../kernel/shapes.ts';
import { LIMITS } from '../limits.ts';
import { FIAT_ACCOUNT_STATUSES } from './fiat-account.ts';

/** Text for a payment message: not blank, and no control character, which could end a line of one. */
const Text = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: LIMITS.bankTextMax,
    pattern: TEXT_PATTERN,
    description,
  });

/** May be empty, as forms send what was not filled in; the review asks for what is needed. */
const OptionalText = (description: string, maxLength: number = LIMITS.bankTextMax) =>
  Type.Optional(Type.String({ maxLength, pattern: OPTIONAL_TEXT_PATTERN, description }));

const AddressShape = (description: string) =>
  Type.Object(
    {
      country: Text('ISO 3166 code of two or three letters; anything else waits for an operator'),
      address1: OptionalText('Street and number'),
      address2: OptionalText('More of the street address'),
      city: OptionalText('City'),
      province: OptionalText('State or province'),
      zip_code: OptionalText('Postal code', LIMITS.bankZipCodeMax),
    },
    { ...closed, description },
  );

const RoutingDetailsShape = (description: string) =>
  Type.Object(
    {
      routing_number_type: Type.Enum(['ABA', 'SWIFT']),
      routing_number: Type.String({
        minLength: 1,
        maxLength: 11,
        description: 'ABA: nine digits. SWIFT: a BIC of 8 or 11 characters (ISO 9362)',
      }),
      bank_name: Text('Name of the bank'),
      bank_address: AddressShape('Where the bank is'),
    },
    { ...closed, description },
  );

const OwnerShape = Type.Object(
  {
    person_details: Type.Optional(
      Type.Object({ first_name: Text('First name'), last_name: Text('Last name') }, closed),
    ),
    institution_details: Type.Optional(Type.Object({ name: Text('Name of the institution') }, closed)),
  },
  { ...closed, description: 'Exactly one of person_details and institution_details' },
);

/** In and out have the same fields; only what names the account differs: whole on its way in, masked on its way out. */
const instructionsShape = (accountNumber: TString, networkAccount: (description: string) => TString) =>
  Type.Object(
    {
      wire: Type.Optional(
        Type.Object(
          {
            account_number: accountNumber,
            routing_details: RoutingDetailsShape('The bank that holds the account'),
            fiat_account_owner_address: AddressShape('Where the owner of the account lives or is seated'),
            intermediary_routing_details: Type.Optional(
              RoutingDetailsShape('The bank in between, if there is one'),
            ),
          },
          closed,
        ),
      ),
      cubix: Type.Optional(
        Type.Object({ account_id: networkAccount('Account on the first bank network') }, closed),
      ),
      bank_network_2: Type.Optional(Type.Object({ account_number: accountNumber }, closed)),
      bank_network_3: Type.Optional(Type.Object({ account_number: accountNumber }, closed)),
      cbit: Type.Optional(
        Type.Object({ wallet_address: networkAccount('Wallet on the CBIT network') }, closed),
      ),
    },
    { ...closed, description: 'Exactly one kind' },
  );

const InstructionsIn = instructionsShape(
  Type.String({
    minLength: 1,
    maxLength: LIMITS.bankAccountNumberMax,
    // A masked number can never be sent back as a number.
    pattern: '^[A-Za-z0-9]+$',
    description: 'Account number or IBAN, without blanks',
  }),
  (description) =>
    Type.String({
      minLength: 1,
      maxLength: LIMITS.bankNetworkAccountMax,
      pattern: '^[A-Za-z0-9._:-]+$',
      description,
    }),
);

/** Whole: the operator's own accounts, which others are to pay to. */
export const FiatNetworkInstructionsShape = InstructionsIn;

const Masked = (description: string) =>
  Type.String({ description: `${description}, masked to the last four characters`, examples: ['****6789'] });
const InstructionsOut = instructionsShape(Masked('Account number'), Masked);

export const CreateFiatAccountRequest = Type.Object(
  {
    fiat_account_owner: OwnerShape,
    fiat_network_instructions: InstructionsIn,
    ref_id: Type.Optional(RefId),
    identity_id: Type.Optional(Id('Identity of the user; required for third-party integrations')),
    account_id: Type.Optional(Id('Account of the user; required for third-party integrations')),
    metadata: Type.Optional(Metadata),
  },
  { ...closed, title: 'CreateFiatAccountRequest' },
);

export const UpdateFiatAccountRequest = Type.Object(
  {
    fiat_account_owner: Type.Optional(OwnerShape),
    fiat_network_instructions: Type.Optional(InstructionsIn),
    metadata: Type.Optional(Metadata),
  },
  { ...closed, title: 'UpdateFiatAccountRequest' },
);

const fiatAccountFields = {
  id: Id('Fiat account identifier'),
  fiat_network_instructions: InstructionsOut,
  status: Type.Enum([...FIAT_ACCOUNT_STATUSES]),
  created_at: DateTime('Creation time'),
  ref_id: Type.Optional(RefId),
  identity_id: Type.Optional(Id('Identity owning the fiat account')),
  account_id: Type.Optional(Id('Account owning the fiat account')),
  fiat_account_owner: Type.Optional(OwnerShape),
  metadata: Type.Optional(Metadata),
  updated_at: Type.Optional(DateTime('Last update time')),
  deleted_at: Type.Optional(DateTime('Only on an account that was deleted')),
};

export const FiatAccountShape = Type.Object(fiatAccountFields, { ...closed, title: 'FiatAccount' });
export const FiatAccountList = listShape(FiatAccountShape, 'FiatAccountList');

export const FiatAccountListQuery = listQuery(
  {
    ids: Several(Id('Fiat account'), 'Only these'),
    ref_ids: Several(RefId, 'Only those with these ref_ids'),
    identity_ids: Several(Id('Identity'), 'Only those of these identities'),
    account_ids: Several(Id('Account'), 'Only those of these accounts'),
    statuses: Several(Type.Enum([...FIAT_ACCOUNT_STATUSES]), 'Only those in these states'),
  },
  ['created_at', 'updated_at'],
);

/** What an operator sees: whose it is, and what the automatic checks say of it. */
export const ReviewedAccountShape = Type.Object(
  {
    customer_id: Id('Customer identifier'),
    ...fiatAccountFields,
    findings: Type.Array(
      Type.Object(
        {
          verdict: Type.Enum(['REJECT', 'ASK']),
          reason: Type.String({ description: 'What is wrong, or what needs a look' }),
        },
        closed,
      ),
      { description: 'What the automatic checks found; empty when all of them pass' },
    ),
  },
  { ...closed, title: 'FiatAccountUnderReview' },
);
export const ReviewQueue = listShape(ReviewedAccountShape, 'FiatAccountReviewQueue');

export const ReviewQueueQuery = listQuery(
  {
    ids: Several(Id('Fiat account'), 'Only these'),
    customer_ids: Several(Id('Customer'), 'Only those of these customers'),
    statuses: Several(Type.Enum([...FIAT_ACCOUNT_STATUSES]), 'Only those in these states; default PENDING'),
  },
  ['created_at', 'updated_at'],
);

const Reason = Type.String({
  minLength: 1,
  maxLength: LIMITS.reviewReasonMax,
  pattern: TEXT_PATTERN,
  description: 'Goes into the event that the customer gets',
});
const SeenAt = Type.Optional(
  DateTime(
    'updated_at of the account as you saw it: when it was changed meanwhile, the review is refused with a 409',
  ),
);

export const ApproveRequest = optionalBody(
  Type.Object({ reason: Type.Optional(Reason), updated_at: SeenAt }, { ...closed, title: 'ApproveRequest' }),
);
export const RejectRequest = Type.Object(
  { reason: Reason, updated_at: SeenAt },
  { ...closed, title: 'RejectRequest' },
);
export const SandboxReviewRequest = optionalBody(
  Type.Object({ reason: Type.Optional(Reason) }, { ...closed, title: 'SandboxReviewRequest' }),
);

/** A body that may be left out: the HTTP layer validates an absent one as null. */
function optionalBody<Shape extends TObject>(shape: Shape) {
  return Type.Unsafe<Static<Shape> | null | undefined>({ ...shape, type: ['object', 'null'] });
}

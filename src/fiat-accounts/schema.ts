import type { Static, TObject } from 'typebox';
import { listQuery, listShape, One, Several } from '../kernel/paging.ts';
import { closed, DateTime, DIGEST_PATTERN, Id, Metadata, RefId, TEXT_PATTERN } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { PaymentText } from '../networks/instructions.ts';
import type { Networks } from '../networks/register.ts';
import { changedInstructionsShape, instructionsShape } from '../networks/schema.ts';
import { FIAT_ACCOUNT_STATUSES } from './fiat-account.ts';

const OwnerShape = Type.Object(
  {
    person_details: Type.Optional(
      Type.Object({ first_name: PaymentText('First name'), last_name: PaymentText('Last name') }, closed),
    ),
    institution_details: Type.Optional(Type.Object({ name: PaymentText('Name of the institution') }, closed)),
  },
  { ...closed, description: 'Exactly one of person_details and institution_details' },
);

export function fiatAccountRequests(networks: Networks) {
  const instructions = instructionsShape(networks, 'whole');
  const create = Type.Object(
    {
      fiat_account_owner: OwnerShape,
      fiat_network_instructions: instructions,
      ref_id: Type.Optional(RefId),
      identity_id: Type.Optional(Id('Identity of the user; required for third-party integrations')),
      account_id: Type.Optional(Id('Account of the user; required for third-party integrations')),
      metadata: Type.Optional(Metadata),
    },
    { ...closed, title: 'CreateFiatAccountRequest' },
  );
  const update = Type.Object(
    {
      fiat_account_owner: Type.Optional(OwnerShape),
      fiat_network_instructions: Type.Optional(changedInstructionsShape(networks)),
      metadata: Type.Optional(Metadata),
    },
    { ...closed, minProperties: 1, title: 'UpdateFiatAccountRequest' },
  );
  return { create, update };
}

const fiatAccountFields = (networks: Networks) => ({
  id: Id('Fiat account identifier'),
  fiat_network_instructions: instructionsShape(networks, 'masked'),
  status: Type.Enum([...FIAT_ACCOUNT_STATUSES]),
  reason: Type.Optional(Type.String({ description: 'Why it is REJECTED; absent in other states' })),
  created_at: DateTime('Creation time'),
  ref_id: Type.Optional(RefId),
  identity_id: Type.Optional(Id('Identity owning the fiat account')),
  account_id: Type.Optional(Id('Account owning the fiat account')),
  fiat_account_owner: Type.Optional(OwnerShape),
  metadata: Type.Optional(Metadata),
  updated_at: Type.Optional(DateTime('Last update time')),
  deleted_at: Type.Optional(DateTime('Only on a deleted account')),
  transliterations: Type.Optional(
    Type.Array(
      Type.Object(
        {
          pointer: Type.String({ description: 'The field, as a JSON pointer' }),
          sent_as: Type.String({ description: 'Its text as payments carry it' }),
        },
        closed,
      ),
      {
        description:
          'Names and addresses that payments carry in other letters, because payment networks have only Latin ones without accents. Absent if there are none.',
      },
    ),
  ),
});

export const fiatAccountShape = (networks: Networks) =>
  Type.Object(fiatAccountFields(networks), { ...closed, title: 'FiatAccount' });
export const fiatAccountList = (networks: Networks) =>
  listShape(fiatAccountShape(networks), 'FiatAccountList');

export const FiatAccountListQuery = listQuery(
  {
    ids: Several(Id('Fiat account'), 'Only these'),
    ref_ids: Several(RefId, 'Only those with these ref_ids'),
    identity_id: One(Id('Identity'), 'Only those of this identity'),
    identity_ids: Several(Id('Identity'), 'Only those of these identities'),
    account_ids: Several(Id('Account'), 'Only those of these accounts'),
    statuses: Several(Type.Enum([...FIAT_ACCOUNT_STATUSES]), 'Only those in these states'),
    include_deleted: Type.Optional(
      Type.Boolean({ description: 'Whether deleted accounts are listed as well; default false' }),
    ),
  },
  ['created_at', 'updated_at'],
);

/** What an operator sees: the customer, and the findings of the automatic checks. */
const reviewFields = (networks: Networks) => ({
  customer_id: Id('Customer identifier'),
  ...fiatAccountFields(networks),
  findings: Type.Array(
    Type.Object(
      {
        verdict: Type.Enum(['REJECT', 'ASK']),
        reason: Type.String({ description: 'What is wrong, or has to be checked' }),
      },
      closed,
    ),
    { description: 'Findings of the automatic checks; empty when all of them pass' },
  ),
});
export const reviewedAccountShape = (networks: Networks) =>
  Type.Object(reviewFields(networks), { ...closed, title: 'FiatAccountUnderReview' });
export const reviewQueue = (networks: Networks) =>
  listShape(reviewedAccountShape(networks), 'FiatAccountReviewQueue');

const Digest = Type.String({
  pattern: DIGEST_PATTERN,
  description: 'Identifies the version of the account that was shown: the `digest` of a view',
});

/** One account with its whole number, and the digest that approving or rejecting it requires. */
export const viewedAccountShape = (networks: Networks) =>
  Type.Object(
    {
      ...reviewFields(networks),
      fiat_network_instructions: instructionsShape(networks, 'whole'),
      digest: Digest,
    },
    { ...closed, title: 'FiatAccountView' },
  );

export const ViewList = listShape(
  Type.Object(
    {
      id: Id('Identifier of the view'),
      customer_id: Id('Customer of the reviewer'),
      client_id: Type.String({ description: 'Client of the reviewer' }),
      digest: Digest,
      created_at: DateTime('When the account was shown'),
    },
    { ...closed, title: 'FiatAccountViewRecord' },
  ),
  'FiatAccountViewList',
);
export const ViewListQuery = listQuery({}, ['created_at']);

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
  description: 'Included in the event that the customer receives',
});

export const ApproveRequest = Type.Object(
  { digest: Digest, reason: Type.Optional(Reason) },
  { ...closed, title: 'ApproveRequest' },
);
export const RejectRequest = Type.Object(
  { digest: Digest, reason: Reason },
  { ...closed, title: 'RejectRequest' },
);
export const SandboxReviewRequest = optionalBody(
  Type.Object({ reason: Type.Optional(Reason) }, { ...closed, title: 'SandboxReviewRequest' }),
);

/** An optional body: the HTTP layer validates an absent one as null. */
function optionalBody<Shape extends TObject>(shape: Shape) {
  return Type.Unsafe<Static<Shape> | null | undefined>({ ...shape, type: ['object', 'null'] });
}

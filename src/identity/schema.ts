import { listQuery, listShape, One, Several } from '../kernel/paging.ts';
import { closed, DateTime, Id, LABEL_PATTERN, Metadata, RefId } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { ACCOUNT_TYPES } from './account.ts';
import { MEMBER_ROLES } from './member.ts';

const Name = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: LIMITS.nameLengthMax,
    pattern: LABEL_PATTERN,
    description,
  });

const Description = Type.String({ maxLength: LIMITS.descriptionLengthMax, description: 'Free text' });

const PersonDetails = Type.Object(
  { first_name: Name('First name'), last_name: Name('Last name') },
  { ...closed, description: 'Of a person' },
);
const InstitutionDetails = Type.Object(
  { name: Name('Name') },
  { ...closed, description: 'Of an institution' },
);
const IdentityType = Type.Enum(['PERSON', 'INSTITUTION']);

const times = { created_at: DateTime('Record creation time'), updated_at: DateTime('Last update time') };

export const IdentityShape = Type.Object(
  {
    id: Id('Identity identifier'),
    type: IdentityType,
    person_details: Type.Optional(PersonDetails),
    institution_details: Type.Optional(InstitutionDetails),
    status: Type.Enum(['APPROVED', 'DISABLED']),
    ref_id: Type.Optional(RefId),
    metadata: Type.Optional(Metadata),
    ...times,
  },
  { ...closed, title: 'Identity' },
);

export const CreateIdentityRequest = Type.Object(
  {
    type: Type.Optional(IdentityType),
    person_details: Type.Optional(PersonDetails),
    institution_details: Type.Optional(InstitutionDetails),
    ref_id: Type.Optional(RefId),
    metadata: Type.Optional(Metadata),
  },
  { ...closed, title: 'CreateIdentityRequest' },
);

export const UpdateIdentityRequest = Type.Object(
  {
    person_details: Type.Optional(PersonDetails),
    institution_details: Type.Optional(InstitutionDetails),
    metadata: Type.Optional(Metadata),
  },
  { ...closed, minProperties: 1, title: 'UpdateIdentityRequest' },
);

// With the type of the items, the validator finds duplicates in linear time; without it, in quadratic time.
const Roles = Type.Array(Type.Enum([...MEMBER_ROLES], { type: 'string' }), {
  minItems: 1,
  uniqueItems: true,
  description: 'Roles of the member on the account',
});

const MemberShape = Type.Object(
  { identity_id: Id('Identity on the account'), roles: Roles, id: Id('Member identifier') },
  { ...closed, title: 'AccountMember' },
);

const NewMembers = Type.Array(
  Type.Object({ identity_id: Id('Identity to add to the account'), roles: Roles }, closed),
  { minItems: 1, maxItems: LIMITS.accountMembersMax, description: 'Identities and their roles' },
);

export const AddMembersRequest = Type.Object(
  { account_id: Id('Account to which members are added'), members: NewMembers },
  { ...closed, title: 'AddAccountMembersRequest' },
);

export const AddedMembers = Type.Object(
  { account_id: Id('Account'), members: Type.Array(MemberShape) },
  { ...closed, title: 'AddedAccountMembers' },
);

export const RemovedMember = Type.Object(
  { account_id: Id('Account'), ...MemberShape.properties },
  { ...closed, title: 'RemovedAccountMember' },
);

export const AccountShape = Type.Object(
  {
    id: Id('Account identifier'),
    identity_id: Id('Identity that owns the account'),
    type: Type.Enum([...ACCOUNT_TYPES]),
    description: Type.Optional(Description),
    members: Type.Array(MemberShape, { description: 'In the order in which they were added' }),
    profile_id: Type.Optional(Id('Profile that was created together with the account')),
    ref_id: Type.Optional(RefId),
    metadata: Type.Optional(Metadata),
    ...times,
  },
  { ...closed, title: 'Account' },
);

export const CreateAccountRequest = Type.Object(
  {
    account: Type.Object(
      {
        identity_id: Id('Identity that owns the account'),
        type: Type.Optional(Type.Enum([...ACCOUNT_TYPES], { description: `Default ${ACCOUNT_TYPES[0]}` })),
        description: Type.Optional(Description),
        members: Type.Optional(NewMembers),
        ref_id: Type.Optional(RefId),
        metadata: Type.Optional(Metadata),
      },
      closed,
    ),
    create_profile: Type.Optional(
      Type.Boolean({ description: 'Whether to create a profile for the account as well; default false' }),
    ),
  },
  { ...closed, title: 'CreateAccountRequest' },
);

export const UpdateAccountRequest = Type.Object(
  {
    type: Type.Optional(Type.Enum([...ACCOUNT_TYPES])),
    description: Type.Optional(Description),
    metadata: Type.Optional(Metadata),
  },
  { ...closed, minProperties: 1, title: 'UpdateAccountRequest' },
);

export const IdentitiesQuery = listQuery(
  {
    ids: Several(Id('Identity identifier'), 'Identity identifiers'),
    ref_ids: Several(RefId, 'Your own ids'),
  },
  ['created_at', 'updated_at'],
);
export const IdentityList = listShape(IdentityShape, 'IdentityList');

export const AccountsQuery = listQuery(
  {
    ids: Several(Id('Account identifier'), 'Account identifiers'),
    identity_id: One(Id('Identity identifier'), 'Identity that owns the accounts'),
    identity_ids: Several(Id('Identity identifier'), 'Identities that own the accounts'),
    ref_ids: Several(RefId, 'Your own ids'),
  },
  ['created_at', 'updated_at'],
);
export const AccountList = listShape(AccountShape, 'AccountList');

import { listQuery, listShape, One, Several } from '../kernel/paging.ts';
import { AmountOut, AssetCode, closed, DateTime, Id, LABEL_PATTERN } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';

const Nickname = Type.String({
  minLength: 1,
  maxLength: LIMITS.nameLengthMax,
  // No control characters, no leading or trailing space: otherwise two profiles could have nicknames that look the same.
  pattern: LABEL_PATTERN,
  description: 'Unique among your profiles',
});

const Description = Type.String({ maxLength: LIMITS.descriptionLengthMax, description: 'Free text' });

const PROFILE_IDS = {
  maxItems: LIMITS.acceptedProfilesMax,
  uniqueItems: true,
  description: 'Profiles of other customers; your own profiles are always accepted',
} as const;

export const IncomingShape = Type.Object(
  {
    accepts_from: Type.Enum(['ANYONE', 'LISTED'], {
      description:
        'Who may pay the profile and propose settlements to it: every customer, or only the listed profiles. To anybody else the profile does not exist',
    }),
    profile_ids: Type.Optional(Type.Array(Id('Profile identifier'), PROFILE_IDS)),
  },
  { ...closed, title: 'Incoming' },
);

export const ProfileShape = Type.Object(
  {
    id: Id('Profile identifier'),
    nickname: Nickname,
    type: Type.Enum(['DEFAULT', 'NORMAL'], { description: 'DEFAULT for the first profile that you created' }),
    description: Type.Optional(Description),
    account_id: Type.Optional(Id('Account that the profile belongs to')),
    incoming: Type.Optional(IncomingShape),
    status: Type.Enum(['ACTIVE', 'DISABLED'], {
      description: 'DISABLED: nothing can be sent from or to the profile. It can still be read',
    }),
    created_at: DateTime('Creation time'),
    updated_at: DateTime('Last update time'),
  },
  { ...closed, title: 'Profile' },
);

export const CreateProfileRequest = Type.Object(
  {
    nickname: Nickname,
    description: Type.Optional(Description),
    account_id: Type.Optional(Id('Account that the profile belongs to')),
  },
  { ...closed, title: 'CreateProfileRequest' },
);

export const UpdateProfileRequest = Type.Object(
  { nickname: Type.Optional(Nickname), description: Type.Optional(Description) },
  { ...closed, minProperties: 1, title: 'UpdateProfileRequest' },
);

export const ProfilesQuery = listQuery(
  {
    ids: Several(Id('Profile identifier'), 'Profile identifiers'),
    nicknames: Several(Type.String({ maxLength: LIMITS.nameLengthMax }), 'Nicknames'),
    nickname: One(Type.String({ maxLength: LIMITS.nameLengthMax }), 'Nickname'),
    account_ids: Several(Id('Account identifier'), 'Accounts that the profiles belong to'),
  },
  ['created_at', 'updated_at'],
);

export const ProfileList = listShape(ProfileShape, 'ProfileList');

export const BalanceShape = Type.Object(
  {
    asset: AssetCode('Asset'),
    available: AmountOut('Amount that can be spent'),
    held: AmountOut('Amount that is reserved by pending withdrawals'),
    trading: AmountOut('Always "0": this service does not trade'),
  },
  { ...closed, title: 'Balance' },
);

export const BalanceList = Type.Object(
  { items: Type.Array(BalanceShape) },
  { ...closed, title: 'BalanceList' },
);

const at = {
  at: Type.Optional(
    DateTime('Time of the balance, including everything posted at that instant; default now'),
  ),
};
export const AtQuery = Type.Object(at, closed);
export const BalancesQuery = Type.Object(
  { ...at, assets: Several(AssetCode('Asset'), 'Balances of these assets') },
  closed,
);

export const ProfileAssetParams = Type.Object(
  { id: Id('Profile identifier'), asset: AssetCode('Asset') },
  closed,
);

import { listQuery, listShape, Several } from '../kernel/paging.ts';
import { Amount, AmountOut, AssetCode, closed, DateTime, Id, LABEL_PATTERN } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import type { Networks } from '../networks/register.ts';
import { cryptoNetworkName } from '../networks/schema.ts';

export const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const;
export const WINDOWS = ['HOUR', 'DAY', 'WEEK'] as const;

const Label = (description: string, maxLength: number = LIMITS.policyNameMax) =>
  Type.String({ minLength: 1, maxLength, pattern: LABEL_PATTERN, description });
const UpTo = (items: ReturnType<typeof Type.String>, description: string) =>
  Type.Optional(Type.Array(items, { minItems: 1, maxItems: LIMITS.policyListMax, description }));
const Time = (description: string) =>
  Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$', description, examples: ['09:00'] });

export const RULE_TYPES = [
  'amount_limit',
  'velocity',
  'destinations',
  'business_hours',
  'approval',
  'screening',
] as const;

/** All fields of all types of rules. Which of them a type has is checked by `readDocument`, whose messages are clearer. */
export const PolicyRule = Type.Object(
  {
    type: Type.Enum([...RULE_TYPES], {
      description:
        '`amount_limit`: asset, max. `velocity`: asset, max, window, per. `destinations`: listed_only, cooling_off_hours. `business_hours`: time_zone, days, from, to. `approval`: asset, above. `screening`: hook.',
    }),
    name: Label('Its name, unique within the policy: refusals and holds show it'),
    asset: Type.Optional(AssetCode('Asset of the limit or threshold')),
    max: Type.Optional(
      Amount(
        'The largest amount of a withdrawal, or of all withdrawals of the window, without fees. More is refused.',
      ),
    ),
    window: Type.Optional(
      Type.Enum([...WINDOWS], { description: 'The last 60 minutes, 24 hours or 7 days' }),
    ),
    per: Type.Optional(
      Type.Enum(['PROFILE', 'CUSTOMER', 'ALL'], {
        description:
          'Whose withdrawals are added up, without those that FAILED. ALL: those of all customers, for the operator.',
      }),
    ),
    listed_only: Type.Optional(Type.Boolean({ description: 'A destination that is not listed is refused' })),
    cooling_off_hours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LIMITS.policyCoolingOffHoursMax,
        description:
          'Withdrawals to a destination are held until this long after it was listed or, if any may be used, first used',
      }),
    ),
    time_zone: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'IANA name', examples: ['America/New_York'] }),
    ),
    days: Type.Optional(
      Type.Array(Type.Enum([...DAYS]), { minItems: 1, maxItems: 7, description: 'Days, by that time zone' }),
    ),
    from: Type.Optional(Time('First minute, by that time zone')),
    to: Type.Optional(Time('The minute at which it ends; 24:00 for midnight')),
    above: Type.Optional(
      Amount('A withdrawal of a larger amount is held until it is approved; 0 for every one'),
    ),
    hook: Type.Optional(Label('The screening hook, as the configuration file names it')),
  },
  { ...closed, title: 'PolicyRule' },
);

const AppliesTo = Type.Object(
  {
    customer_ids: UpTo(Id('A customer') as never, 'Only these customers; in policies of the operator'),
    profile_ids: UpTo(Id('A profile') as never, 'Only these profiles'),
    rails: UpTo(
      Type.String({ minLength: 1, maxLength: 40, examples: ['wire', 'BITCOIN'] }),
      'Only these rails: kinds of fiat accounts and crypto networks',
    ),
    assets: UpTo(AssetCode('An asset'), 'Only these assets'),
  },
  { ...closed, title: 'PolicyScope', description: 'Which withdrawals it is about; absent: all' },
);

const document = {
  applies_to: Type.Optional(AppliesTo),
  rules: Type.Array(PolicyRule, { minItems: 1, maxItems: LIMITS.policyRulesMax }),
};
export const PolicyDocument = Type.Object(document, closed);

const Reason = Label('Why it is changed', LIMITS.reasonLengthMax);

export const PolicyRequest = Type.Object(
  {
    name: Label('Its name, unique for its owner. An existing policy of that name gets a new version.'),
    enabled: Type.Boolean({ description: 'Whether it is in force' }),
    ...document,
    reason: Reason,
    based_on_version: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        description:
          'The version that you have seen, 0 for a new policy: if there is another one, the change is refused. A request that waits for approval always has one.',
      }),
    ),
  },
  { ...closed, title: 'PolicyRequest' },
);

const shape = {
  id: Id('Identifier of the policy'),
  customer_id: Type.Optional(Id('The customer that it belongs to; absent: the operator')),
  name: Type.String({ description: 'Its name' }),
  version: Type.Integer({ description: 'Incremented by every change' }),
  enabled: Type.Boolean({ description: 'Whether it is in force' }),
  ...document,
  changed_by: Type.String({ description: 'Who made this version: `client:<id>`' }),
  reason: Type.String({ description: 'Why' }),
  created_at: DateTime('When the policy was created'),
  updated_at: DateTime('When this version was created'),
};
export const PolicyShape = Type.Object(shape, { ...closed, title: 'Policy' });
export const PolicyList = listShape(PolicyShape, 'PolicyList');
export const PolicyQuery = listQuery({ ids: Several(Id('A policy'), 'With these ids') }, ['created_at']);
export const VersionList = Type.Object(
  { items: Type.Array(PolicyShape, { description: 'All versions, newest first' }) },
  { ...closed, title: 'PolicyVersionList' },
);

export const DryRunRequest = Type.Object(document, { ...closed, title: 'PolicyDryRunRequest' });
export const DryRunShape = Type.Object(
  {
    from: DateTime('The first withdrawal that was examined was not requested before'),
    examined: Type.Integer({ description: 'Withdrawals of the last 30 days that the policy applies to' }),
    complete: Type.Boolean({
      description: 'False: there were more withdrawals, and only the latest were examined',
    }),
    passed: Type.Integer(),
    held: Type.Integer(),
    refused: Type.Integer(),
    withdrawals: Type.Array(
      Type.Object(
        {
          transfer_id: Id('The withdrawal'),
          outcome: Type.Enum(['HELD', 'REFUSED']),
          rule: Type.String({ description: 'The rule that would have held or refused it' }),
          detail: Type.String({ description: 'In words' }),
          created_at: DateTime('When it was requested'),
        },
        { ...closed, title: 'PolicyDryRunItem' },
      ),
      {
        description: `Those that would not have passed, newest first, at most ${LIMITS.policyDryRunItemsMax}`,
      },
    ),
  },
  { ...closed, title: 'PolicyDryRun' },
);

export const DestinationRequest = Type.Object(
  {
    destination: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Network and address (`BITCOIN/bc1q…`), or `fiat_account/` and its id',
    }),
    label: Type.Optional(Label('For people', LIMITS.policyNameMax)),
  },
  { ...closed, title: 'ListedDestinationRequest' },
);
export const DestinationShape = Type.Object(
  {
    id: Id('Identifier'),
    destination: Type.String({ description: 'Network and address, or `fiat_account/` and its id' }),
    label: Type.Optional(Type.String()),
    added_by: Type.String({ description: 'Who has listed it' }),
    created_at: DateTime('When it was listed: the cooling-off time begins here'),
  },
  { ...closed, title: 'ListedDestination' },
);
export const DestinationList = listShape(DestinationShape, 'ListedDestinationList');
export const DestinationQuery = listQuery({ ids: Several(Id('A destination'), 'With these ids') }, [
  'created_at',
]);

const address = (networks: Networks) => ({
  crypto_network: cryptoNetworkName(networks),
  address: Type.String({ minLength: 1, description: 'Address on that network' }),
  label: Type.Optional(Label('For people', LIMITS.policyNameMax)),
});
export const savedAddressRequest = (networks: Networks) =>
  Type.Object(address(networks), { ...closed, title: 'CryptoDestinationAddressRequest' });
export const savedAddressShape = (networks: Networks) =>
  Type.Object(
    {
      id: Id('Identifier'),
      ...address(networks),
      created_at: DateTime('When it was saved: the cooling-off time of policies begins here'),
    },
    { ...closed, title: 'CryptoDestinationAddress' },
  );
export const savedAddressList = (networks: Networks) =>
  listShape(savedAddressShape(networks), 'CryptoDestinationAddressList');
export const savedAddressQuery = (networks: Networks) =>
  listQuery(
    {
      ids: Several(Id('A saved address'), 'With these ids'),
      crypto_networks: Several(cryptoNetworkName(networks), 'On these networks'),
    },
    ['created_at'],
  );

export const UtilizationQuery = Type.Object(
  { profile_id: Id('The profile to withdraw from'), asset: AssetCode('Asset') },
  closed,
);
export const UtilizationList = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          policy: Type.String({ description: 'Name of the policy' }),
          rule: Type.String({ description: 'Name of the rule' }),
          window: Type.Enum([...WINDOWS]),
          per: Type.Enum(['PROFILE', 'CUSTOMER']),
          asset: AssetCode('Asset'),
          max: AmountOut('The limit'),
          used: AmountOut('What withdrawals of the window have used'),
          available: AmountOut('What is left now'),
          rails: Type.Optional(Type.Array(Type.String(), { description: 'Only on these rails' })),
        },
        { ...closed, title: 'LimitUtilization' },
      ),
    ),
  },
  { ...closed, title: 'LimitUtilizationList' },
);

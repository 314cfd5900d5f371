import { isSimulation, type Scope } from '../auth/scopes.ts';

/** What a person may do. Everybody may look; each other role adds scopes. docs/people.md shows this table. */
export const ROLES = ['VIEWER', 'MAKER', 'APPROVER', 'ADMINISTRATOR'] as const;
export type Role = (typeof ROLES)[number];

type RoleScopes = Readonly<Record<Role, readonly Scope[]>>;

const CUSTOMER_READS: readonly Scope[] = [
  'transfer:read_transfer',
  'transfer:read_fiat_account',
  'transfer:read_deposit_address',
  'transfer:read_fiat_deposit_instructions',
  'conversion:read_conversion_stablecoin',
  'settlement:read_transaction',
  'identity:read_identity',
  'identity:read_account',
  'funding:read_profile',
  'events:read_event',
  'policy:read_policy',
  'control:read_audit_log',
  'control:read_client',
  'control:read_approval',
];

/** Of the people of a customer: within that customer. */
export const CUSTOMER_ROLES: RoleScopes = {
  VIEWER: CUSTOMER_READS,
  MAKER: [
    ...CUSTOMER_READS,
    'transfer:write_fiat_withdrawal',
    'transfer:write_crypto_withdrawal',
    'transfer:write_platform_transfer',
    'transfer:write_internal_transfer',
    'transfer:write_fiat_account',
    'transfer:write_deposit_address',
    'transfer:write_fiat_deposit_instructions',
    'fee:write_crypto_withdrawal_fee',
    'conversion:write_conversion_stablecoin',
    'settlement:write_transaction',
    'identity:write_identity',
    'identity:write_account',
    'funding:write_profile',
    'sandbox:simulate',
  ],
  APPROVER: [...CUSTOMER_READS, 'control:approve', 'policy:approve_withdrawal'],
  ADMINISTRATOR: [
    ...CUSTOMER_READS,
    'people:read_person',
    'people:write_person',
    'events:write_webhook',
    'policy:write_policy',
  ],
};

/** Of the operator's people: across all customers. They look at the data of a customer, but never move its value. */
export const OPERATOR_ROLES: RoleScopes = {
  VIEWER: ['operator:read'],
  MAKER: ['operator:read', 'operator:journal', 'operator:review'],
  APPROVER: ['operator:read', 'operator:approve'],
  ADMINISTRATOR: ['operator:read', 'operator:admin', 'people:read_person', 'people:write_person'],
};

export type Standing = {
  readonly roles: readonly Role[];
  readonly isOperator: boolean;
  /** A person of the operator looks at the data of one customer. */
  readonly looksAtCustomer: boolean;
  /** Whether the operations that simulate exist. */
  readonly simulates: boolean;
};

export function scopesOf({ roles, isOperator, looksAtCustomer, simulates }: Standing): ReadonlySet<string> {
  const table = isOperator ? OPERATOR_ROLES : CUSTOMER_ROLES;
  const scopes = [...roles.flatMap((role) => table[role]), ...(looksAtCustomer ? CUSTOMER_READS : [])];
  return new Set(simulates ? scopes : scopes.filter((scope) => !isSimulation(scope)));
}

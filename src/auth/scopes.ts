/** Everything that a client can be allowed to do, with its description in the OpenAPI document. */
export const SCOPES = {
  'transfer:write_fiat_withdrawal': 'Withdraw fiat money to a registered fiat account',
  'transfer:write_crypto_withdrawal': 'Withdraw crypto assets to an address',
  'transfer:write_platform_transfer': 'Move value to a profile of any customer',
  'transfer:write_internal_transfer': 'Move value between own profiles',
  'transfer:read_transfer': 'Read transfers',
  'transfer:write_fiat_account': 'Register, change and remove fiat accounts',
  'transfer:read_fiat_account': 'Read fiat accounts',
  'transfer:write_deposit_address': 'Create crypto deposit addresses',
  'transfer:read_deposit_address': 'Read crypto deposit addresses',
  'transfer:write_fiat_deposit_instructions': 'Create fiat deposit instructions',
  'transfer:read_fiat_deposit_instructions': 'Read fiat deposit instructions',
  'fee:write_crypto_withdrawal_fee': 'Obtain a guaranteed fee for a crypto withdrawal',
  'conversion:write_conversion_stablecoin': "Convert between USD and the operator's own stablecoin",
  'conversion:read_conversion_stablecoin': 'Read conversions',
  'settlement:write_transaction': 'Create, affirm and cancel settlement transactions',
  'settlement:read_transaction': 'Read settlement transactions',
  'identity:write_identity': 'Create and change identities',
  'identity:read_identity': 'Read identities',
  'identity:write_account': 'Create and change accounts, add and remove their members',
  'identity:read_account': 'Read accounts and their members',
  'funding:write_profile': 'Create, change and deactivate profiles',
  'funding:read_profile': 'Read profiles and balances',
  'policy:read_policy': 'Read your withdrawal policies, destinations and what is used of limits',
  'policy:write_policy': 'Change your withdrawal policies and destinations',
  'policy:approve_withdrawal': 'Release and refuse withdrawals that your policies hold',
  'events:read_event': 'Read events',
  'events:write_webhook': 'Manage webhook endpoints, read and replay deliveries',
  'people:read_person': 'Read the people of the customer, and their sessions',
  'people:write_person': 'Add people, change their roles, disable them, and end their sessions',
  'control:read_audit_log': 'Read the audit log of the own customer',
  'control:read_client': 'Read the API clients of the own customer, and their scopes',
  'control:read_approval': 'Read requests that need approval, of the own customer',
  'control:approve': 'Approve and reject requests of the own customer',
  'sandbox:simulate': 'Simulate deposits, rail outcomes and reviews (sandbox only)',
  'operator:read': 'Read the journal and the withdrawals that have not ended, of all customers',
  'operator:journal': 'Book journal entries, resolve and cancel withdrawals, of all customers',
  'operator:review': 'Review fiat accounts, suspense deposits and contradictions of rails, of all customers',
  'operator:approve':
    'Approve and reject requests of operators, release and refuse withdrawals that a policy holds, of all customers',
  'operator:admin': 'Freeze parties and the platform, change policies, clients and people, of all customers',
} as const satisfies Record<string, string>;

export type Scope = keyof typeof SCOPES;

export const SCOPE_NAMES = Object.keys(SCOPES) as readonly Scope[];

/**
 * The default for a new client. Operator scopes reach every customer, and who can add people can give them any role: these
 * scopes must be asked for.
 */
export const CUSTOMER_SCOPES: readonly Scope[] = SCOPE_NAMES.filter(
  (name) => !name.startsWith('operator:') && !name.startsWith('people:'),
);

/** Scopes that do not exist in production. */
export function isSimulation(scope: string): boolean {
  return scope.startsWith('sandbox:');
}

export function isScope(name: string): name is Scope {
  return Object.hasOwn(SCOPES, name);
}

/** RFC 6749 section 3.3: names separated by single spaces. Several spaces are accepted, duplicates are dropped. */
export function splitScope(text: string): string[] {
  return [...new Set(text.split(' ').filter((name) => name !== ''))];
}

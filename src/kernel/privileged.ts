/**
 * Actions that one pair of eyes is not enough for. The configuration says which of them need approval, and by how many. A new
 * one is a line here, and a `declare` in the capability that executes it (`src/approvals/action.ts`).
 */
export const PRIVILEGED_ACTIONS = {
  'journal_entry.book': 'Book a journal entry',
  'withdrawal.resolve': 'Resolve a withdrawal whose rail cannot tell',
  'withdrawal.cancel': 'Cancel a withdrawal that was not submitted',
  'suspense_deposit.credit': 'Credit a deposit in suspense',
  'fiat_account.approve': 'Approve a fiat account',
  'fiat_account.reject': 'Reject a fiat account',
  'withdrawal.release': 'Release a withdrawal that a policy of the operator holds',
  'withdrawal.refuse': 'Refuse a withdrawal that a policy of the operator holds',
  'own_withdrawal.release': 'Release a withdrawal that a policy of the customer holds',
  'own_withdrawal.refuse': 'Refuse a withdrawal that a policy of the customer holds',
  'policy.change': 'Change a policy of the operator',
  'own_policy.change': 'Change a policy of the customer',
  'own_destination.list': 'Put a destination on the list of the customer',
  'freeze.create': 'Freeze a party or the platform',
  'freeze.lift': 'Lift a freeze',
  'client.create': 'Create an API client',
  'client.change': 'Change the scopes, addresses or owner of an API client',
  'client.disable': 'Disable an API client',
  'client.enable': 'Enable an API client again',
  'client.add_credentials': 'Add keys or a secret to an API client',
  'client.remove_credential': 'Remove a key or a secret of an API client',
  'person.create': 'Add a person',
  'person.change': 'Change the roles, the name or the OpenID account of a person',
  'person.link': 'Create an enrolment link for a person',
  'own_person.create': 'Add a person of the customer',
  'own_person.change': 'Change the roles or the name of a person of the customer',
  'own_person.link': 'Create an enrolment link for a person of the customer',
} as const satisfies Record<string, string>;

/** Their proposals have personal data, so they are sealed in the database and shown as digests in the audit log. */
export const PERSONAL_ACTIONS: ReadonlySet<string> = new Set<keyof typeof PRIVILEGED_ACTIONS>([
  'person.create',
  'person.change',
  'own_person.create',
  'own_person.change',
]);

export type PrivilegedName = keyof typeof PRIVILEGED_ACTIONS;

export const PRIVILEGED_NAMES = Object.keys(PRIVILEGED_ACTIONS) as readonly PrivilegedName[];

/** How many must approve an action, and who may. */
export type Quorum = {
  /** 0: the action is executed at once. */
  readonly approvals: number;
  /** Ids of clients and people; undefined: all who have the scope. */
  readonly approvers?: readonly string[] | undefined;
};

export type FourEyes = (action: PrivilegedName) => Quorum;

/** For every action the same, unless the configuration names it. */
export function createFourEyes(
  approvals: number,
  named: Readonly<Partial<Record<PrivilegedName, Quorum>>> = {},
): FourEyes {
  const otherwise: Quorum = { approvals };
  return (action) => named[action] ?? otherwise;
}

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
  'freeze.create': 'Freeze a party or the platform',
  'freeze.lift': 'Lift a freeze',
} as const satisfies Record<string, string>;

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

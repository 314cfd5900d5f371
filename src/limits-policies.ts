/** Bounds on withdrawal policies and screening. */
export const POLICY_LIMITS = {
  policyNameMax: 60,
  /** Policies of one owner: all of them are read for every withdrawal. */
  policiesMax: 50,
  policyRulesMax: 50,
  /** Customers, profiles, rails or assets that a policy names. */
  policyListMax: 100,
  policyCoolingOffHoursMax: 30 * 24,
  /** How often a withdrawal is decided again because the policies changed in the meantime. */
  policyAttemptsMax: 5,
  /** Withdrawals that a dry run examines: some hundred milliseconds of computing. */
  policyDryRunMax: 10_000,
  /** Withdrawals that its answer names. */
  policyDryRunItemsMax: 100,
  policyDryRunDays: 30,
  /** How long uses are kept: a day longer than any dry run reads. */
  usesKeptDays: 31,
  /** How often older uses are deleted, and how many at once. */
  usesForgetMs: 60_000,
  usesForgottenMax: 1_000,
  /** Notes of one withdrawal that are read. There are hardly more than ten. */
  withdrawalNotesMax: 1_000,
  /** Time limit of a call of a screening hook, unless configured, and the longest one. A lease is longer. */
  screeningTimeoutMs: 5_000,
  screeningTimeoutMsMax: 10_000,
} as const;

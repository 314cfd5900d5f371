/** Operations, fields and parameters that differ from the others by design, for the tests of permissions and ownership. */

/** Public by design. */
export const PUBLIC = ['createToken', 'getAuthorizationServerMetadata', 'getKeys', 'revokeToken'];
/** For every caller, whatever its scopes: it answers what the caller knows. */
export const OF_EVERY_CALLER = ['getMe'];
/** Across customers by design; no others are. */
export const ACROSS_CUSTOMERS = [
  'addClientCredentials',
  'approveFiatAccount',
  'approveOperatorApproval',
  'bookJournalEntry',
  'cancelWithdrawal',
  'changeClient',
  'changePolicy',
  'claimOperatorApproval',
  'createClient',
  'createFreeze',
  'creditSuspenseDeposit',
  'disableClient',
  'dryRunPolicy',
  'enableClient',
  'getClient',
  'getFreeze',
  'getJournalEntry',
  'getOperatorApproval',
  'getPolicy',
  'getSettlementNetwork',
  'getTreasury',
  'getTrialBalance',
  'getWebhookHealth',
  'importStatement',
  'liftFreeze',
  'listAccountEntries',
  'listBalanceReports',
  'listClients',
  'listFiatAccountViews',
  'listFiatAccountsForReview',
  'listFreezes',
  'listJournalEntries',
  'listOpenWithdrawals',
  'listOperatorApprovals',
  'listOperatorAuditLog',
  'listPolicies',
  'listPolicyVersions',
  'listRailContradictions',
  'listSuspenseDeposits',
  'listUnmatched',
  'listWithdrawalNotes',
  'matchItems',
  'refuseHeldWithdrawal',
  'rejectFiatAccount',
  'rejectOperatorApproval',
  'releaseHeldWithdrawal',
  'removeClientCredential',
  'removeMatch',
  'reportBalance',
  'resolveWithdrawal',
  'searchEverything',
  'viewFiatAccountForReview',
];
/** May name any customer by design: value can be sent, and a settlement proposed, to every customer. */
export const ANYBODYS = [
  'createPlatformTransfer /to_profile_id',
  'createPlatformTransfers /transfers/0/to_profile_id',
  'createSettlementTransaction /target_profile_id',
];
/** Named like ids, but not ids of Ferry, or a list of profiles of any customer. */
export const NOT_OUR_IDS = [
  ...['changeOwnPolicy', 'changePolicy', 'dryRunOwnPolicy', 'dryRunPolicy'].flatMap((id) =>
    ['customer_ids', 'profile_ids'].map((field) => `${id} /applies_to/${field}`),
  ),
  'createClient /external_id',
  'createFiatAccount /fiat_network_instructions/cubix/account_id',
  'importStatement /statement_id',
  'matchItems /item_ids',
  'setProfileIncoming /profile_ids',
  'simulateFiatDeposit /memo_id',
  'updateFiatAccount /fiat_network_instructions/cubix/account_id',
];

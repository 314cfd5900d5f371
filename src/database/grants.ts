/**
 * What the service does with each table, and so what the role that serves may do with it. A row that is only ever inserted
 * can then be neither changed nor deleted by that role, whatever code runs in the service. Every role may read; nothing here
 * allows TRUNCATE, triggers or any change of the schema. Tests hold this list against the statements of the stores, and run
 * the service with these rights and no others.
 */
export type Grant = {
  readonly insert?: true;
  /** The columns that change. Locking a row (FOR UPDATE, FOR SHARE) requires one, too. */
  readonly update?: readonly string[];
  readonly delete?: true;
};

const INSERT = { insert: true } as const;

export const GRANTS: Readonly<Record<string, Grant>> = {
  // The ledger.
  balances: { insert: true, update: ['available', 'held', 'moved_at_ns'] },
  entries: INSERT,
  audit_checkpoints: INSERT,
  system_balances: { insert: true, update: ['balance'] },
  packed_rows: INSERT,
  system_deltas: { insert: true, update: ['delta'], delete: true },
  idempotency_keys: { insert: true, update: ['request'] },

  // The installation.
  schema_migrations: {},
  installation: INSERT,
  assets: INSERT,
  data_keys: { insert: true, update: ['wrapping_key', 'wrapped'] },
  deciding_node: { insert: true, update: ['node_id', 'address', 'until_ns'] },
  sealing_progress: { update: ['after_key', 'leased_until_ns', 'finished'] },

  // Customers and their clients.
  customers: { insert: true, update: ['points_per_second'] },
  clients: { insert: true, update: ['scopes', 'disabled_at_ns', 'allowed_addresses', 'owner_person_id'] },
  client_secrets: { insert: true, update: ['hash'], delete: true },
  client_keys: { insert: true, delete: true },
  used_assertions: { insert: true, delete: true },
  revoked_tokens: { insert: true, delete: true },
  signing_keys: { insert: true, update: ['private_jwk', 'retired_at_ns'], delete: true },

  // People, and how they sign in.
  people: { insert: true, update: ['roles', 'details', 'subject_digest', 'updated_at_ns', 'disabled_at_ns'] },
  passkeys: { insert: true, update: ['counter', 'name', 'used_at_ns'], delete: true },
  enrolment_links: {
    insert: true,
    update: ['token_digest', 'created_at_ns', 'expires_at_ns'],
    delete: true,
  },
  sessions: { insert: true, update: ['authenticated_at_ns', 'used_at_ns'], delete: true },
  used_challenges: { insert: true, delete: true },

  // What customers own.
  identities: {
    insert: true,
    update: ['person_details', 'institution_details', 'status', 'metadata', 'updated_at_ns'],
  },
  accounts: { insert: true, update: ['type', 'description', 'metadata', 'updated_at_ns'] },
  account_members: { insert: true, delete: true },
  profiles: {
    insert: true,
    update: ['nickname', 'description', 'status', 'accepted_profile_ids', 'changed_at_ns'],
  },
  fiat_accounts: {
    insert: true,
    update: [
      'status',
      'kind',
      'fiat_account_owner',
      'fiat_network_instructions',
      'metadata',
      'reason',
      'updated_at_ns',
      'deleted_at_ns',
    ],
  },
  fiat_account_views: INSERT,
  transfers: {
    insert: true,
    update: [
      'status',
      'updated_at_ns',
      'crypto_tx_hash',
      'crypto_tx_index',
      'secondary_status',
      'status_details',
      'beneficiary',
    ],
  },
  conversions: INSERT,
  guaranteed_fees: { insert: true, update: ['used_by'] },
  settlement_transactions: { insert: true, update: ['status', 'secondary_status', 'updated_at_ns'] },
  settlement_waits: { insert: true, update: ['seen_units', 'until_ns', 'version'], delete: true },

  // Control.
  freezes: { insert: true, update: ['lifted_by', 'lifted_because', 'lifted_at_ns'] },
  freeze_wakes: { insert: true, delete: true },
  policies: { insert: true, update: ['version', 'enabled', 'updated_at_ns'] },
  policy_versions: INSERT,
  policy_epochs: { insert: true, update: ['epoch'] },
  policy_destinations: {
    insert: true,
    update: ['listed', 'label', 'added_by', 'created_at_ns'],
    delete: true,
  },
  withdrawal_uses: { insert: true, update: ['released'], delete: true },
  withdrawal_notes: INSERT,

  // Withdrawals and deposits.
  withdrawal_work: {
    insert: true,
    update: [
      'state',
      'due_at_ns',
      'version',
      'attempts',
      'failures',
      'intent_at_ns',
      'payment',
      'frozen',
      'holds',
    ],
    delete: true,
  },
  withdrawal_wakes: { insert: true, update: ['fiat_account_id'], delete: true },
  rail_contradictions: INSERT,
  rent_paid: { insert: true, update: ['lamports'] },
  deposit_addresses: INSERT,
  fiat_deposit_instructions: INSERT,
  // Deleted when the reversal of a deposit that was booked by hand releases its reference.
  arrivals: { insert: true, delete: true },
  suspense_deposits: { insert: true, update: ['transfer_id', 'returned_by'] },
  withdrawal_returns: { insert: true, update: ['returned_units'] },

  // Rails.
  rail_payments: {
    insert: true,
    update: [
      'state',
      'detail',
      'private_detail',
      'tx_hash',
      'tx_index',
      'confirmations',
      'required',
      'taken',
      'updated_at_ns',
    ],
  },
  rail_notices: { insert: true, delete: true },
  chain_assignments: {
    insert: true,
    update: ['slot', 'state', 'tx_hash', 'fee_units', 'height', 'updated_at_ns'],
  },
  chain_assignment_payments: { insert: true, update: ['active'] },
  chain_versions: { insert: true, update: ['broadcast_at_ns'] },
  chain_moves: INSERT,
  chain_unswept: { insert: true, update: ['units', 'changed_height', 'read_height'], delete: true },
  chain_wallets: {
    insert: true,
    update: [
      'hot_units',
      'cold_units',
      'gas_payments',
      'height',
      'hash',
      'observed_at_ns',
      'difference_units',
      'differs_since_ns',
    ],
  },
  chain_refills: {
    insert: true,
    update: ['height', 'fee_units', 'booked', 'updated_at_ns'],
    delete: true,
  },
  bank_leases: { insert: true, update: ['holder', 'leased_until_ns'] },
  bank_files: { insert: true, update: ['state', 'staged_as', 'detail', 'uploaded_at_ns', 'updated_at_ns'] },
  bank_file_payments: { insert: true, update: ['outcome'], delete: true },
  bank_received: INSERT,
  bank_entries: { insert: true, update: ['statement_id'] },
  bank_statements: { insert: true, update: ['reconciled', 'compared'] },
  bank_findings: INSERT,
  bank_announced: { insert: true, update: ['state'] },
  chain_coins: { insert: true, update: ['height', 'assignment_id', 'spent_height'], delete: true },
  chain_leases: { insert: true, update: ['holder', 'leased_until_ns'] },
  chain_stops: { insert: true, update: ['code', 'reason', 'since_ns', 'needs_operator'], delete: true },
  chain_accounts: { insert: true, update: ['next_number'] },
  chain_addresses: INSERT,
  chain_blocks: { insert: true, delete: true },
  chain_deposits: {
    insert: true,
    update: ['output', 'address', 'asset', 'units', 'height', 'reported'],
    delete: true,
  },

  // Reconciliation.
  reconciled_accounts: { insert: true, update: ['copied_ns'] },
  reconciliation_statements: INSERT,
  reconciliation_balances: INSERT,
  reconciliation_references: INSERT,
  reconciliation_items: { insert: true, update: ['match_id'] },
  reconciliation_matches: { insert: true, update: ['removed_by', 'removed_because', 'removed_at_ns'] },

  // Requests that need approval.
  approvals: {
    insert: true,
    update: ['status', 'votes', 'problem', 'result', 'updated_at_ns', 'claimed_at_ns'],
  },

  // The operator's journal.
  journal_entries: INSERT,
  journal_postings: INSERT,

  // Events and webhooks.
  event_groups: { insert: true, update: ['position', 'events'] },
  event_resources: INSERT,
  event_sequence: { update: ['position', 'at_ns'] },
  event_marks: INSERT,
  event_erasures: { insert: true, update: ['fields'], delete: true },
  webhook_endpoints: {
    insert: true,
    update: [
      'url',
      'event_types',
      'description',
      'enabled',
      'disabled_reason',
      'secret',
      'previous_secret',
      'previous_until_ns',
      'updated_at_ns',
      'deleted_at_ns',
    ],
  },
  webhook_progress: {
    insert: true,
    update: [
      'position',
      'line',
      'more',
      'replay_from_ns',
      'replay_until_position',
      'replay_until_line',
      'generation',
      'lease_token',
      'leased_until_ms',
      'failures',
      'failing_since_ms',
      'probe_at_ms',
    ],
  },
  webhook_deliveries: {
    insert: true,
    update: [
      'status',
      'attempts',
      'first_try_ms',
      'due_at_ms',
      'request',
      'response',
      'error',
      'updated_at_ns',
    ],
    delete: true,
  },

  // The outside world of the sandbox.
  sandbox_payments: {
    insert: true,
    update: ['destination', 'requests', 'turned_away', 'accepted_at_ns', 'forced'],
  },
  sandbox_notices: { insert: true, delete: true },

  // Views.
  client_owners: {},
  customer_names: {},
  expected_holds: {},
  expected_postings: {},
  freezable: {},
  freezes_in_force: {},
  frozen_identities: {},
  frozen_profiles: {},
  frozen_transfers: {},
  record_faults: {},
  settlement_grown: {},
  signer_assignments: {},
  signer_coins: {},
  signer_payments: {},
  signer_signed: {},
  signer_versions: {},
  treasury_ledger: {},
  treasury_notices: {},
  treasury_payments: {},
};

/** As an identifier in a statement. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function verbs({ insert, update, delete: deletes }: Grant): string {
  return [
    'select',
    ...(insert ? ['insert'] : []),
    ...(update === undefined ? [] : [`update (${update.map(quoted).join(', ')})`]),
    ...(deletes ? ['delete'] : []),
  ].join(', ');
}

/** Statements that give a role exactly these rights on the existing tables of a schema, and take all others from it. */
export function grantStatements(role: string, schema: string, existing: ReadonlySet<string>): string[] {
  const [to, inSchema] = [quoted(role), quoted(schema)];
  const tables = Object.keys(GRANTS).filter((table) => existing.has(table));
  return [
    `revoke all on all tables in schema ${inSchema} from ${to}`,
    `revoke all on schema ${inSchema} from ${to}`,
    `grant usage on schema ${inSchema} to ${to}`,
    ...tables.map((table) => `grant ${verbs(GRANTS[table]!)} on ${inSchema}.${quoted(table)} to ${to}`),
    `grant execute on all functions in schema ${inSchema} to ${to}`,
  ];
}

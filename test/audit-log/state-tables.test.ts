import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { disableClient, enableClient } from '../../src/auth/administration.ts';
import { addKeys, changeScopes } from '../../src/auth/credentials.ts';
import { setProfile } from '../../src/cli/statuses.ts';
import { freeze, lift } from '../../src/freezes/act.ts';
import { cliActor } from '../../src/kernel/actor.ts';
import { newId } from '../../src/kernel/id.ts';
import { BEHIND_PROXY } from '../people/visitor.ts';
import { openItems } from '../support/books.ts';
import { newClient, publicKey } from '../support/client-cases.ts';
import { createPersonEye } from '../support/four-eyes.ts';
import { createPrivilegedWorld, evidence, policyRequest } from '../support/privileged-cases.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { expectPresent } from './present-state.ts';

/**
 * Every table of the database is in one of these two lists: a new one is named by the first test. Rows of RECORDED have a resource
 * in the audit log, found by this expression, and so an actor; tables of UNRECORDED have a reason for having none.
 */
const RECORDED: Readonly<Record<string, string>> = {
  customers: 'id',
  clients: 'id',
  client_secrets: 'client_id',
  client_keys: 'client_id',
  people: 'id',
  passkeys: 'person_id',
  enrolment_links: 'person_id',
  sessions: 'person_id',
  identities: 'id',
  accounts: 'id',
  account_members: 'account_id',
  // The builder of the tests inserts profiles without the service, with the time 0.
  profiles: 'case when created_at_ns > 0 then id end',
  fiat_accounts: 'id',
  transfers: 'id',
  guaranteed_fees: 'id',
  settlement_transactions: 'id',
  conversions: 'id',
  freezes: 'id',
  policies: 'id',
  policy_versions: 'policy_id',
  policy_destinations: 'case when listed then id end',
  withdrawal_work: 'transfer_id',
  withdrawal_uses: 'transfer_id',
  withdrawal_notes: 'transfer_id',
  withdrawal_returns: 'transfer_id',
  deposit_addresses: 'id',
  fiat_deposit_instructions: 'id',
  suspense_deposits: 'id',
  reconciliation_statements: 'id',
  reconciliation_balances: 'id',
  reconciliation_matches: 'case when actor is not null then id end',
  approvals: 'id',
  journal_entries: 'id',
  journal_postings: 'journal_entry_id',
  webhook_endpoints: 'id',
  revoked_tokens: 'jti',
};

const DERIVED = 'follows from records that have an actor, in their transaction';
const INSTALLED = 'of the installation: made by a migration, by the first start or from the configuration';
const LEASES = 'who works on something at the moment: leases, cursors and queues of workers';
const OF_RAILS = 'what a rail, a bank or a chain did or said, as the worker of the rail saw it';

const UNRECORDED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['balances', 'entries', 'system_balances', 'packed_rows', 'system_deltas', 'idempotency_keys'].map(
      (name) => [name, DERIVED],
    ),
  ),
  ...Object.fromEntries(
    ['policy_epochs', 'arrivals', 'reconciliation_items', 'reconciliation_references', 'rent_paid'].map(
      (name) => [name, DERIVED],
    ),
  ),
  ...Object.fromEntries(
    ['schema_migrations', 'installation', 'assets', 'data_keys', 'signing_keys', 'chain_accounts'].map(
      (name) => [name, INSTALLED],
    ),
  ),
  ...Object.fromEntries(
    [
      'sealing_progress',
      'audit_checkpoints',
      'settlement_waits',
      'freeze_wakes',
      'withdrawal_wakes',
      'reconciled_accounts',
      'bank_leases',
      'chain_leases',
      'deciding_node',
      'chain_stops',
      'webhook_progress',
      'webhook_deliveries',
      'event_erasures',
    ].map((name) => [name, LEASES]),
  ),
  ...Object.fromEntries(
    [
      'rail_contradictions',
      'rail_payments',
      'rail_notices',
      'chain_assignments',
      'chain_assignment_payments',
      'chain_versions',
      'chain_moves',
      'chain_unswept',
      'chain_wallets',
      'chain_refills',
      'chain_coins',
      'chain_addresses',
      'chain_blocks',
      'chain_deposits',
      'bank_files',
      'bank_file_payments',
      'bank_received',
      'bank_entries',
      'bank_statements',
      'bank_findings',
      'bank_announced',
      'sandbox_payments',
      'sandbox_notices',
    ].map((name) => [name, OF_RAILS]),
  ),
  event_groups: 'the log itself',
  event_resources: 'the log itself',
  event_sequence: 'the log itself',
  event_marks: 'the log itself',
  fiat_account_views: 'a record of who looked: it names the client',
  used_assertions: 'of a proof that a client gave, so that it counts once',
  used_challenges: 'of a proof that a person gave, so that it counts once',
};

let service: TestService;
let operator: TestCustomer;
let alice: TestCustomer;
beforeAll(async () => {
  service = await startTestService({ FERRY_WORKERS: 'on', ...BEHIND_PROXY });
  operator = await service.createCustomer();
  alice = await service.createCustomer();
});
afterAll(() => service.stop());

async function done(customer: TestCustomer, method: string, path: string, body?: object): Promise<any> {
  const answer = await customer.call(method, path, body);
  expect({ path, status: answer.status, body: answer.body }).toMatchObject({ status: 200 });
  return answer.body;
}

/** As operators do on the command line. */
async function administer(): Promise<void> {
  const { database } = service;
  const { id } = await newClient({ service, customer: alice });
  await changeScopes(database, id, ['transfer:read_transfer']);
  await addKeys(database, id, JSON.stringify(publicKey()));
  await disableClient(database, id);
  await enableClient(database, id);
  const profile = await service.createProfile(alice, { USD: '5' });
  await setProfile(database, profile, false);
  await setProfile(database, profile, true);
  const actor = cliActor('tester');
  const frozen = await freeze(
    database,
    { scope: 'PROFILE', subjectId: profile, reason: 'CASE-1', actor },
    [],
  );
  await lift(database, frozen.freeze.id, actor, 'CASE-1 is closed.');
}

/** As customers and operators do with the API, while workers run. */
async function operate(): Promise<TestCustomer> {
  const world = await createPrivilegedWorld(service, { clientId: '', call: operator.call });
  const { customer, profile } = world;
  const [first, second] = [await world.withdrawal(), await world.withdrawal()];
  await until('the withdrawals end', async () =>
    (await Promise.all([first, second].map(world.transferOf))).every(({ status }) => status !== 'PENDING'),
  );
  const other = await service.createProfile(customer);
  const payment = { from_profile_id: profile, to_profile_id: other, asset: 'USD', amount: '1' };
  await done(customer, 'POST', '/v2/transfer/platform', { ...payment, ref_id: newId() });
  const accepts = { accepts_from: 'LISTED', profile_ids: [profile] };
  await done(customer, 'PUT', `/v2/profiles/${other}/incoming`, accepts);
  const person = { first_name: 'Ziporah', last_name: 'Quillfeather' };
  const identity = await done(customer, 'POST', '/v2/identity/identities', {
    type: 'PERSON',
    person_details: person,
  });
  await done(customer, 'POST', '/v2/identity/accounts', { account: { identity_id: identity.id } });
  await world.account();
  await world.suspense();
  const address = { profile_id: profile, crypto_network: 'BITCOIN' };
  await done(customer, 'POST', '/v2/transfer/deposit-addresses', address);
  const webhook = { url: 'http://127.0.0.1:9/', event_types: ['webhook_endpoint.disabled'] };
  await done(customer, 'POST', '/v2/events/webhooks', webhook);
  await done(customer, 'POST', '/v2/policies', policyRequest(newId()));
  await done(customer, 'POST', '/v2/destinations', { destination: `fiat_account/${newId()}` });
  const write = { kind: 'WRITE_OFF', profile_id: profile, asset: 'USD', amount: '1', ...evidence() };
  await done(operator, 'POST', '/v2/operator/journal-entries', write);
  const match = { item_ids: await openItems(operator), reason: 'A payment and its return.' };
  const { id } = await done(operator, 'POST', '/v2/operator/reconciliations/matches', match);
  await done(operator, 'POST', `/v2/operator/reconciliations/matches/${id}/remove`, { reason: 'Wrong.' });
  await createPersonEye(service, customer.id, ['VIEWER']);
  return customer;
}

async function wholeLog(): Promise<any[]> {
  await until('the log is complete', async () => {
    const rows = await service.database.query('select from event_groups where position is null');
    return rows.length === 0;
  });
  const entries: any[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await operator.call('GET', `/v2/operator/audit-log?order=ASC&limit=500${cursor}`);
    entries.push(...body.items);
    if (body.next_page_cursor === undefined) return entries;
    cursor = `&page_cursor=${body.next_page_cursor}`;
  }
}

describe('after a run of everything', () => {
  it('every table is known here: its rows have an actor, or a reason for having none', async () => {
    const tables = await service.database.query<{ name: string }>(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = current_schema() and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
    );
    const known = new Set([...Object.keys(RECORDED), ...Object.keys(UNRECORDED)]);
    expect(tables.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
    expect([...known].filter((name) => !tables.some((one) => one.name === name))).toEqual([]);
  });

  it('every row has an actor, and the log replays to the present: what was before is what the change before left, and the last change left what the API shows now', async () => {
    await administer();
    const customer = await operate();
    const entries = await wholeLog();
    expect(entries.filter(({ actor }) => actor?.id === undefined)).toEqual([]);
    const last = new Map<string, any>();
    for (const entry of entries.filter(({ outcome }) => outcome === 'DONE')) {
      const key = `${entry.resource_type} ${entry.resource_id} ${entry.customer_id}`;
      const known = last.get(key);
      // Several changes of one command have one instant.
      if (known?.created_at !== entry.created_at) expect([key, entry.before]).toEqual([key, known?.after]);
      last.set(key, entry);
    }
    const compared = await expectPresent(service, last.values(), [operator, alice, customer]);
    for (const type of [
      'client',
      'customer',
      'deposit_address',
      'destination',
      'fiat_account',
      'freeze',
      'identity',
      'journal',
      'person',
      'policy',
      'profile',
      'reconciliation_match',
      'suspense_deposit',
      'transfer',
    ])
      expect(compared).toContain(type);
    const logged = new Set(entries.map(({ resource_id: id }) => id));
    for (const [table, id] of Object.entries(RECORDED)) {
      const rows = await service.database.query<{ id: string | null }>(
        `select distinct (${id})::text as id from ${table}`,
      );
      const without = rows.filter((row) => row.id !== null && !logged.has(row.id));
      expect({ table, without }).toEqual({ table, without: [] });
    }
  });
});

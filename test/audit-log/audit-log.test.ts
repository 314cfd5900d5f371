import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { disableClient, limitCustomer } from '../../src/auth/administration.ts';
import { addSecret } from '../../src/auth/credentials.ts';
import type { Database } from '../../src/database/database.ts';
import { canonicalText } from '../../src/kernel/canonical.ts';
import { newId } from '../../src/kernel/id.ts';
import { parseInstant } from '../../src/kernel/instant.ts';
import { FIAT_ACCOUNTS, request as fiatAccount } from '../support/fiat-accounts.ts';
import { createEye, type Eye } from '../support/four-eyes.ts';
import {
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
/** As the role that serves. */
let serving: Database;
let alice: TestCustomer;
let bob: TestCustomer;
let operator: Eye;
beforeAll(async () => {
  service = await startTestService({ FERRY_WORKERS: 'on' }, undefined, (database) => {
    serving = database;
    return database;
  });
  alice = await service.createCustomer();
  bob = await service.createCustomer();
  const scopes = ['operator:read', 'operator:journal', 'operator:review'];
  operator = await createEye(service, bob.id, { scopes });
});
afterAll(() => service.stop());

async function pages(read: (path: string) => Promise<any>, path: string): Promise<any[]> {
  const items: any[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await read(`${path}${cursor && `&page_cursor=${cursor}`}`);
    items.push(...body.items);
    if (body.next_page_cursor === undefined) return items;
    cursor = body.next_page_cursor;
  }
}
const log = (query = ''): Promise<any[]> =>
  pages((path) => operator.call('GET', path), `/v2/operator/audit-log?order=ASC&limit=50${query}`);
const own = (customer: TestCustomer, query = ''): Promise<any[]> =>
  pages((path) => customer.call('GET', path), `/v2/audit-log?order=ASC&limit=50${query}`);

/** Everything that was committed is in the feed, and so in the log. */
const sequenced = () =>
  until('the log is complete', async () => {
    const rows = await service.database.query('select from event_groups where position is null');
    return rows.length === 0;
  });

async function created(path: string, body: object, customer = alice): Promise<any> {
  const answer = await customer.call('POST', path, body);
  expect({ path, status: answer.status, body: answer.body }).toMatchObject({ status: 200 });
  return answer.body;
}

/** One of everything, and what the API shows of it afterwards. */
async function makeHistory(): Promise<Map<string, () => Promise<any>>> {
  const now = new Map<string, () => Promise<any>>();
  const shows = (type: string, id: string, path: string, customer = alice) =>
    now.set(`${type} ${id}`, async () => (await customer.call('GET', `${path}/${id}`)).body);
  const profile = await created('/v2/profiles', { nickname: 'one' });
  const other = await created('/v2/profiles', { nickname: 'two' });
  shows('profile', profile.id, '/v2/profiles');
  const person = { type: 'PERSON', person_details: { first_name: 'Ziporah', last_name: 'Quillfeather' } };
  const identity = await created('/v2/identity/identities', person);
  shows('identity', identity.id, '/v2/identity/identities');
  const account = await created('/v2/identity/accounts', {
    account: { identity_id: identity.id },
    create_profile: false,
  });
  await created('/v2/identity/account-members', {
    account_id: account.id,
    members: [{ identity_id: identity.id, roles: ['AUTHORIZED_USER'] }],
  });
  await created(`/v2/sandbox/profiles/${profile.id}/deposit`, { asset: 'USD', amount: '1000' });
  await created(`/v2/sandbox/profiles/${profile.id}/deposit`, {
    asset: 'ETH',
    amount: '5',
    crypto_network: 'ETHEREUM',
  });
  const fiat = await created(FIAT_ACCOUNTS, { ...fiatAccount, ref_id: newId() });
  shows('fiat_account', fiat.id, FIAT_ACCOUNTS);
  const paid = await created('/v2/transfer/platform', {
    from_profile_id: profile.id,
    to_profile_id: other.id,
    asset: 'USD',
    amount: '1',
    ref_id: newId(),
  });
  shows('transfer', paid.id, '/v2/transfer/transfers');
  const withdrawn = await created('/v2/transfer/crypto-withdrawals', {
    profile_id: profile.id,
    asset: 'ETH',
    amount: '0.5',
    crypto_network: 'ETHEREUM',
    destination_address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
    ref_id: newId(),
  });
  shows('transfer', withdrawn.id, '/v2/transfer/transfers');
  await until('the withdrawal ends', async () => {
    const { body } = await alice.call('GET', `/v2/transfer/transfers/${withdrawn.id}`);
    return body.status !== 'PENDING';
  });
  const webhook = await created('/v2/events/webhooks', {
    url: 'http://127.0.0.1:9/',
    event_types: ['webhook_endpoint.disabled'],
  });
  await alice.call('PUT', `/v2/events/webhooks/${webhook.id}`, { description: 'Changed' });
  shows('webhook_endpoint', webhook.id, '/v2/events/webhooks');
  const entry = await operator.call('POST', '/v2/operator/journal-entries', {
    kind: 'WRITE_OFF',
    profile_id: profile.id,
    asset: 'USD',
    amount: '2',
    ref_id: newId(),
    reason: 'Goodwill.',
    reference: 'CASE-1',
  });
  now.set(
    `journal ${entry.body.id}`,
    async () => (await operator.call('GET', `/v2/operator/journal-entries/${entry.body.id}`)).body,
  );
  return now;
}

describe('the audit log', () => {
  it('replays to the present state, and every change has an actor', async () => {
    const present = await makeHistory();
    await sequenced();
    const entries = await log();
    expect(entries.filter(({ actor }) => actor === undefined)).toEqual([]);
    const last = new Map<string, any>();
    for (const entry of entries.filter(({ outcome }) => outcome === 'DONE')) {
      const key = `${entry.resource_type} ${entry.resource_id} ${entry.customer_id}`;
      const known = last.get(key);
      // Several changes of one command have one instant.
      if (known?.created_at !== entry.created_at) expect([key, entry.before]).toEqual([key, known?.after]);
      last.set(key, entry);
    }
    for (const [key, show] of present) {
      const [type, id] = key.split(' ');
      const found = [...last.values()].findLast(
        (one) => one.resource_type === type && one.resource_id === id,
      );
      const shown = await show();
      if (found.after.sealed_digest === undefined)
        expect([key, found.after]).toEqual([key, expect.objectContaining(JSON.parse(JSON.stringify(shown)))]);
      else if (type === 'identity')
        expect(found.after.sealed_digest).toBe(service.vault.digester('audit_log')(canonicalText(shown)));
    }
  });

  it('names the client, its address and its request, and workers by their name', async () => {
    const requestId = newId();
    const answer = await alice.call(
      'POST',
      '/v2/profiles',
      { nickname: 'three' },
      { 'x-request-id': requestId },
    );
    await sequenced();
    const [entry] = await log(`&resource_ids=${answer.body.id}`);
    expect(entry).toMatchObject({
      action: 'profile.created',
      resource_type: 'profile',
      customer_id: alice.id,
      actor: {
        kind: 'CLIENT',
        customer_id: alice.id,
        name: 'test',
        request_id: requestId,
        from: expect.any(String),
      },
    });
    expect(entry.before).toBeUndefined();
    const workers = await log('&actor_ids=worker:withdrawals');
    expect(workers.map(({ action }) => action)).toContain('transfer.crypto_withdrawal.completed');
  });

  it('shows a customer its own part, and of others only the kind of actor', async () => {
    await sequenced();
    const entries = await own(alice);
    expect(new Set(entries.map(({ customer_id }) => customer_id))).toEqual(new Set([alice.id]));
    const debit = entries.find(({ action }) => action === 'journal_entry.debited');
    expect(debit.actor).toEqual({ kind: 'CLIENT' });
    expectProblem(
      await (await service.createCustomer({ scopes: ['events:read_event'] })).call('GET', '/v2/audit-log'),
      403,
      'insufficient-scope',
    );
  });

  it('is filtered by action and time, and pages in both directions', async () => {
    await sequenced();
    const all = await log();
    const profiles = await log('&actions=profile.*');
    expect(profiles).toEqual(all.filter(({ action }) => action.startsWith('profile.')));
    const middle = all[Math.floor(all.length / 2)].created_at;
    const since = all.filter(({ created_at: at }) => parseInstant(at)! >= parseInstant(middle)!);
    expect(await log(`&created_at.gte=${middle}`)).toEqual(since);
    const down = await pages((path) => operator.call('GET', path), '/v2/operator/audit-log?limit=3');
    expect(down).toEqual(all.toReversed());
    expectInvalid(await operator.call('GET', '/v2/operator/audit-log?page_cursor=x'), '/query/page_cursor');
  });

  it('has changes of clients and customers that were made without a command, without secrets', async () => {
    const { database, vault } = service;
    const { clientId } = await createEye(service, alice.id, { scopes: ['events:read_event'] });
    const { clientSecret, id } = await addSecret(database, vault, clientId);
    await disableClient(database, clientId);
    await limitCustomer(database, alice.id, 500);
    await sequenced();
    const changes = await log(`&resource_ids=${clientId}`);
    expect(changes.map(({ action }) => action)).toEqual(['client.created', 'client.disabled']);
    expect(changes[1].before).toEqual(changes[0].after);
    expect(changes[1].after.disabled_at).toEqual(expect.any(String));
    expect((await log(`&resource_ids=${id}`))[0]).toMatchObject({ action: 'client_secret.added' });
    expect((await log(`&resource_ids=${alice.id}`)).at(-1)).toMatchObject({
      action: 'customer.limited',
      after: { points_per_second: 500 },
    });
    expect(JSON.stringify(await log())).not.toContain(clientSecret);
  });

  it('shows personal data as digests only', async () => {
    await sequenced();
    const text = JSON.stringify([await log(), await own(alice)]);
    expect(text).not.toContain('Quillfeather');
    expect(text).toContain('sealed_digest');
  });

  it('counts refused attempts at privileged actions, in few lines', async () => {
    const path = '/v2/operator/journal-entries';
    const intruder = await createEye(service, alice.id, { scopes: ['funding:read_profile'] });
    for (let attempt = 0; attempt < 30; attempt += 1) {
      const answer = await intruder.call('POST', path, {
        kind: 'WRITE_OFF',
        ref_id: newId(),
        reason: 'x',
        reference: 'x',
      });
      expectProblem(answer, 403, 'insufficient-scope');
    }
    const query = `&actor_ids=${intruder.clientId}`;
    await until('the refused attempts are in the log', async () => (await log(query)).length > 0);
    const lines = await log(query);
    expect(lines.length).toBeLessThanOrEqual(2);
    expect(lines[0]).toMatchObject({
      action: 'journal_entry.book',
      outcome: 'REFUSED',
      refusal: { problem: 'insufficient-scope' },
    });
  });

  it('cannot be changed or deleted by the role that serves: the database refuses every attempt', async () => {
    await sequenced();
    const columns = await service.database.query<{ name: string }>(
      "select attname as name from pg_attribute where attrelid = 'event_groups'::regclass and attnum > 0",
    );
    // `position` is set when a group is sequenced, and `events` when personal data is erased.
    const fixed = columns.map(({ name }) => name).filter((name) => !['position', 'events'].includes(name));
    expect(fixed).toEqual(expect.arrayContaining(['actors', 'records', 'customer_id', 'at_ns', 'types']));
    const contents = () =>
      service.database.query('select * from event_groups order by batch_id, customer_id');
    const before = await contents();
    for (const statement of [
      ...fixed.map((name) => `update event_groups set ${name} = ${name}`),
      'delete from event_groups',
      'truncate event_groups',
      'alter table event_groups disable trigger all',
      'alter table event_groups drop constraint event_groups_have_actors',
      'drop table event_groups',
    ]) {
      const refused = serving.query(statement).then(
        () => 'executed',
        ({ code }: { code?: string }) => code,
      );
      expect([statement, await refused]).toEqual([statement, '42501']);
    }
    expect(before).not.toEqual([]);
    expect(await contents()).toEqual(before);
  });

  it('has no row without actors, not even one that bypasses the service', async () => {
    const { database } = service;
    const insert = (actors: string) =>
      database.query(
        `insert into event_groups (batch_id, customer_id, at_ns, lines, last_line, types, events, records, actors)
         values ($1, $1, 1, 1, 1, '{}', '', '', ${actors})`,
        [newId()],
      );
    await expect(insert('null')).rejects.toThrow();
    await expect(insert("''")).rejects.toThrow();
  });

  it('has the cause of every entry of the ledger', async () => {
    await sequenced();
    const causes = await service.database.query<{ id: string }>(
      `with causes as materialized (select distinct cause_id from entries),
            known as materialized (select id, group_id from transfers)
       select distinct coalesce(t.id, e.cause_id)::text as id from causes e
       left join known t on t.group_id = e.cause_id or t.id = e.cause_id`,
    );
    const logged = new Set((await log()).map(({ resource_id }) => resource_id));
    expect(causes.map(({ id }) => id).filter((id) => !logged.has(id))).toEqual([]);
  });
});

import { createCipheriv, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, createCustomer } from '../../src/auth/administration.ts';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import type { Connection, Database } from '../../src/database/database.ts';
import { packLine, packText } from '../../src/events/pack.ts';
import { newBatchId, newId } from '../../src/kernel/id.ts';
import { assemble, type Service } from '../../src/main.ts';
import type { TestDatabase } from '../support/database.ts';
import { dumpText } from '../support/dump.ts';
import { databaseBefore } from '../support/migrations.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { connectUnlocked } from '../support/vault.ts';

const KEY = randomBytes(32);
const NUMBER = '000987123465';
const DELETED_NUMBER = '000987555777';
const PERSON = { person_details: { first_name: 'Ziporah', last_name: 'Quillfeather' } };
const IDENTITIES = 1_200;

const ids = {
  customer: newId(),
  profile: newId(),
  account: newId(),
  deleted: newId(),
  transfer: newId(),
  hook: newId(),
  lostHook: newId(),
  delivery: newId(),
  batch: newBatchId(),
};
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const instructions = (number: string) => ({
  wire: {
    account_number: number,
    routing_details: {
      routing_number_type: 'ABA',
      routing_number: '021000021',
      bank_name: 'First Bank',
      bank_address: { country: 'US' },
    },
    fiat_account_owner_address: { country: 'US', address1: 'Zanzibar Lane 17' },
  },
});
const fiatRequest = {
  fiat_account_owner: PERSON,
  fiat_network_instructions: instructions(NUMBER),
  ref_id: 'old',
};

/** As releases before the vault encrypted the secrets of endpoints. */
function oldSealed(key: Buffer, secret: string, endpointId: string): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(endpointId));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return `v1:${Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')}`;
}

async function writeSigningKey(connection: Connection): Promise<void> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const jwk = await exportJWK(privateKey);
  const id = await calculateJwkThumbprint(jwk);
  const { kty, crv, x } = jwk;
  await connection.query(
    'insert into signing_keys (id, private_jwk, public_jwk, created_at_ns) values ($1, $2::text::jsonb, $3::text::jsonb, 1)',
    [id, JSON.stringify(jwk), JSON.stringify({ kty, crv, x, kid: id, alg: 'EdDSA', use: 'sig' })],
  );
}

async function writeFiatAccounts(connection: Connection): Promise<void> {
  for (const [id, number, deletedAt] of [
    [ids.account, NUMBER, null],
    [ids.deleted, DELETED_NUMBER, 9n],
  ] as const) {
    await connection.query(
      `insert into fiat_accounts (id, customer_id, status, kind, fiat_account_owner, fiat_network_instructions, ref_id,
                                  created_at_ns, updated_at_ns, deleted_at_ns)
       values ($1, $2, 'APPROVED', 'wire', $3::text::jsonb, $4::text::jsonb, null, 1, 9, $5)`,
      [id, ids.customer, JSON.stringify(PERSON), JSON.stringify(instructions(number)), deletedAt],
    );
  }
  const shown = (id: string) => JSON.stringify({ id, fiat_account_owner: PERSON, status: 'APPROVED' });
  const lines = [ids.account, ids.deleted].map((id, index) =>
    packLine(index + 1, 'fiat_account.approved', id, 1n, shown(id)),
  );
  await connection.query(
    `insert into event_groups (batch_id, customer_id, at_ns, position, lines, last_line, types, events)
     values ($1, $2, 1, 1, 2, 2, '{fiat_account.approved}', $3)`,
    [ids.batch, ids.customer, packText(lines.join(''))],
  );
  await connection.query('update event_sequence set position = 1, at_ns = 1');
  await connection.query('insert into event_resources values ($1, $3), ($2, $3)', [
    ids.account,
    ids.deleted,
    ids.batch,
  ]);
  await connection.query(
    `insert into idempotency_keys (customer_id, space, ref_id, resource_id, request)
     values ($1, 'fiat_accounts', 'old', $2, $3)`,
    [ids.customer, ids.account, JSON.stringify(fiatRequest)],
  );
}

async function writeWithdrawal(connection: Connection): Promise<void> {
  await connection.query(
    `insert into transfers (id, customer_id, profile_id, type, direction, status, asset, amount_units, fee_units,
                            balance_asset, balance_units, created_at_ns, updated_at_ns, crypto_network, beneficiary)
     values ($1, $2, $3, 'CRYPTO_WITHDRAWAL', 'DEBIT', 'COMPLETED', 'BTC', 5, 0, 'BTC', 5, 1, 1, 'BITCOIN',
             $4::text::jsonb)`,
    [ids.transfer, ids.customer, ids.profile, JSON.stringify(PERSON)],
  );
  const destination = { instructions: instructions(NUMBER), owner: PERSON };
  await connection.query(
    `insert into withdrawal_work (transfer_id, rail, state, due_at_ns, payment)
     values ($1, 'no such rail', 'SUBMITTED', 1, $2::text::jsonb)`,
    [newId(), JSON.stringify({ key: 'x', asset: 'USD', amountUnits: '5', amount: '0.05', destination })],
  );
  await connection.query(
    `insert into sandbox_payments (rail, key, asset, amount_units, destination, behaviour, requests, turned_away)
     values ('wire', 'x', 'USD', 5, $1, 'pay', 1, 0)`,
    [JSON.stringify(instructions(NUMBER))],
  );
}

async function writeWebhooks(connection: Connection, url: string): Promise<void> {
  for (const [id, secret] of [
    [ids.hook, oldSealed(KEY, SECRET, ids.hook)],
    [ids.lostHook, oldSealed(randomBytes(32), SECRET, ids.lostHook)],
  ] as const) {
    await connection.query(
      `insert into webhook_endpoints (id, customer_id, url, event_types, enabled, secret, previous_secret,
                                      previous_until_ns, created_at_ns, updated_at_ns)
       values ($1, $2, $3, '{transfer.*}', true, $4, $4, $5, 1, 1)`,
      [id, ids.customer, url, secret, 2n ** 62n],
    );
    await connection.query(
      'insert into webhook_progress (endpoint_id, customer_id, position, line) values ($1, $2, 1, 9)',
      [id, ids.customer],
    );
  }
  await connection.query(
    `insert into webhook_deliveries (id, endpoint_id, customer_id, event_id, event_at_ns, position, line, resource_id,
                                     trigger, status, due_at_ms, request, response, created_at_ns, updated_at_ns)
     values ($1, $2, $3, $4, 1, 1, 1, $5, 'EVENT', 'DELIVERED', 0, '{"url":"https://a.example","headers":{}}',
             $6::text::jsonb, 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000)`,
    [
      ids.delivery,
      ids.hook,
      ids.customer,
      `${ids.batch.slice(0, -4)}0001`,
      ids.account,
      JSON.stringify({ status: 200, headers: {}, body: 'thanks, Quillfeather', duration_ms: 1 }),
    ],
  );
}

let test: TestDatabase;
let receiver: Receiver;
let services: Service[] = [];
let second: Database | undefined;
let token: string;
const config = readConfig({ PORT: '0', FERRY_WORKERS: 'off', FERRY_SECRET_KEY: KEY.toString('base64') });
const logger = pino({ level: 'silent' });

beforeAll(async () => {
  receiver = await startReceiver();
  const before = await databaseBefore('sealing');
  const { connection } = before;
  test = before.test;
  await connection.query(
    `insert into customers (id, name, integration, created_at_ns) values ($1, 'Old', 'FIRST_PARTY', 1)`,
    [ids.customer],
  );
  await connection.query(
    `insert into identities (id, customer_id, type, person_details, status, created_at_ns, updated_at_ns)
     select gen_random_uuid(), $1, 'PERSON', $2::text::jsonb, 'APPROVED', n, n from generate_series(1, $3::integer) n`,
    [ids.customer, JSON.stringify(PERSON.person_details), IDENTITIES],
  );
  await connection.query(
    `insert into idempotency_keys (customer_id, space, ref_id, resource_id, request)
     select $1, 'transfers', 'r' || n, gen_random_uuid(), '{"memo":"for Quillfeather","ref_id":"r' || n || '"}'
     from generate_series(1, $2::integer) n`,
    [ids.customer, IDENTITIES],
  );
  await writeSigningKey(connection);
  await writeFiatAccounts(connection);
  await writeWithdrawal(connection);
  await writeWebhooks(connection, receiver.url);
  await before.migrate();
  connection.release();
  expect(await dumpText(test.database)).toContain(NUMBER);
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await second?.close();
  await receiver.close();
  await test.drop();
});

async function call(method: string, path: string, body?: object): Promise<{ status: number; body: any }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(services[0]!.url() + path, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

describe('a database from before sealing', () => {
  it('is not opened with a key that encrypted none of its webhook secrets, and stays as it was', async () => {
    const wrong = readConfig({ PORT: '0', FERRY_SECRET_KEY: randomBytes(32).toString('base64') });
    const starting = assemble({ config: wrong, database: test.database, logger });
    await expect(starting).rejects.toThrow(ConfigError);
    await expect(starting).rejects.toThrow(/^FERRY_SECRET_KEY did not encrypt the webhook secrets/);
    expect(await test.database.query('select id from data_keys')).toEqual([]);
  });

  it('works at once on two nodes that start together, and its old signing key signs', async () => {
    second = connectUnlocked(test.address);
    services = await Promise.all(
      [test.database, second].map((database) => assemble({ config, database, logger })),
    );
    await Promise.all(services.map((service) => service.start()));
    const other = await createCustomer(test.database, { name: 'Other', integration: 'FIRST_PARTY' });
    expect(other.id).not.toBe(ids.customer);
    const { clientId, clientSecret } = await createClient(test.database, services[0]!.vault, {
      customer: ids.customer,
      name: 'x',
      scopes: SCOPE_NAMES,
    });
    const answer = await fetch(`${services[0]!.url()}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    token = ((await answer.json()) as { access_token: string }).access_token;
    expect(await test.database.query('select id from signing_keys')).toHaveLength(1);
    expect((await call('GET', `/v2/transfer/fiat-accounts/${ids.account}`)).body).toMatchObject({
      fiat_account_owner: PERSON,
    });
  });

  it('is sealed in the background, every row of every table', async () => {
    await until('all rows are sealed', async () => {
      const open = await test.database.query('select name from sealing_progress where not finished');
      const erasures = await test.database.query('select from event_erasures');
      return open.length === 0 && erasures.length === 0;
    });
    const dump = await dumpText(test.database);
    for (const found of [
      NUMBER,
      DELETED_NUMBER,
      'Quillfeather',
      'Ziporah',
      'Zanzibar',
      SECRET.slice(6),
      'v1:',
    ])
      expect(dump.includes(found), found).toBe(false);
    expect(dump).not.toMatch(/"+d"+: ?"/);
  });

  it('shows the same afterwards: identities, accounts, events and deliveries', async () => {
    const page = await call('GET', '/v2/identity/identities?limit=1000');
    expect(page.body.items).toHaveLength(1_000);
    for (const item of page.body.items) expect(item.person_details).toEqual(PERSON.person_details);
    const account = await call('GET', `/v2/transfer/fiat-accounts/${ids.account}`);
    expect(account.body.fiat_network_instructions.wire.account_number).toBe('****3465');
    const events = await call('GET', `/v2/events?resource_ids=${ids.account}`);
    expect(events.body.items[0].data.fiat_account_owner).toEqual(PERSON);
    const delivery = await call('GET', `/v2/events/webhooks/${ids.hook}/deliveries/${ids.delivery}`);
    expect(delivery.body.response.body).toBe('thanks, Quillfeather');
  });

  it('has no name any more of an account that was deleted before, neither in the account nor in its events', async () => {
    const events = await call('GET', `/v2/events?resource_ids=${ids.deleted}`);
    expect(events.body.items).toHaveLength(1);
    expect(events.body.items[0].data).toMatchObject({
      id: ids.deleted,
      fiat_account_owner: { person_details: { first_name: '****', last_name: '****' } },
    });
  });

  it('still knows a request from before: the same is a replay, another one is told what differs', async () => {
    const path = '/v2/transfer/fiat-accounts';
    expect(await call('POST', path, fiatRequest)).toMatchObject({ status: 200, body: { id: ids.account } });
    const other = {
      ...fiatRequest,
      fiat_account_owner: { institution_details: { name: 'X' } },
      metadata: {},
    };
    const answer = await call('POST', path, other);
    expect(answer.status).toBe(409);
    expect(answer.body.meta.differs).toEqual(['fiat_account_owner', 'metadata']);
  });

  it('signs for its webhook endpoints as before, and has disabled the one whose secret was lost', async () => {
    const tested = await call('POST', `/v2/events/webhooks/${ids.hook}/test`);
    expect(tested.body.status).toBe('DELIVERED');
    const hit = receiver.hits.at(-1)!;
    new Webhook(SECRET).verify(hit.text, hit.headers as Record<string, string>);
    expect((await call('GET', `/v2/events/webhooks/${ids.lostHook}`)).body).toMatchObject({
      enabled: false,
      disabled_reason: expect.stringContaining('rotate'),
    });
  });
});

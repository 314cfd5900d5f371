import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/auth/administration.ts';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { dumpText } from '../support/dump.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Values that appear nowhere else, so that each of them can be searched for. */
const NUMBERS = {
  wire: '000987123465',
  iban: 'DE89370400440532013000',
  cubix: 'zebra-account-4711',
  bank_network_2: '2001765439',
  bank_network_3: '3001765438',
  cbit: '0x52908400098527886E0F7030069857D2E4169EE7',
};
const NAMES = [
  'Ziporah',
  'Quillfeather',
  'Yarrow and Thistle Holdings',
  'Wilhelmina',
  'Ostrander',
  'Xanthippe',
  'Vandersloot',
  'Umbrage Mutual',
];
const STREET = 'Zanzibar Lane 17';
const [FIRST, LAST, INSTITUTION, BENEFICIARY_FIRST, BENEFICIARY_LAST, IDENTITY_FIRST, IDENTITY_LAST, MUTUAL] =
  NAMES;
const BTC_ADDRESS = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const FIAT_ACCOUNTS = '/v2/transfer/fiat-accounts';

const person = { person_details: { first_name: FIRST, last_name: LAST } };
const institution = { institution_details: { name: INSTITUTION } };
const address = { country: 'US', address1: STREET, city: 'New York', province: 'NY', zip_code: '10001' };
const aba = {
  routing_number_type: 'ABA',
  routing_number: '021000021',
  bank_name: 'First Bank',
  bank_address: { country: 'US', address1: '1 Bank Street', city: 'New York', province: 'NY' },
};
const swift = { ...aba, routing_number_type: 'SWIFT', routing_number: 'CHASUS33XXX' };

let service: TestService;
let customer: TestCustomer;
let receiver: Receiver;
let profile: string;
const webhookSecrets: string[] = [];
let clientSecret: string;

beforeAll(async () => {
  service = await startTestService({ FERRY_WORKERS: 'on', FERRY_SANDBOX_SPEED: '100000' });
  customer = await service.createCustomer();
  // Answers with what it got, so that the stored response has every field of the event.
  receiver = await startReceiver((hit, response) => void response.end(hit.text));
  profile = await service.createProfile(customer, { USD: '10000', BTC: '5' });
  ({ clientSecret } = await createClient(service.database, service.vault, {
    customer: customer.id,
    name: 'dump',
    scopes: SCOPE_NAMES,
  }));
  await driveEverything();
});
afterAll(async () => {
  await receiver.close();
  await service.stop();
});

async function ok(method: string, path: string, body?: object): Promise<any> {
  const answer = await customer.call(method, path, body);
  expect({ path, status: answer.status, body: answer.body }).toMatchObject({ path, status: 200 });
  return answer.body;
}

/** The request, the same again, and with another value, which is a conflict. */
async function thrice(path: string, body: Record<string, unknown>, other: object): Promise<any> {
  const made = await ok('POST', path, body);
  expect((await ok('POST', path, body)).id).toBe(made.id);
  expect((await customer.call('POST', path, { ...body, ...other })).status).toBe(409);
  return made;
}

async function createFiatAccounts(): Promise<string[]> {
  const instructions: Record<string, object> = {
    wire: {
      wire: { account_number: NUMBERS.wire, routing_details: aba, fiat_account_owner_address: address },
    },
    iban: {
      wire: { account_number: NUMBERS.iban, routing_details: swift, fiat_account_owner_address: address },
    },
    cubix: { cubix: { account_id: NUMBERS.cubix } },
    bank_network_2: { bank_network_2: { account_number: NUMBERS.bank_network_2 } },
    bank_network_3: { bank_network_3: { account_number: NUMBERS.bank_network_3 } },
    cbit: { cbit: { wallet_address: NUMBERS.cbit } },
  };
  const ids: string[] = [];
  for (const [kind, one] of Object.entries(instructions)) {
    const owner = kind === 'cubix' ? institution : person;
    const body = { fiat_account_owner: owner, fiat_network_instructions: one, ref_id: `fiat-${kind}` };
    ids.push((await thrice(FIAT_ACCOUNTS, body, { fiat_account_owner: institution, metadata: {} })).id);
  }
  await ok('PUT', `${FIAT_ACCOUNTS}/${ids[0]}`, { fiat_account_owner: person, metadata: { a: '1' } });
  return ids;
}

async function withdraw(accounts: readonly string[]): Promise<void> {
  const fiat = '/v2/transfer/fiat-withdrawals';
  const ids: string[] = [];
  for (const [index, account] of accounts.entries()) {
    const body = { profile_id: profile, fiat_account_id: account, asset: 'USD', amount: '25' };
    ids.push((await thrice(fiat, { ...body, ref_id: `w-${index}` }, { amount: '26' })).id);
  }
  // Stays with the rail, so that its payment is in the database.
  const stuck = { profile_id: profile, fiat_account_id: accounts[0], asset: 'USD', amount: '26' };
  const pending = await ok('POST', fiat, { ...stuck, memo: 'sandbox:pending' });
  const crypto = {
    profile_id: profile,
    asset: 'BTC',
    crypto_network: 'BITCOIN',
    amount: '0.5',
    destination_address: BTC_ADDRESS,
    beneficiary: { person_details: { first_name: BENEFICIARY_FIRST, last_name: BENEFICIARY_LAST } },
    ref_id: 'crypto',
  };
  const other = { beneficiary: { institution_details: { name: MUTUAL } } };
  ids.push((await thrice('/v2/transfer/crypto-withdrawals', crypto, other)).id);
  const [{ status }] = await service.database.query<any>('select status from transfers where id = $1', [
    pending.id,
  ]);
  expect(status).toBe('PENDING');
  await until('the withdrawals end', async () => {
    const rows = await service.database.query<{ id: string }>(
      `select id from transfers where status = 'PENDING'`,
    );
    const work = await service.database.query(
      `select 1 from withdrawal_work where transfer_id = $1 and payment is not null`,
      [pending.id],
    );
    return rows.every(({ id }) => id === pending.id) && work.length === 1;
  });
}

async function driveEverything(): Promise<void> {
  const webhook = await ok('POST', '/v2/events/webhooks', { url: receiver.url, ref_id: 'hook' });
  const rotated = await ok('POST', `/v2/events/webhooks/${webhook.id}/rotate-secret`);
  webhookSecrets.push(webhook.secret, rotated.secret);
  const details = { person_details: { first_name: IDENTITY_FIRST, last_name: IDENTITY_LAST } };
  const identity = await thrice(
    '/v2/identity/identities',
    { ...details, ref_id: 'person' },
    { person_details: { first_name: IDENTITY_FIRST, last_name: 'Other' } },
  );
  await ok('POST', '/v2/identity/identities', { institution_details: { name: MUTUAL }, ref_id: 'mutual' });
  const account = { identity_id: identity.id, ref_id: 'account' };
  await ok('POST', '/v2/identity/accounts', { account, create_profile: true });
  const accounts = await createFiatAccounts();
  await withdraw(accounts);
  await ok('POST', `/v2/events/webhooks/${webhook.id}/test`);
  await ok('DELETE', `${FIAT_ACCOUNTS}/${accounts[1]}`);
  await until('every event is delivered', async () => {
    const [row] = await service.database.query<{ waiting: number; delivered: number }>(
      `select count(*) filter (where status = 'PENDING')::integer as waiting,
              count(*) filter (where status = 'DELIVERED')::integer as delivered from webhook_deliveries`,
    );
    return row!.waiting === 0 && row!.delivered > 25;
  });
}

describe('a copy of the database, after every operation', () => {
  it('has what is searched for: rows of every table that could have it, and events', async () => {
    const dump = await dumpText(service.database);
    expect(dump).toContain(customer.id);
    expect(dump).toMatch(/^fiat_account\.approved /m);
    const counts = await service.database.query<Record<string, bigint>>(
      `select (select count(*) from fiat_accounts) as accounts, (select count(*) from identities) as identities,
              (select count(*) from sandbox_payments) as payments,
              (select count(*) from webhook_deliveries where response is not null) as responses,
              (select count(*) from transfers where beneficiary is not null) as beneficiaries,
              (select count(*) from idempotency_keys) as keys, (select count(*) from signing_keys) as signing_keys`,
    );
    expect(counts[0]).toMatchObject({ accounts: 6n, identities: 2n, payments: 8n, beneficiaries: 1n });
    expect(receiver.hits.some(({ text }) => text.includes(LAST!))).toBe(true);
  });

  it('has no whole account number', async () => {
    const dump = (await dumpText(service.database)).toLowerCase();
    const found = Object.entries(NUMBERS).filter(([, number]) => dump.includes(number.toLowerCase()));
    expect(found).toEqual([]);
  });

  it('has no name of a person, an institution or a beneficiary, and no address', async () => {
    const dump = await dumpText(service.database);
    expect([...NAMES, STREET].filter((name) => dump.includes(name))).toEqual([]);
  });

  it('has no secret of a client or of a webhook endpoint, and no private key', async () => {
    const dump = await dumpText(service.database);
    expect(dump).not.toContain(clientSecret);
    for (const secret of webhookSecrets) expect(dump).not.toContain(secret.slice('whsec_'.length));
    expect(dump).not.toMatch(/\\?"+d\\?"+: ?\\?"/);
  });
});

import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { createClient, createCustomer } from '../auth/administration.ts';
import { SCOPE_NAMES } from '../auth/scopes.ts';
import type { Database } from '../database/database.ts';
import { installationValue, keepInstallationValue } from '../database/installation.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Vault } from '../sealing/vault.ts';
import { whileSeeding } from './store.ts';

/** The file with the demo data, which is created through the public API, as a user would do it. */
export type SandboxFile = {
  base_url: string;
  token_url: string;
  customers: {
    name: string;
    customer_id: string;
    client_id: string;
    client_secret: string;
    profiles: { id: string; nickname: string }[];
    identity_id: string;
    account_id: string;
    fiat_account_id: string;
  }[];
};

type Addresses = Pick<SandboxFile, 'base_url' | 'token_url'>;

const FUNDS: readonly { asset: string; amount: string; crypto_network?: string }[] = [
  { asset: 'USD', amount: '1000000' },
  { asset: 'BTC', amount: '100', crypto_network: 'BITCOIN' },
  { asset: 'ETH', amount: '1000', crypto_network: 'ETHEREUM' },
  { asset: 'SOL', amount: '10000', crypto_network: 'SOLANA' },
  { asset: 'LTC', amount: '1000', crypto_network: 'LITECOIN' },
  { asset: 'BCH', amount: '1000', crypto_network: 'BITCOIN_CASH' },
  { asset: 'USDC', amount: '1000000', crypto_network: 'ETHEREUM' },
  { asset: 'PUSD', amount: '1000000', crypto_network: 'ETHEREUM' },
];

const NICKNAMES = ['Main', 'Savings'];

const CUSTOMERS = [
  { name: 'Harbour Brokerage', owner: { first_name: 'Ada', last_name: 'Lindqvist' } },
  { name: 'Quay Exchange', owner: { first_name: 'Tomás', last_name: 'Herrera' } },
] as const;

type Owner = (typeof CUSTOMERS)[number]['owner'];

type Resource = { id: string };

type SeededService = { readonly app: FastifyInstance; readonly vault: Vault };

/** Calls the API inside the process. Any error ends the seeding. */
function clientOf(app: FastifyInstance, token: string) {
  return async (path: string, body: object, accept409 = false): Promise<Resource> => {
    const response = await app.inject({
      method: 'POST',
      url: path,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });
    if (response.statusCode === 409 && accept409) return response.json().meta.existing;
    if (response.statusCode !== 200) throw new Error(`the demo data failed at ${path}: ${response.body}`);
    return response.json();
  };
}

async function tokenFor(app: FastifyInstance, clientId: string, clientSecret: string): Promise<string> {
  const response = await app.inject({
    method: 'POST',
    url: '/oauth2/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    }).toString(),
  });
  if (response.statusCode !== 200) throw new Error(`the demo data failed at its token: ${response.body}`);
  return response.json().access_token;
}

function fiatAccountOf(owner: Owner): object {
  const address = {
    country: 'US',
    address1: '1 Pier Street',
    city: 'New York',
    province: 'NY',
    zip_code: '10004',
  };
  return {
    ref_id: 'sandbox-fiat-account',
    fiat_account_owner: { person_details: owner },
    fiat_network_instructions: {
      wire: {
        account_number: '000123456789',
        routing_details: {
          routing_number_type: 'ABA',
          routing_number: '021000021',
          bank_name: 'Sandbox Bank',
          bank_address: address,
        },
        fiat_account_owner_address: address,
      },
    },
  };
}

async function seedCustomer(
  { database, assets }: { database: Database; assets: Assets },
  { app, vault }: SeededService,
  { name, owner }: (typeof CUSTOMERS)[number],
): Promise<SandboxFile['customers'][number]> {
  const customer = await createCustomer(database, { name, integration: 'FIRST_PARTY' }, { mayExist: true });
  // A start that was killed may have created a client whose secret is lost: this creates another one.
  const request = { customer: customer.id, name: 'sandbox', scopes: SCOPE_NAMES };
  const { clientId, clientSecret } = await createClient(database, vault, request);
  const post = clientOf(app, await tokenFor(app, clientId, clientSecret));
  const identity = await post('/v2/identity/identities', {
    type: 'PERSON',
    person_details: owner,
    ref_id: 'sandbox-identity',
  });
  const account = await post('/v2/identity/accounts', {
    account: { identity_id: identity.id, ref_id: 'sandbox-account' },
    create_profile: false,
  });
  const profiles: { id: string; nickname: string }[] = [];
  for (const nickname of NICKNAMES) {
    const profile = await post('/v2/profiles', { nickname }, true);
    profiles.push({ id: profile.id, nickname });
  }
  await Promise.all(
    profiles.flatMap(({ id, nickname }) =>
      fundsIn(assets).map((fund) =>
        post(`/v2/sandbox/profiles/${id}/deposit`, { ...fund, ref_id: `sandbox-${nickname}-${fund.asset}` }),
      ),
    ),
  );
  const fiatAccount = await post('/v2/transfer/fiat-accounts', fiatAccountOf(owner));
  return {
    name,
    customer_id: customer.id,
    client_id: clientId,
    client_secret: clientSecret,
    profiles,
    identity_id: identity.id,
    account_id: account.id,
    fiat_account_id: fiatAccount.id,
  };
}

const fundsIn = (assets: Assets): typeof FUNDS =>
  FUNDS.filter(({ asset, crypto_network: network }) => {
    const known = assets.find(asset);
    return known !== undefined && (network === undefined || known.networks[network] !== undefined);
  });

/** Everything that the demo customers are given over crypto networks. */
export function demoDeposits(assets: Assets): { asset: string; network: string; units: bigint }[] {
  return fundsIn(assets).flatMap(({ asset, amount, crypto_network: network }) => {
    const parsed = assets.parse(asset, amount);
    if (network === undefined || !parsed.ok) return [];
    return [{ asset, network, units: parsed.units * BigInt(CUSTOMERS.length * NICKNAMES.length) }];
  });
}

/** Written atomically, and readable only by the user who runs the service: it contains secrets. */
function writeSandboxFile(dataDir: string, content: SandboxFile): void {
  const path = join(dataDir, 'sandbox.json');
  const temporary = `${path}.${randomBytes(4).toString('hex')}`;
  // The embedded server creates the directory; with another server the sandbox has to.
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(temporary, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, path);
}

export async function isSeeded(database: Database): Promise<boolean> {
  return (await installationValue(database, 'sandbox_seeded')) !== undefined;
}

/** Later starts can have another address; the customers stay the same. */
function refreshSandboxFile(dataDir: string, addresses: Addresses): void {
  const path = join(dataDir, 'sandbox.json');
  // The database was seeded by a service with another data directory: only that one has the secrets.
  if (!existsSync(path)) return;
  const content = JSON.parse(readFileSync(path, 'utf8')) as SandboxFile;
  if (content.base_url === addresses.base_url && content.token_url === addresses.token_url) return;
  writeSandboxFile(dataDir, { ...content, ...addresses });
}

/**
 * Seeds the sandbox once, even if the first starts are killed: everything has a ref_id, the file is written when all of it
 * exists, and the mark is set last. Later starts only update the address in the file.
 */
export async function seedSandbox(parts: {
  service: SeededService & { url(): string };
  database: Database;
  assets: Assets;
  dataDir: string;
}): Promise<void> {
  const { service, database, assets, dataDir } = parts;
  const url = service.url();
  const addresses = { base_url: url, token_url: `${url}/oauth2/token` };
  if (await isSeeded(database)) return refreshSandboxFile(dataDir, addresses);
  await whileSeeding(database, async () => {
    if (await isSeeded(database)) return;
    const customers = await Promise.all(
      CUSTOMERS.map((one) => seedCustomer({ database, assets }, service, one)),
    );
    writeSandboxFile(dataDir, { ...addresses, customers });
    await keepInstallationValue(database, 'sandbox_seeded', 'yes');
  });
}

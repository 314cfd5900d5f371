import type { Database, Queryable } from '../database/database.ts';
import { isId, newId } from '../kernel/id.ts';
import { LIMITS } from '../limits.ts';
import type { Vault } from '../sealing/vault.ts';
import { AdministrationError, fieldError, unknown } from './administration-error.ts';
import { administratorOf, customerChange, recordAdministration } from './changes.ts';
import { changeIn, createIn, disableIn, enableIn } from './client-acts.ts';
import { insertSecret } from './credential-store.ts';
import { findCustomer, isName } from './customers.ts';
import { rotateSigningKey } from './keys.ts';
import { isScope, SCOPE_NAMES } from './scopes.ts';
import { type Credentials, createHashSecret, isClientId, newClientId, newClientSecret } from './secrets.ts';
import {
  allClients,
  allCustomers,
  type Client,
  type Customer,
  clientsOf,
  clockOf,
  type Integration,
  insertCustomer,
  setPointsPerSecond,
} from './store.ts';

export { AdministrationError } from './administration-error.ts';
export type { Client, Customer, Integration } from './store.ts';

export type NewClient = { readonly client: Client; readonly clientId: string; readonly clientSecret: string };

const INTEGRATIONS: readonly Integration[] = ['FIRST_PARTY', 'THIRD_PARTY'];

export function requireName(kind: string, name: string): void {
  if (!isName(name)) {
    throw fieldError(
      '/name',
      `The name of a ${kind} must have 1 to ${LIMITS.partyNameLengthMax} printable characters, without leading or trailing space.`,
    );
  }
}

function requireCustomer(name: string, integration: string): void {
  requireName('customer', name);
  // Customers are found by id or name, so a name in the form of an id could identify another customer.
  if (isId(name.toLowerCase()))
    throw fieldError('/name', 'The name of a customer must not have the form of an id.');
  if (!(INTEGRATIONS as readonly string[]).includes(integration)) {
    throw fieldError(
      '/integration',
      `The integration must be ${INTEGRATIONS.join(' or ')}, not "${integration}".`,
    );
  }
}

export function requireScopes(scopes: readonly string[]): void {
  const strange = scopes.filter((scope) => !isScope(scope));
  if (strange.length > 0) {
    throw fieldError(
      '/scopes',
      `Unknown scope ${strange.map((scope) => `"${scope}"`).join(', ')}. The scopes are ${SCOPE_NAMES.join(', ')}.`,
    );
  }
  if (scopes.length === 0) {
    throw fieldError(
      '/scopes',
      `A client needs at least one scope. The scopes are ${SCOPE_NAMES.join(', ')}.`,
    );
  }
}

/** Undefined if the id is taken. Without a hash, the client gets no secret. */
function addClient(
  database: Database,
  client: {
    id: string;
    customerId: string;
    name: string;
    scopes: readonly string[];
    ownerPersonId?: string | undefined;
  },
  hash?: string,
): Promise<Client | undefined> {
  return database.transaction(async (tx) => {
    const draft = { ...client, ownerPersonId: client.ownerPersonId ?? null };
    const added = await createIn(tx, administratorOf(database), draft);
    if (added !== undefined && hash !== undefined)
      await insertSecret(tx, { id: newId(), clientId: client.id, hash, expiresAtNs: null });
    return added;
  });
}

export function requireClientId(clientId: string): void {
  if (!isClientId(clientId)) {
    throw fieldError(
      '/client_id',
      `A client id must have 1 to ${LIMITS.clientIdLengthMax} visible ASCII characters.`,
    );
  }
}

export async function knownCustomer(tx: Queryable, idOrName: string): Promise<Customer> {
  const customer = await findCustomer(tx, idOrName);
  if (customer === undefined) throw unknown('customer', idOrName, 'id or name');
  return customer;
}

export async function createCustomer(
  database: Database,
  { name, integration }: { name: string; integration: Integration },
  { mayExist = false }: { mayExist?: boolean } = {},
): Promise<Customer> {
  requireCustomer(name, integration);
  const customer = await database.transaction(async (tx) => {
    const added = await insertCustomer(tx, { id: newId(), name, integration });
    if (added !== undefined)
      await recordAdministration(tx, administratorOf(database), added.createdAtNs, [
        customerChange('created', added),
      ]);
    return added;
  });
  if (customer !== undefined) return customer;
  const existing = mayExist ? await findCustomer(database, name) : undefined;
  if (existing?.integration === integration) return existing;
  throw new AdministrationError(`A customer with the name "${name}" already exists.`);
}

/** Null: the default. Takes effect on every node within 10 seconds. */
export async function limitCustomer(
  database: Database,
  idOrName: string,
  pointsPerSecond: number | null,
): Promise<Customer> {
  const customer = await knownCustomer(database, idOrName);
  const { pointsPerSecondMax } = LIMITS;
  const isRate = (rate: number): boolean => Number.isInteger(rate) && rate >= 1 && rate <= pointsPerSecondMax;
  if (pointsPerSecond !== null && !isRate(pointsPerSecond))
    throw new AdministrationError(`The rate must be a whole number from 1 to ${pointsPerSecondMax}.`);
  const limited = { ...customer, pointsPerSecond };
  await database.transaction(async (tx) => {
    await setPointsPerSecond(tx, customer.id, pointsPerSecond);
    const made = customerChange('limited', limited);
    await recordAdministration(tx, administratorOf(database), await clockOf(tx), [made]);
  });
  return limited;
}

export function listCustomers(tx: Queryable): Promise<Customer[]> {
  return allCustomers(tx);
}

type ClientRequest = {
  customer: string;
  name: string;
  scopes: readonly string[];
  /** The person who owns the client. */
  ownerPersonId?: string;
};

async function requireClient(tx: Queryable, request: ClientRequest): Promise<Customer> {
  requireName('client', request.name);
  requireScopes(request.scopes);
  return knownCustomer(tx, request.customer);
}

/** The secret is returned once; only its hash is stored. Names of clients are labels and need not be unique. */
export async function createClient(
  database: Database,
  vault: Vault,
  request: ClientRequest,
): Promise<NewClient> {
  const { id: customerId } = await requireClient(database, request);
  const credentials = { clientId: newClientId(), clientSecret: newClientSecret() };
  const { name, scopes, ownerPersonId } = request;
  const hash = createHashSecret(vault)(credentials);
  const added = { id: credentials.clientId, customerId, name, scopes, ownerPersonId };
  const client = await addClient(database, added, hash);
  if (client === undefined) throw new Error('a new random client id is already in use');
  return { client, ...credentials };
}

/** A client of an external issuer, under its id there. It gets no secret: it gets its tokens from the issuer. */
export async function registerClient(
  database: Database,
  request: ClientRequest & { clientId: string },
): Promise<Client> {
  requireClientId(request.clientId);
  const { id: customerId } = await requireClient(database, request);
  const { clientId, name, scopes, ownerPersonId } = request;
  const client = await addClient(database, { id: clientId, customerId, name, scopes, ownerPersonId });
  if (client === undefined)
    throw new AdministrationError(`A client with the id "${clientId}" already exists.`);
  return client;
}

export async function listClients(tx: Queryable, filter: { customer?: string } = {}): Promise<Client[]> {
  if (filter.customer === undefined) return allClients(tx);
  return clientsOf(tx, (await knownCustomer(tx, filter.customer)).id);
}

/** Takes effect on every node within 10 seconds. A second call changes nothing. */
export function disableClient(database: Database, clientId: string): Promise<Client> {
  return database.transaction((tx) => disableIn(tx, administratorOf(database), clientId));
}

/** With the scopes and credentials that it had. */
export function enableClient(database: Database, clientId: string): Promise<Client> {
  return database.transaction((tx) => enableIn(tx, administratorOf(database), clientId));
}

/** The person that the client belongs to, or null. Both count as one where two people are required. */
export function ownClient(
  database: Database,
  clientId: string,
  owner: { readonly id: string } | null,
): Promise<Client> {
  return database.transaction((tx) =>
    changeIn(tx, administratorOf(database), clientId, { ownerPersonId: owner?.id ?? null }),
  );
}

/** Tokens stay valid until they expire; with `distrustOld`, for when a key has leaked, they become invalid. */
export async function rotateKey(
  database: Database,
  options?: { distrustOld?: boolean },
): Promise<{ kid: string }> {
  return { kid: await rotateSigningKey(database, options) };
}

/** Creates a client with given credentials. Does nothing, and returns false, if a client with that id exists. */
export async function seedClient(
  database: Database,
  vault: Vault,
  seed: ClientRequest & Credentials,
): Promise<boolean> {
  requireClientId(seed.clientId);
  const { id: customerId } = await requireClient(database, seed);
  const { clientId, name, scopes } = seed;
  const hash = createHashSecret(vault)(seed);
  return (await addClient(database, { id: clientId, customerId, name, scopes }, hash)) !== undefined;
}

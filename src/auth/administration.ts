import type { Database, Queryable } from '../database/database.ts';
import { isId, newId } from '../kernel/id.ts';
import { LIMITS } from '../limits.ts';
import { findCustomer, isName } from './customers.ts';
import { rotateSigningKey } from './keys.ts';
import { isScope, SCOPE_NAMES } from './scopes.ts';
import { hashSecret, isClientId, newClientId, newClientSecret } from './secrets.ts';
import {
  allClients,
  allCustomers,
  type Client,
  type Customer,
  clientById,
  clientsOf,
  disable,
  type Integration,
  insertClient,
  insertCustomer,
} from './store.ts';

export type { Client, Customer, Integration } from './store.ts';

/** What the operator did wrong, in one sentence for the command line. */
export class AdministrationError extends Error {}

export type NewClient = { readonly client: Client; readonly clientId: string; readonly clientSecret: string };

const INTEGRATIONS: readonly Integration[] = ['FIRST_PARTY', 'THIRD_PARTY'];

function requireName(kind: string, name: string): void {
  if (!isName(name)) {
    throw new AdministrationError(
      `The name of a ${kind} must have 1 to ${LIMITS.partyNameLengthMax} printable characters and no blank at its ends.`,
    );
  }
}

function requireCustomer(name: string, integration: string): void {
  requireName('customer', name);
  // Customers are found by id or name: a name in the form of an id could stand for somebody else.
  if (isId(name.toLowerCase()))
    throw new AdministrationError('The name of a customer must not look like an id.');
  if (!(INTEGRATIONS as readonly string[]).includes(integration)) {
    throw new AdministrationError(
      `The integration must be ${INTEGRATIONS.join(' or ')}, not "${integration}".`,
    );
  }
}

function requireScopes(scopes: readonly string[]): void {
  const unknown = scopes.filter((scope) => !isScope(scope));
  if (unknown.length > 0) {
    throw new AdministrationError(
      `There is no scope ${unknown.map((scope) => `"${scope}"`).join(', ')}; the scopes are ${SCOPE_NAMES.join(', ')}.`,
    );
  }
  if (scopes.length === 0) {
    throw new AdministrationError(
      `A client needs at least one scope; the scopes are ${SCOPE_NAMES.join(', ')}.`,
    );
  }
}

async function addClient(
  tx: Queryable,
  { clientId, clientSecret, customerId }: { clientId: string; clientSecret: string; customerId: string },
  { name, scopes }: { name: string; scopes: readonly string[] },
): Promise<Client | undefined> {
  const client = { id: clientId, customerId, name, scopes: [...new Set(scopes)] };
  return insertClient(tx, client, await hashSecret(clientSecret));
}

async function requireKnownCustomer(tx: Queryable, idOrName: string): Promise<Customer> {
  const customer = await findCustomer(tx, idOrName);
  if (customer === undefined) {
    throw new AdministrationError(`There is no customer with the id or name "${idOrName}".`);
  }
  return customer;
}

export async function createCustomer(
  tx: Queryable,
  { name, integration }: { name: string; integration: Integration },
  { mayExist = false }: { mayExist?: boolean } = {},
): Promise<Customer> {
  requireCustomer(name, integration);
  const customer = await insertCustomer(tx, { id: newId(), name, integration });
  if (customer !== undefined) return customer;
  const existing = mayExist ? await findCustomer(tx, name) : undefined;
  if (existing?.integration === integration) return existing;
  throw new AdministrationError(`There is a customer with the name "${name}" already.`);
}

export function listCustomers(tx: Queryable): Promise<Customer[]> {
  return allCustomers(tx);
}

/**
 * The secret is in the answer and nowhere else: only its hash is kept. Names of clients are labels and need not
 * differ: credentials are replaced by a second client of the same name and the end of the first.
 */
export async function createClient(
  tx: Queryable,
  request: { customer: string; name: string; scopes: readonly string[] },
): Promise<NewClient> {
  requireName('client', request.name);
  requireScopes(request.scopes);
  const customer = await requireKnownCustomer(tx, request.customer);
  const [clientId, clientSecret] = [newClientId(), newClientSecret()];
  const client = await addClient(tx, { clientId, clientSecret, customerId: customer.id }, request);
  if (client === undefined) throw new Error('a client id that was just made is taken');
  return { client, clientId, clientSecret };
}

export async function listClients(tx: Queryable, filter: { customer?: string } = {}): Promise<Client[]> {
  if (filter.customer === undefined) return allClients(tx);
  return clientsOf(tx, (await requireKnownCustomer(tx, filter.customer)).id);
}

/** For good, on every node within 10 seconds. A second time changes nothing. */
export async function disableClient(tx: Queryable, clientId: string): Promise<Client> {
  const client = isClientId(clientId) ? await disable(tx, clientId) : undefined;
  if (client === undefined) throw new AdministrationError(`There is no client with the id "${clientId}".`);
  return client;
}

/** Live tokens stay valid; with `distrustOld`, for when a key has leaked, none does. */
export async function rotateKey(
  database: Database,
  options?: { distrustOld?: boolean },
): Promise<{ kid: string }> {
  return { kid: await rotateSigningKey(database, options) };
}

/** With credentials decided up front. Does nothing, and answers false, when there is a client with that id. */
export async function seedClient(
  tx: Queryable,
  seed: { clientId: string; clientSecret: string; customer: string; name: string; scopes: readonly string[] },
): Promise<boolean> {
  requireName('client', seed.name);
  requireScopes(seed.scopes);
  if (!isClientId(seed.clientId)) {
    throw new AdministrationError(
      `A client id must have 1 to ${LIMITS.clientIdLengthMax} visible ASCII characters.`,
    );
  }
  // Spares the 50 ms of a hash; two that seed at once are told apart by the insert.
  if ((await clientById(tx, seed.clientId)) !== undefined) return false;
  const customer = await requireKnownCustomer(tx, seed.customer);
  const { clientId, clientSecret } = seed;
  return (await addClient(tx, { clientId, clientSecret, customerId: customer.id }, seed)) !== undefined;
}

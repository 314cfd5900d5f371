import type { JWK } from 'jose';
import type { Database } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import { isAddressRange } from '../kernel/source-address.ts';
import { LIMITS } from '../limits.ts';
import type { Vault } from '../sealing/vault.ts';
import { requireScopes } from './administration.ts';
import { fieldError, unknown } from './administration-error.ts';
import { administratorOf } from './changes.ts';
import { addKeysIn, addSecretIn, changeIn, removeKeyIn, removeSecretIn } from './client-acts.ts';
import { KeyError, readKeys } from './client-keys.ts';
import { clientKeysOf, type KeyRow, type SecretRow, secretsOf } from './credential-store.ts';
import { createHashSecret, isClientId, newClientSecret } from './secrets.ts';
import { type Client, clientById } from './store.ts';

/** Changes of a client that exists: what it authenticates with, what it may do, and where from. */

async function requireKnown(database: Database, clientId: string): Promise<void> {
  if (!isClientId(clientId) || (await clientById(database, clientId)) === undefined)
    throw unknown('client', clientId);
}

/** The secret is returned once. It works at once, beside the one that it replaces. */
export async function addSecret(
  database: Database,
  vault: Vault,
  clientId: string,
  expiresAtNs: Instant | null = null,
): Promise<SecretRow & { readonly clientSecret: string }> {
  const clientSecret = newClientSecret();
  const hash = createHashSecret(vault)({ clientId, clientSecret });
  const row = await database.transaction((tx) =>
    addSecretIn(tx, administratorOf(database), clientId, { hash, expiresAtNs }),
  );
  return { ...row, clientSecret };
}

export async function listSecrets(database: Database, clientId: string): Promise<SecretRow[]> {
  await requireKnown(database, clientId);
  return secretsOf(database, clientId);
}

/** Takes effect at once. Tokens that were issued before stay valid until they expire. */
export function removeSecret(
  database: Database,
  clientId: string,
  secretId: string,
  { force = false }: { force?: boolean } = {},
): Promise<void> {
  return database.transaction((tx) =>
    removeSecretIn(tx, administratorOf(database), clientId, secretId, force),
  );
}

/** A JWK, or a JWK Set. */
export async function readableKeys(text: string): Promise<(JWK & { kid: string })[]> {
  return readKeys(text).catch((error: unknown) => {
    throw error instanceof KeyError ? fieldError('/keys', error.message) : error;
  });
}

/** The ids of the keys in a JWK or a JWK Set, all of which are added, or none. */
export async function addKeys(database: Database, clientId: string, text: string): Promise<string[]> {
  const keys = await readableKeys(text);
  await database.transaction((tx) => addKeysIn(tx, administratorOf(database), clientId, keys));
  return keys.map(({ kid }) => kid);
}

export async function listKeys(database: Database, clientId: string): Promise<KeyRow[]> {
  await requireKnown(database, clientId);
  return clientKeysOf(database, clientId);
}

/** Takes effect at once. Tokens that were issued before stay valid until they expire. */
export function removeKey(
  database: Database,
  clientId: string,
  kid: string,
  { force = false }: { force?: boolean } = {},
): Promise<void> {
  return database.transaction((tx) => removeKeyIn(tx, administratorOf(database), clientId, kid, force));
}

export function requireAddresses(ranges: readonly string[] | null): void {
  const wrong = ranges?.find((range) => !isAddressRange(range));
  if (wrong !== undefined) {
    throw fieldError(
      '/allowed_addresses',
      `"${wrong}" is not an address, or a range such as 192.0.2.0/24 or 2001:db8::/32 with zeros after the prefix.`,
    );
  }
  if (ranges !== null && ranges.length > LIMITS.clientAddressesMax)
    throw fieldError(
      '/allowed_addresses',
      `A client can have ${LIMITS.clientAddressesMax} address ranges at most.`,
    );
}

/** Replaces the list; null: from anywhere. Takes effect within 10 seconds on every node. */
export async function allowAddresses(
  database: Database,
  clientId: string,
  ranges: readonly string[] | null,
): Promise<Client> {
  requireAddresses(ranges);
  return database.transaction((tx) =>
    changeIn(tx, administratorOf(database), clientId, { allowedAddresses: ranges }),
  );
}

/** Replaces them. Takes effect within 10 seconds on every node: a token counts only as far as its client has its scopes. */
export async function changeScopes(
  database: Database,
  clientId: string,
  scopes: readonly string[],
): Promise<Client> {
  requireScopes(scopes);
  return database.transaction((tx) => changeIn(tx, administratorOf(database), clientId, { scopes }));
}

import type { JWK } from 'jose';
import type { Database, Transaction } from '../database/database.ts';
import { isId, newId } from '../kernel/id.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import { isAddressRange } from '../kernel/source-address.ts';
import { LIMITS } from '../limits.ts';
import type { Vault } from '../sealing/vault.ts';
import { AdministrationError, requireScopes } from './administration.ts';
import { clientChange, recordAdministration } from './changes.ts';
import { KeyError, readKeys } from './client-keys.ts';
import {
  clientKeysOf,
  deleteClientKey,
  deleteExpiredSecrets,
  deleteSecret,
  insertClientKey,
  insertSecret,
  type KeyRow,
  type SecretRow,
  secretsOf,
  usableCredentials,
} from './credential-store.ts';
import { createHashSecret, isClientId, newClientSecret } from './secrets.ts';
import { type Client, clockOf, lockClient, setAllowedAddresses, setScopes } from './store.ts';

/** Changes of a client that exists: what it authenticates with, what it may do, and where from. */

const unknownClient = (clientId: string): AdministrationError =>
  new AdministrationError(`There is no client with the id "${clientId}".`);

/** Runs the work while no other change of the client does. */
function withClient<Result>(
  database: Database,
  clientId: string,
  work: (tx: Transaction, client: Client) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (tx) => {
    const client = isClientId(clientId) ? await lockClient(tx, clientId) : undefined;
    if (client === undefined) throw unknownClient(clientId);
    return work(tx, client);
  });
}

/** Records a change of what the client authenticates with: its id, never the secret. */
async function recordCredential(
  database: Database,
  tx: Transaction,
  { customerId, id: clientId }: Client,
  { action, resourceId, facts }: { action: string; resourceId: string; facts: object | null },
): Promise<void> {
  const after = facts && { client_id: clientId, ...facts };
  await recordAdministration(database, tx, await clockOf(tx), [{ action, customerId, resourceId, after }]);
}

/** The secret is returned once. It works at once, beside the one that it replaces. */
export function addSecret(
  database: Database,
  vault: Vault,
  clientId: string,
  expiresAtNs: Instant | null = null,
): Promise<SecretRow & { readonly clientSecret: string }> {
  const clientSecret = newClientSecret();
  return withClient(database, clientId, async (tx, client) => {
    await deleteExpiredSecrets(tx, clientId);
    const [before, hash] = [
      await secretsOf(tx, clientId),
      createHashSecret(vault)({ clientId, clientSecret }),
    ];
    if (before.length >= LIMITS.clientSecretsMax) {
      throw new AdministrationError(
        `The client has ${before.length} secrets, which is the maximum. Remove one of them first: ${before.map(({ id }) => id).join(', ')}.`,
      );
    }
    const row = await insertSecret(tx, { id: newId(), clientId, hash, expiresAtNs });
    if (expiresAtNs !== null && expiresAtNs <= row.createdAtNs)
      throw new AdministrationError(`The expiry ${formatInstant(expiresAtNs)} is not in the future.`);
    await recordCredential(database, tx, client, {
      action: 'client_secret.added',
      resourceId: row.id,
      facts: {
        secret_id: row.id,
        ...(expiresAtNs !== null && { expires_at: formatInstant(expiresAtNs) }),
      },
    });
    return { ...row, clientSecret };
  });
}

export function listSecrets(database: Database, clientId: string): Promise<SecretRow[]> {
  return withClient(database, clientId, (tx) => secretsOf(tx, clientId));
}

/** A client that cannot authenticate any more gets no further tokens: that is what `disable` is for. */
async function requireAnotherCredential(tx: Transaction, clientId: string, force: boolean): Promise<void> {
  if (!force && (await usableCredentials(tx, clientId)) === 0) {
    throw new AdministrationError(
      'The client could not authenticate any more: it has no other secret or key that is valid. Add one first, or repeat the command with --force.',
    );
  }
}

/** Takes effect at once. Tokens that were issued before stay valid until they expire. */
export function removeSecret(
  database: Database,
  clientId: string,
  secretId: string,
  { force = false }: { force?: boolean } = {},
): Promise<void> {
  return withClient(database, clientId, async (tx, client) => {
    if (!isId(secretId) || !(await deleteSecret(tx, clientId, secretId)))
      throw new AdministrationError(`The client has no secret with the id "${secretId}".`);
    await requireAnotherCredential(tx, clientId, force);
    const removed = { action: 'client_secret.removed', resourceId: secretId, facts: null };
    await recordCredential(database, tx, client, removed);
  });
}

async function readableKeys(text: string): Promise<(JWK & { kid: string })[]> {
  return readKeys(text).catch((error: unknown) => {
    throw error instanceof KeyError ? new AdministrationError(error.message) : error;
  });
}

/** The ids of the keys in a JWK or a JWK Set, all of which are added, or none. */
export async function addKeys(database: Database, clientId: string, text: string): Promise<string[]> {
  const keys = await readableKeys(text);
  return withClient(database, clientId, async (tx, client) => {
    for (const jwk of keys) {
      if (!(await insertClientKey(tx, { clientId, kid: jwk.kid, jwk })))
        throw new AdministrationError(`The client already has a key with the id "${jwk.kid}".`);
    }
    const { length } = await clientKeysOf(tx, clientId);
    if (length > LIMITS.clientKeysMax) {
      throw new AdministrationError(
        `A client can have ${LIMITS.clientKeysMax} keys, and would have ${length}. Remove some of them first.`,
      );
    }
    for (const { kid } of keys)
      await recordCredential(database, tx, client, {
        action: 'client_key.added',
        resourceId: `${clientId}/${kid}`.replaceAll(' ', '_'),
        facts: { kid },
      });
    return keys.map(({ kid }) => kid);
  });
}

export function listKeys(database: Database, clientId: string): Promise<KeyRow[]> {
  return withClient(database, clientId, (tx) => clientKeysOf(tx, clientId));
}

/** Takes effect at once. Tokens that were issued before stay valid until they expire. */
export function removeKey(
  database: Database,
  clientId: string,
  kid: string,
  { force = false }: { force?: boolean } = {},
): Promise<void> {
  return withClient(database, clientId, async (tx, client) => {
    if (!(await deleteClientKey(tx, clientId, kid)))
      throw new AdministrationError(`The client has no key with the id "${kid}".`);
    await requireAnotherCredential(tx, clientId, force);
    const resourceId = `${clientId}/${kid}`.replaceAll(' ', '_');
    await recordCredential(database, tx, client, { action: 'client_key.removed', resourceId, facts: null });
  });
}

function changed(
  database: Database,
  clientId: string,
  change: (tx: Transaction) => Promise<Client | undefined>,
): Promise<Client> {
  return withClient(database, clientId, async (tx) => {
    const client = (await change(tx))!;
    await recordAdministration(database, tx, await clockOf(tx), [clientChange('changed', client)]);
    return client;
  });
}

/** Replaces the list; null: from anywhere. Takes effect within 10 seconds on every node. */
export async function allowAddresses(
  database: Database,
  clientId: string,
  ranges: readonly string[] | null,
): Promise<Client> {
  const wrong = ranges?.find((range) => !isAddressRange(range));
  if (wrong !== undefined) {
    throw new AdministrationError(
      `"${wrong}" is not an address, or a range such as 192.0.2.0/24 or 2001:db8::/32 with zeros after the prefix.`,
    );
  }
  if (ranges !== null && ranges.length > LIMITS.clientAddressesMax)
    throw new AdministrationError(`A client can have ${LIMITS.clientAddressesMax} address ranges at most.`);
  return changed(database, clientId, (tx) => setAllowedAddresses(tx, clientId, ranges));
}

/** Replaces them. Takes effect within 10 seconds on every node: a token counts only as far as its client has its scopes. */
export async function changeScopes(
  database: Database,
  clientId: string,
  scopes: readonly string[],
): Promise<Client> {
  requireScopes(scopes);
  return changed(database, clientId, (tx) => setScopes(tx, clientId, [...new Set(scopes)]));
}

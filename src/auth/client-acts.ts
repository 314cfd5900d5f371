import type { JWK } from 'jose';
import type { Queryable, Transaction } from '../database/database.ts';
import type { Actor } from '../kernel/actor.ts';
import { isId, newId } from '../kernel/id.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import { LIMITS } from '../limits.ts';
import { AdministrationError, fieldError, unknown } from './administration-error.ts';
import { clientChange, recordAdministration } from './changes.ts';
import {
  clientKeysOf,
  deleteClientKey,
  deleteExpiredSecrets,
  deleteSecret,
  insertClientKey,
  insertSecret,
  type SecretRow,
  secretsOf,
  usableCredentials,
} from './credential-store.ts';
import { isClientId } from './secrets.ts';
import {
  type Client,
  clockOf,
  disable,
  enable,
  insertClient,
  lockClient,
  ownerById,
  setAllowedAddresses,
  setOwner,
  setScopes,
} from './store.ts';

/**
 * Changes of clients, inside a transaction: of the command line, or of the vote that approves them. Each is in the audit log, and
 * refused with an error that says why.
 */

export type PublicKey = JWK & { readonly kid: string };

export type ClientDraft = Pick<Client, 'id' | 'customerId' | 'name' | 'scopes' | 'ownerPersonId'>;

const unknownClient = (clientId: string): AdministrationError => unknown('client', clientId);

/** No other change of the client runs until the transaction ends. */
async function locked(tx: Transaction, clientId: string): Promise<Client> {
  const client = isClientId(clientId) ? await lockClient(tx, clientId) : undefined;
  if (client === undefined) throw unknownClient(clientId);
  return client;
}

/** The owner of a client must exist, and belong to its customer or to the operator. */
async function requireOwner(tx: Queryable, personId: string, customerId: string): Promise<void> {
  const owner = await ownerById(tx, personId);
  if (owner === undefined) throw unknown('person', personId);
  if (owner.customerId !== null && owner.customerId !== customerId)
    throw fieldError('/owner_person_id', 'The person belongs to another customer than the client.');
}

/** Undefined if the id is taken. */
export async function createIn(
  tx: Transaction,
  actor: Actor,
  draft: ClientDraft,
): Promise<Client | undefined> {
  const { ownerPersonId, customerId, scopes } = draft;
  if (ownerPersonId !== null) await requireOwner(tx, ownerPersonId, customerId);
  const added = await insertClient(tx, { ...draft, scopes: [...new Set(scopes)] });
  if (added !== undefined)
    await recordAdministration(tx, actor, added.createdAtNs, [clientChange('created', added)]);
  return added;
}

/** A second call changes nothing. */
export async function disableIn(tx: Transaction, actor: Actor, clientId: string): Promise<Client> {
  const before = await locked(tx, clientId);
  if (before.disabledAtNs !== null) return before;
  const client = (await disable(tx, clientId))!;
  await recordAdministration(tx, actor, await clockOf(tx), [clientChange('disabled', client)]);
  return client;
}

/** With the scopes and credentials that it had. A second call changes nothing. */
export async function enableIn(tx: Transaction, actor: Actor, clientId: string): Promise<Client> {
  const before = await locked(tx, clientId);
  if (before.disabledAtNs === null) return before;
  const client = (await enable(tx, clientId))!;
  await recordAdministration(tx, actor, await clockOf(tx), [clientChange('enabled', client)]);
  return client;
}

/** Absent: as before. */
export type ClientChange = {
  readonly scopes?: readonly string[] | undefined;
  /** Null: from anywhere. */
  readonly allowedAddresses?: readonly string[] | null | undefined;
  /** Null: of nobody in particular. */
  readonly ownerPersonId?: string | null | undefined;
};

export async function changeIn(
  tx: Transaction,
  actor: Actor,
  clientId: string,
  { scopes, allowedAddresses, ownerPersonId }: ClientChange,
): Promise<Client> {
  let client = await locked(tx, clientId);
  if (scopes !== undefined) client = (await setScopes(tx, clientId, [...new Set(scopes)]))!;
  if (allowedAddresses !== undefined) client = (await setAllowedAddresses(tx, clientId, allowedAddresses))!;
  if (ownerPersonId !== undefined) {
    if (ownerPersonId !== null) await requireOwner(tx, ownerPersonId, client.customerId);
    client = (await setOwner(tx, clientId, ownerPersonId))!;
  }
  await recordAdministration(tx, actor, await clockOf(tx), [clientChange('changed', client)]);
  return client;
}

/** Records a change of what the client authenticates with: its id, never the secret. */
async function recordCredential(
  tx: Transaction,
  actor: Actor,
  { customerId, id: clientId }: Client,
  { action, resourceId, facts }: { action: string; resourceId: string; facts: object | null },
): Promise<void> {
  const after = facts && { client_id: clientId, ...facts };
  await recordAdministration(tx, actor, await clockOf(tx), [{ action, customerId, resourceId, after }]);
}

/** Refused if the client has as many secrets as it can have. */
export async function requireRoom(tx: Transaction, clientId: string): Promise<Client> {
  const client = await locked(tx, clientId);
  await deleteExpiredSecrets(tx, clientId);
  const before = await secretsOf(tx, clientId);
  if (before.length >= LIMITS.clientSecretsMax) {
    throw new AdministrationError(
      `The client has ${before.length} secrets, which is the maximum. Remove one of them first: ${before.map(({ id }) => id).join(', ')}.`,
      'invalid-state',
      { status: 'FULL' },
    );
  }
  return client;
}

export async function addSecretIn(
  tx: Transaction,
  actor: Actor,
  clientId: string,
  { hash, expiresAtNs }: { readonly hash: string; readonly expiresAtNs: Instant | null },
): Promise<SecretRow> {
  const client = await requireRoom(tx, clientId);
  const row = await insertSecret(tx, { id: newId(), clientId, hash, expiresAtNs });
  if (expiresAtNs !== null && expiresAtNs <= row.createdAtNs)
    throw fieldError('/expires_at', `The expiry ${formatInstant(expiresAtNs)} is not in the future.`);
  await recordCredential(tx, actor, client, {
    action: 'client_secret.added',
    resourceId: row.id,
    facts: { secret_id: row.id, ...(expiresAtNs !== null && { expires_at: formatInstant(expiresAtNs) }) },
  });
  return row;
}

const keyResource = (clientId: string, kid: string): string => `${clientId}/${kid}`.replaceAll(' ', '_');

/** All keys are added, or none. */
export async function addKeysIn(
  tx: Transaction,
  actor: Actor,
  clientId: string,
  keys: readonly PublicKey[],
): Promise<void> {
  const client = await locked(tx, clientId);
  for (const jwk of keys) {
    if (!(await insertClientKey(tx, { clientId, kid: jwk.kid, jwk })))
      throw new AdministrationError(
        `The client already has a key with the id "${jwk.kid}".`,
        'invalid-state',
        {
          status: 'EXISTS',
        },
      );
  }
  const { length } = await clientKeysOf(tx, clientId);
  if (length > LIMITS.clientKeysMax) {
    throw new AdministrationError(
      `A client can have ${LIMITS.clientKeysMax} keys, and would have ${length}. Remove some of them first.`,
      'invalid-state',
      { status: 'FULL' },
    );
  }
  for (const { kid } of keys)
    await recordCredential(tx, actor, client, {
      action: 'client_key.added',
      resourceId: keyResource(clientId, kid),
      facts: { kid },
    });
}

/** A client that cannot authenticate any more gets no further tokens: that is what `disable` is for. */
async function requireAnotherCredential(tx: Transaction, clientId: string, force: boolean): Promise<void> {
  if (!force && (await usableCredentials(tx, clientId)) === 0) {
    throw new AdministrationError(
      'The client could not authenticate any more: it has no other secret or key that is valid. Add one first, or repeat the command with --force.',
      'invalid-state',
      { status: 'LAST_CREDENTIAL' },
    );
  }
}

export async function removeSecretIn(
  tx: Transaction,
  actor: Actor,
  clientId: string,
  secretId: string,
  force: boolean,
): Promise<void> {
  const client = await locked(tx, clientId);
  if (!isId(secretId) || !(await deleteSecret(tx, clientId, secretId)))
    throw new AdministrationError(`The client has no secret with the id "${secretId}".`, 'not-found', {
      resource: 'credential',
      id: secretId,
    });
  await requireAnotherCredential(tx, clientId, force);
  const removed = { action: 'client_secret.removed', resourceId: secretId, facts: null };
  await recordCredential(tx, actor, client, removed);
}

export async function removeKeyIn(
  tx: Transaction,
  actor: Actor,
  clientId: string,
  kid: string,
  force: boolean,
): Promise<void> {
  const client = await locked(tx, clientId);
  if (!(await deleteClientKey(tx, clientId, kid)))
    throw new AdministrationError(`The client has no key with the id "${kid}".`, 'not-found', {
      resource: 'credential',
      id: kid,
    });
  await requireAnotherCredential(tx, clientId, force);
  const removed = { action: 'client_key.removed', resourceId: keyResource(clientId, kid), facts: null };
  await recordCredential(tx, actor, client, removed);
}

import type { Declare, Handover, Maker, Proposal, Propose } from '../approvals/action.ts';
import type { Level, Result } from '../approvals/approval.ts';
import type { Database } from '../database/database.ts';
import { type Instant, NOT_AN_INSTANT, parseInstant } from '../kernel/instant.ts';
import type { PrivilegedName } from '../kernel/privileged.ts';
import { type Act, actCommand, rehearse } from '../ledger/act.ts';
import { requireClientId, requireName, requireScopes } from './administration.ts';
import { AdministrationError, fieldError, unknown } from './administration-error.ts';
import {
  addKeysIn,
  addSecretIn,
  changeIn,
  createIn,
  disableIn,
  enableIn,
  type PublicKey,
  removeKeyIn,
  removeSecretIn,
  requireRoom,
} from './client-acts.ts';
import { readableKeys, requireAddresses } from './credentials.ts';
import { isSimulation } from './scopes.ts';
import { createHashSecret, newClientSecret } from './secrets.ts';
import { customerById } from './store.ts';

/** Changes of clients that need approval where four eyes are required. The proposals are what approvers see. */

export type NewClientAsked = {
  readonly client_id: string;
  readonly customer_id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly owner_person_id?: string;
  readonly keys?: readonly Record<string, unknown>[];
  /** It authenticates with a secret, which the maker gets. */
  readonly has_secret: boolean;
};

export type ClientChangeAsked = {
  readonly client_id: string;
  readonly scopes?: readonly string[];
  /** Empty: from anywhere. */
  readonly allowed_addresses?: readonly string[];
  /** Null, from the command line: of nobody in particular. */
  readonly owner_person_id?: string | null;
};

export type CredentialsAsked = {
  readonly client_id: string;
  /** Absent: a new secret. */
  readonly keys?: readonly Record<string, unknown>[];
  readonly expires_at?: string;
};

export type CredentialAsked = { readonly client_id: string; readonly credential_id: string };
export type ClientAsked = { readonly client_id: string };

type Parts = { readonly database: Database; readonly declare: Declare; readonly simulates: boolean };

/** A change, as a proposal and as what executes it. */
export type Administered<Asked extends Proposal> = {
  readonly propose: Propose<Asked>;
  act(asked: Asked): Promise<Act>;
  handover?(asked: Asked): Handover | undefined;
};

const keysOf = async (keys: readonly Record<string, unknown>[] | undefined): Promise<PublicKey[]> =>
  keys === undefined ? [] : readableKeys(JSON.stringify({ keys }));

function expiryOf({ expires_at: text }: CredentialsAsked): Instant | null {
  const instant = text === undefined ? null : parseInstant(text);
  if (instant === undefined) throw fieldError('/expires_at', NOT_AN_INSTANT);
  return instant;
}

/** The secret is made when its maker takes it, and only its hash is stored. */
function secretFor(database: Database, clientId: string, expiresAtNs: Instant | null): Handover {
  const clientSecret = newClientSecret();
  let secretId = '';
  return {
    async act(tx, actor) {
      const hash = createHashSecret(database.vault())({ clientId, clientSecret });
      secretId = (await addSecretIn(tx, actor, clientId, { hash, expiresAtNs })).id;
    },
    given: () => ({ client_id: clientId, secret_id: secretId, client_secret: clientSecret }),
  };
}

function declaring({ database, declare }: Parts, level: Level) {
  return <Asked extends ClientAsked & Proposal>(
    name: PrivilegedName,
    summary: (asked: Asked) => string,
    act: (asked: Asked) => Promise<Act>,
    handover?: (asked: Asked) => Handover | undefined,
  ): Administered<Asked> => ({
    propose: declare<Asked, Result>({
      name,
      level,
      summary,
      async command({ actor }: Maker, asked) {
        const executed = await act(asked);
        await rehearse(database, actor, executed);
        return actCommand(actor, executed, { type: 'client', id: asked.client_id });
      },
      result: (made) => made,
      ...(handover && { handover }),
    }),
    act,
    ...(handover && { handover }),
  });
}

async function creating({ simulates }: Parts, asked: NewClientAsked): Promise<Act> {
  const {
    client_id: id,
    customer_id: customerId,
    name,
    scopes,
    owner_person_id: ownerPersonId = null,
  } = asked;
  requireClientId(id);
  requireName('client', name);
  requireScopes(scopes);
  const simulated = scopes.find((scope) => !simulates && isSimulation(scope));
  if (simulated !== undefined)
    throw fieldError('/scopes', `The scope "${simulated}" exists in the sandbox only.`);
  const keys = await keysOf(asked.keys);
  return async (tx, actor) => {
    if ((await customerById(tx, customerId)) === undefined) throw unknown('customer', customerId);
    const added = await createIn(tx, actor, { id, customerId, name, scopes, ownerPersonId });
    if (added === undefined)
      throw new AdministrationError(`A client with the id "${id}" already exists.`, 'invalid-state', {
        status: 'EXISTS',
      });
    if (keys.length > 0) await addKeysIn(tx, actor, id, keys);
  };
}

async function changing(asked: ClientChangeAsked): Promise<Act> {
  const { client_id: id, scopes, allowed_addresses: addresses, owner_person_id: ownerPersonId } = asked;
  const allowedAddresses = addresses?.length === 0 ? null : addresses;
  if (scopes !== undefined) requireScopes(scopes);
  if (allowedAddresses !== undefined) requireAddresses(allowedAddresses);
  return (tx, actor) => changeIn(tx, actor, id, { scopes, allowedAddresses, ownerPersonId });
}

async function addingCredentials(asked: CredentialsAsked): Promise<Act> {
  const { client_id: id } = asked;
  const keys = await keysOf(asked.keys);
  expiryOf(asked);
  return (tx, actor) => (keys.length > 0 ? addKeysIn(tx, actor, id, keys) : requireRoom(tx, id));
}

/** A secret has a UUID; everything else is the id of a key, and a key may have a UUID, too. */
async function removingCredential({
  client_id: id,
  credential_id: credential,
}: CredentialAsked): Promise<Act> {
  return async (tx, actor) => {
    const isSecret = await removeSecretIn(tx, actor, id, credential, false).then(
      () => true,
      (error: unknown) => {
        const { slug, meta } = error as AdministrationError;
        if (slug === 'not-found' && meta.resource === 'credential') return false;
        throw error;
      },
    );
    if (!isSecret) await removeKeyIn(tx, actor, id, credential, false);
  };
}

export function declareClientActions(parts: Parts) {
  const { database } = parts;
  const declared = declaring(parts, 'OPERATOR');
  return {
    create: declared<NewClientAsked>(
      'client.create',
      (asked) => `Create the client "${asked.name}" with the scopes ${asked.scopes.join(' ')}.`,
      (asked) => creating(parts, asked),
      ({ client_id: id, has_secret: has }) => (has ? secretFor(database, id, null) : undefined),
    ),
    change: declared<ClientChangeAsked>(
      'client.change',
      ({ client_id: id, scopes }) =>
        scopes === undefined
          ? `Change the client ${id}.`
          : `Change the scopes of the client ${id} to ${scopes.join(' ')}.`,
      changing,
    ),
    disable: declared<ClientAsked>(
      'client.disable',
      ({ client_id: id }) => `Disable the client ${id}.`,
      async ({ client_id: id }) =>
        (tx, actor) =>
          disableIn(tx, actor, id),
    ),
    enable: declared<ClientAsked>(
      'client.enable',
      ({ client_id: id }) => `Enable the client ${id} again, with the scopes and credentials that it had.`,
      async ({ client_id: id }) =>
        (tx, actor) =>
          enableIn(tx, actor, id),
    ),
    addCredentials: declared<CredentialsAsked>(
      'client.add_credentials',
      ({ client_id: id, keys, expires_at: at }) =>
        keys === undefined
          ? `Add a secret to the client ${id}${at === undefined ? '' : `, until ${at}`}.`
          : `Add ${keys.length} public keys to the client ${id}.`,
      addingCredentials,
      (asked) =>
        asked.keys === undefined ? secretFor(database, asked.client_id, expiryOf(asked)) : undefined,
    ),
    removeCredential: declared<CredentialAsked>(
      'client.remove_credential',
      ({ client_id: id, credential_id: credential }) => `Remove ${credential} of the client ${id}.`,
      removingCredential,
    ),
  };
}

export type ClientActions = ReturnType<typeof declareClientActions>;

import { type Proposal, privileged } from '../approvals/action.ts';
import type { Database } from '../database/database.ts';
import { actorOf } from '../kernel/actor.ts';
import { formatInstant } from '../kernel/instant.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import type { ProblemSlug } from '../kernel/problem.ts';
import { type Caller, type Route, route } from '../kernel/route.ts';
import { unknown } from './administration-error.ts';
import { presentClient } from './changes.ts';
import type { Administered, ClientActions } from './client-actions.ts';
import {
  ADDED_CREDENTIAL,
  CHANGED_CLIENT,
  CLIENT,
  CLIENT_DETAILS,
  CREATED_CLIENT,
  DISABLED_CLIENT,
  NEW_CLIENT,
  REMOVED_CREDENTIAL,
} from './client-examples.ts';
import { type ListedClient, listClients } from './client-list-store.ts';
import {
  AddCredentialsRequest,
  ChangeClientRequest,
  ClientDetailsShape,
  ClientList,
  ClientParams,
  ClientShape,
  ClientsQuery,
  CreateClientRequest,
  CreatedClientShape,
  CredentialParams,
  CredentialsShape,
  OwnClientsQuery,
} from './client-schema.ts';
import { clientKeysOf, secretsOf } from './credential-store.ts';
import { readableKeys } from './credentials.ts';
import { newClientId } from './secrets.ts';
import { clientById } from './store.ts';

/** Clients of all customers, for operators, and the list of its own for a customer. */

export type ClientParts = { readonly database: Database; readonly actions: ClientActions };

const PATH = '/v2/operator/clients';
const COMMON = { tag: 'Operator', scope: 'operator:admin' } as const;
const CHANGES: readonly ProblemSlug[] = ['not-found', 'invalid-state'];

/** Proposes it where four eyes are required, otherwise executes it and hands over what only the caller gets. */
function administering({ database }: ClientParts) {
  return async <Asked extends Proposal>(caller: Caller, action: Administered<Asked>, asked: Asked) => {
    const proposed = await action.propose(caller, asked);
    if (proposed !== undefined) return { proposed };
    const [act, handover] = [await action.act(asked), action.handover?.(asked)];
    const actor = actorOf(caller);
    await database.transaction(async (tx) => {
      await act(tx, actor);
      await handover?.act(tx, actor);
    });
    return { given: (handover?.given() ?? {}) as { client_secret?: string; secret_id?: string } };
  };
}

/** Each with an id, and without members that do not belong to the key. */
const publicKeys = (keys: readonly Record<string, unknown>[]) => readableKeys(JSON.stringify({ keys }));

async function shown(database: Database, clientId: string) {
  const client = await clientById(database, clientId);
  if (client === undefined) throw unknown('client', clientId);
  return presentClient(client);
}

function readRoute({ database }: ClientParts): Route {
  return route({
    ...COMMON,
    method: 'GET',
    path: `${PATH}/{client_id}`,
    operationId: 'getClient',
    summary: 'Get an API client',
    description: 'With what it authenticates with: ids only, never a secret.',
    scope: 'operator:read',
    params: ClientParams,
    response: ClientDetailsShape,
    problems: ['not-found'],
    answer: CLIENT_DETAILS,
    async handle({ params: { client_id: id } }) {
      const client = await shown(database, id);
      const [secrets, keys] = [await secretsOf(database, id), await clientKeysOf(database, id)];
      const credentials = [
        ...secrets.map(({ id: secret, createdAtNs, expiresAtNs }) => ({
          id: secret,
          type: 'SECRET' as const,
          created_at: formatInstant(createdAtNs),
          ...(expiresAtNs !== null && { expires_at: formatInstant(expiresAtNs) }),
        })),
        ...keys.map(({ kid, createdAtNs }) => ({
          id: kid,
          type: 'KEY' as const,
          created_at: formatInstant(createdAtNs),
        })),
      ];
      return { body: { ...client, credentials } };
    },
  });
}

const presentListed = ({ clientId, ...row }: ListedClient) => presentClient({ ...row, id: clientId });

function listRoute({ database }: ClientParts): Route {
  return route({
    ...COMMON,
    method: 'GET',
    path: PATH,
    operationId: 'listClients',
    summary: 'List API clients',
    description: 'Of all customers, or of one. An ACTIVE client has no `disabled_at`.',
    scope: 'operator:read',
    query: ClientsQuery,
    response: ClientList,
    problems: [],
    answer: { items: [CLIENT] },
    async handle({ query }) {
      const page = readPage(query, 'clients');
      const found = await listClients(database, query, page);
      return { body: await pageOf(found, page, presentListed) };
    },
  });
}

/** What a customer sees of its own clients. */
function ownListRoute({ database }: ClientParts): Route {
  return route({
    tag: 'Authentication',
    method: 'GET',
    path: '/v2/clients',
    operationId: 'listOwnClients',
    summary: 'List your API clients',
    description: 'With their scopes. The operator creates and changes them.',
    scope: 'control:read_client',
    query: OwnClientsQuery,
    response: ClientList,
    problems: [],
    answer: { items: [CLIENT] },
    async handle({ caller: { customerId }, query }) {
      const page = readPage(query, 'own-clients');
      const found = await listClients(database.of(customerId), { ...query, customer_id: customerId }, page);
      return { body: await pageOf(found, page, presentListed) };
    },
  });
}

function createRoute(parts: ClientParts): Route {
  const administer = administering(parts);
  return route({
    ...COMMON,
    method: 'POST',
    path: PATH,
    operationId: 'createClient',
    summary: 'Create an API client',
    description:
      'With `keys` it authenticates by private_key_jwt and gets no secret. Otherwise `client_secret` is shown once: here, or to the maker of an approved request by `claimOperatorApproval`.',
    body: CreateClientRequest,
    example: NEW_CLIENT,
    response: CreatedClientShape,
    problems: CHANGES,
    answer: CREATED_CLIENT,
    privileged: privileged('client.create'),
    async handle({ caller, body: { external_id: externalId, ...body } }) {
      const id = externalId ?? newClientId();
      const hasSecret = externalId === undefined && body.keys === undefined;
      const keys = body.keys && (await publicKeys(body.keys));
      const asked = { client_id: id, ...body, ...(keys && { keys }), has_secret: hasSecret };
      const { proposed, given } = await administer(caller, parts.actions.create, asked);
      if (proposed !== undefined) return proposed;
      const { client_secret: secret } = given;
      const client = await shown(parts.database, id);
      return { body: { ...client, ...(secret !== undefined && { client_secret: secret }) } };
    },
  });
}

function changeRoutes(parts: ClientParts): Route[] {
  const administer = administering(parts);
  const { actions, database } = parts;
  return [
    route({
      ...COMMON,
      method: 'PUT',
      path: `${PATH}/{client_id}`,
      operationId: 'changeClient',
      summary: 'Change the scopes, the addresses or the owner of an API client',
      description: 'Fields that are absent stay as they are. Takes effect within 10 seconds on every node.',
      params: ClientParams,
      body: ChangeClientRequest,
      example: { scopes: ['funding:read_profile'] },
      response: ClientShape,
      problems: CHANGES,
      answer: CHANGED_CLIENT,
      privileged: privileged('client.change'),
      async handle({ caller, params: { client_id: id }, body }) {
        const { proposed } = await administer(caller, actions.change, { client_id: id, ...body });
        return proposed ?? { body: await shown(database, id) };
      },
    }),
    ...(['disable', 'enable'] as const).map((verb) =>
      route({
        ...COMMON,
        method: 'POST',
        path: `${PATH}/{client_id}/${verb}`,
        operationId: `${verb}Client`,
        summary: verb === 'disable' ? 'Disable an API client' : 'Enable an API client again',
        description:
          verb === 'disable'
            ? 'It gets no tokens, and those that it has are refused within 10 seconds on every node.'
            : 'With the scopes and credentials that it had.',
        params: ClientParams,
        response: ClientShape,
        problems: CHANGES,
        answer: verb === 'disable' ? DISABLED_CLIENT : CLIENT,
        privileged: privileged(`client.${verb}`),
        async handle({ caller, params: { client_id: id } }) {
          const { proposed } = await administer(caller, actions[verb], { client_id: id });
          return proposed ?? { body: await shown(database, id) };
        },
      }),
    ),
  ];
}

function credentialRoutes(parts: ClientParts): Route[] {
  const administer = administering(parts);
  const { actions } = parts;
  return [
    route({
      ...COMMON,
      method: 'POST',
      path: `${PATH}/{client_id}/credentials`,
      operationId: 'addClientCredentials',
      summary: 'Add public keys or a secret to an API client',
      description:
        'Without `keys`, a secret that works beside the one that it replaces; `client_secret` is shown once, as with `createClient`.',
      params: ClientParams,
      body: AddCredentialsRequest,
      example: {},
      response: CredentialsShape,
      problems: CHANGES,
      answer: ADDED_CREDENTIAL,
      privileged: privileged('client.add_credentials'),
      async handle({ caller, params: { client_id: id }, body }) {
        const keys = body.keys && (await publicKeys(body.keys));
        const asked = { client_id: id, ...body, ...(keys && { keys }) };
        const { proposed, given } = await administer(caller, actions.addCredentials, asked);
        if (proposed !== undefined) return proposed;
        const { secret_id: secretId, client_secret: secret } = given;
        const ids = secretId === undefined ? (keys ?? []).map(({ kid }) => kid) : [secretId];
        return {
          body: {
            client_id: id,
            credential_ids: ids,
            ...(secret !== undefined && { client_secret: secret }),
          },
        };
      },
    }),
    route({
      ...COMMON,
      method: 'DELETE',
      path: `${PATH}/{client_id}/credentials/{credential_id}`,
      operationId: 'removeClientCredential',
      summary: 'Remove a public key or a secret of an API client',
      description:
        'At once; tokens that were issued before stay valid until they expire. The last credential cannot be removed: disable the client instead.',
      params: CredentialParams,
      response: CredentialsShape,
      problems: CHANGES,
      answer: REMOVED_CREDENTIAL,
      privileged: privileged('client.remove_credential'),
      async handle({ caller, params }) {
        const { proposed } = await administer(caller, actions.removeCredential, params);
        const { client_id: id, credential_id: credential } = params;
        return proposed ?? { body: { client_id: id, credential_ids: [credential] } };
      },
    }),
  ];
}

export const clientRoutes = (parts: ClientParts): Route[] => [
  listRoute(parts),
  ownListRoute(parts),
  readRoute(parts),
  createRoute(parts),
  ...changeRoutes(parts),
  ...credentialRoutes(parts),
];

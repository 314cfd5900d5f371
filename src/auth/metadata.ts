import type { FastifyInstance, FastifySchema } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import { ASSERTION_ALGORITHMS } from './client-keys.ts';
import type { Keyring } from './keys.ts';
import { isSimulation, SCOPE_NAMES } from './scopes.ts';
import { KEYS_SCHEMA, METADATA_SCHEMA } from './token-schema.ts';

export const TOKEN_PATH = '/oauth2/token';
export const REVOCATION_PATH = '/oauth2/revoke';
const KEYS_PATH = '/.well-known/jwks.json';
const METADATA_PATH = '/.well-known/oauth-authorization-server';

export const AUTHENTICATION_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];

/** What an assertion of a client may name as its audience: the issuer, or the endpoint that it is for. */
export function audiencesOf(publicUrl: string): string[] {
  return [publicUrl, `${publicUrl}${TOKEN_PATH}`, `${publicUrl}${REVOCATION_PATH}`];
}

/** Where clients find the token endpoint, and the keys that verify tokens. */
export function registerMetadata(
  app: FastifyInstance,
  keyring: Pick<Keyring, 'publicKeys'>,
  publicUrl: () => string,
  { simulates, hasDocs }: { readonly simulates: boolean; readonly hasDocs: boolean },
): void {
  app.get(KEYS_PATH, { schema: KEYS_SCHEMA }, async (_request, reply) => {
    // Short, because a new key signs at once: a client that caches this answer rejects its tokens until it expires.
    reply.header('cache-control', 'public, max-age=10');
    return { keys: await keyring.publicKeys() };
  });
  app.get(METADATA_PATH, { schema: METADATA_SCHEMA }, async () => {
    const url = publicUrl();
    return {
      issuer: url,
      token_endpoint: `${url}${TOKEN_PATH}`,
      jwks_uri: `${url}${KEYS_PATH}`,
      ...(hasDocs && { service_documentation: `${url}/docs` }),
      scopes_supported: SCOPE_NAMES.filter((scope) => simulates || !isSimulation(scope)),
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
      token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
      revocation_endpoint: `${url}${REVOCATION_PATH}`,
      revocation_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
      revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    };
  });
}

/** With an external issuer, these paths answer where tokens come from. */
export function registerElsewhere(app: FastifyInstance, issuer: string): void {
  const routes = [
    { method: 'POST', url: TOKEN_PATH },
    { method: 'POST', url: REVOCATION_PATH },
    { method: 'GET', url: KEYS_PATH },
    { method: 'GET', url: METADATA_PATH },
  ];
  for (const { method, url } of routes) {
    app.route({
      method,
      url,
      schema: { hide: true } as FastifySchema,
      // Before the body is read, which may be anything.
      onRequest: async () => {
        throw new Problem('not-found', `This service does not issue tokens. Get them from ${issuer}.`, {
          resource: 'path',
          id: url,
        });
      },
      handler: () => undefined,
    });
  }
}

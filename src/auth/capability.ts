import type { Capability } from '../kernel/capability.ts';
import { type Auth, type AuthOptions, createAuth } from './auth.ts';
import { authenticationPaths } from './openapi.ts';
import { SCOPES } from './scopes.ts';
import { olderSigningKeys } from './store.ts';

export type Authentication = Capability &
  Pick<Auth, 'authenticate' | 'recall' | 'extension'> & {
    /** Every scope that a client can have, with its description. */
    readonly scopes: Readonly<Record<string, string>>;
    /** The endpoints outside the operations, in OpenAPI's form. */
    readonly paths: Readonly<Record<string, unknown>>;
  };

/** Who calls: clients, access tokens, and the keys that sign them. */
export function createAuthentication(options: AuthOptions): Authentication {
  const auth = createAuth(options);
  return {
    name: 'authentication',
    tags: { Authentication: 'OAuth 2 client credentials.' },
    workers: [{ name: 'signing keys and clients', stage: 'core', start: auth.start, stop: auth.stop }],
    olderRows: [olderSigningKeys(options.database)],
    authenticate: auth.authenticate,
    recall: auth.recall,
    extension: auth.extension,
    scopes: SCOPES,
    // With an external issuer, this service has no token endpoint of its own.
    paths: options.externalIssuer === undefined ? authenticationPaths() : {},
  };
}

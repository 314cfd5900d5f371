import type { Declare } from '../approvals/action.ts';
import type { Database } from '../database/database.ts';
import { type Capability, OPERATOR_TAG } from '../kernel/capability.ts';
import { type Auth, type AuthOptions, createAuth } from './auth.ts';
import { declareClientActions } from './client-actions.ts';
import { CLIENT_PROBLEMS } from './client-examples.ts';
import { clientRoutes } from './client-routes.ts';
import { authenticationPaths } from './openapi.ts';
import { SCOPES } from './scopes.ts';
import { olderSigningKeys } from './store.ts';

export type Authentication = Capability &
  Pick<Auth, 'authenticate' | 'recall' | 'revokeToken' | 'extension'> & {
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
    revokeToken: auth.revokeToken,
    extension: auth.extension,
    scopes: SCOPES,
    // With an external issuer, this service has no token endpoint of its own.
    paths: options.externalIssuer === undefined ? authenticationPaths() : {},
  };
}

/** API clients of all customers, which operators create and change. */
export function createClientAdministration(parts: {
  readonly database: Database;
  readonly declare: Declare;
  readonly simulates: boolean;
}): Capability {
  const { database } = parts;
  return {
    name: 'clients',
    routes: clientRoutes({ database, actions: declareClientActions(parts) }),
    tags: OPERATOR_TAG,
    problemExamples: CLIENT_PROBLEMS,
  };
}

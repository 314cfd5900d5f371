import { LIMITS } from '../limits.ts';
import { ASSERTION_ALGORITHMS } from './client-keys.ts';
import { AUTHENTICATION_METHODS } from './metadata.ts';
import { SCOPE_NAMES } from './scopes.ts';
import { UNAVAILABLE } from './token-request.ts';

/** Example requests and answers of the routes for authentication. A test compares them with real ones. */
const TOKEN_REQUEST = {
  grant_type: 'client_credentials',
  scope: 'transfer:write_platform_transfer transfer:read_transfer',
};

const ACCESS_TOKEN =
  'eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCIsImtpZCI6IjAxOWJjMGZkLThiYTIifQ.eyJzdWIiOiJmZXJyeV9iNDM0In0.c2lnbmF0dXJl';

/** By operation. The client authenticates with HTTP Basic. */
export const REQUESTS: Readonly<Record<string, object>> = {
  createToken: TOKEN_REQUEST,
  revokeToken: { token: ACCESS_TOKEN },
};

const tokenError = (error: string, sentence: string) => ({ error, error_description: sentence });

const WRONG = 'The client is unknown or the secret is wrong.';

const COMMON = {
  401: tokenError('invalid_client', WRONG),
  429: tokenError(
    'temporarily_unavailable',
    `${WRONG} Too many failed attempts from this address: wait 42 seconds.`,
  ),
  500: tokenError('server_error', 'An internal error occurred.'),
  503: tokenError('temporarily_unavailable', UNAVAILABLE),
};

const SERVICE = 'https://example.com';

/** By operation and status. */
export const ANSWERS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  createToken: {
    200: {
      access_token: ACCESS_TOKEN,
      token_type: 'bearer',
      expires_in: LIMITS.accessTokenSeconds,
      scope: TOKEN_REQUEST.scope,
    },
    400: tokenError('invalid_request', 'The parameter grant_type is missing.'),
    ...COMMON,
  },
  revokeToken: {
    200: {},
    400: tokenError('invalid_request', 'The parameter token is missing.'),
    ...COMMON,
  },
  getKeys: {
    200: {
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
          kid: '019bc0fd-8ba2-7c3e-9f0b-3a52f4a8f1c2',
          alg: 'EdDSA',
          use: 'sig',
        },
      ],
    },
  },
  getAuthorizationServerMetadata: {
    200: {
      issuer: SERVICE,
      token_endpoint: `${SERVICE}/oauth2/token`,
      jwks_uri: `${SERVICE}/.well-known/jwks.json`,
      service_documentation: `${SERVICE}/docs`,
      scopes_supported: SCOPE_NAMES,
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
      token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
      revocation_endpoint: `${SERVICE}/oauth2/revoke`,
      revocation_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
      revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    },
  },
};

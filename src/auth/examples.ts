import { LIMITS } from '../limits.ts';
import { SCOPE_NAMES } from './scopes.ts';
import { UNAVAILABLE } from './token-request.ts';

/** Example requests and answers of the routes for authentication. A test compares them with real ones. */
export const TOKEN_REQUEST = {
  grant_type: 'client_credentials',
  scope: 'transfer:write_platform_transfer transfer:read_transfer',
};

const tokenError = (error: string, sentence: string) => ({ error, error_description: sentence });

const SERVICE = 'https://example.com';

/** By operation and status. */
export const ANSWERS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  createToken: {
    200: {
      access_token:
        'eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCIsImtpZCI6IjAxOWJjMGZkLThiYTIifQ.eyJzdWIiOiJmZXJyeV9iNDM0In0.c2lnbmF0dXJl',
      token_type: 'bearer',
      expires_in: LIMITS.accessTokenSeconds,
      scope: TOKEN_REQUEST.scope,
    },
    400: tokenError('invalid_request', 'The parameter grant_type is missing.'),
    401: tokenError('invalid_client', 'The client is unknown or the secret is wrong.'),
    429: tokenError(
      'temporarily_unavailable',
      'Too many failed attempts for this client. Retry after 42 seconds.',
    ),
    500: tokenError('server_error', 'An internal error occurred.'),
    503: tokenError('temporarily_unavailable', UNAVAILABLE),
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
      response_types_supported: [],
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    },
  },
};

import { LIMITS } from '../limits.ts';
import { SCOPES } from './scopes.ts';

/** OpenAPI schemas of the routes for authentication. */
const TAG = 'Authentication';

const text = (description: string): object => ({ type: 'string', description });
const texts = (description: string): object => ({ type: 'array', items: { type: 'string' }, description });

const tokenError = (description: string): object => ({
  description,
  type: 'object',
  required: ['error', 'error_description'],
  properties: {
    error: text('A code of RFC 6749 section 5.2'),
    error_description: text('What is wrong, in one or two sentences'),
  },
});

export const TOKEN_SCHEMA = {
  operationId: 'createToken',
  tags: [TAG],
  summary: 'Get an access token',
  description:
    'OAuth 2 client credentials grant. The client authenticates with HTTP Basic (id and secret form-urlencoded, RFC 6749 section 2.3.1) or with `client_id` and `client_secret` in the body.',
  consumes: ['application/x-www-form-urlencoded', 'multipart/form-data'],
  security: [],
  body: {
    type: 'object',
    required: ['grant_type'],
    properties: {
      grant_type: { type: 'string', enum: ['client_credentials'] },
      scope: text(
        `Space-delimited; default: every scope of the client. Scopes: ${Object.keys(SCOPES).join(', ')}.`,
      ),
      client_id: text('Unless HTTP Basic is used'),
      client_secret: text('Unless HTTP Basic is used'),
    },
  },
  response: {
    200: {
      description: 'An access token',
      type: 'object',
      required: ['access_token', 'token_type', 'expires_in', 'scope'],
      properties: {
        access_token: text('A JWT (RFC 9068); send it as `Authorization: Bearer <token>`'),
        token_type: { type: 'string', enum: ['bearer'] },
        expires_in: { type: 'integer', description: `Seconds; always ${LIMITS.accessTokenSeconds}` },
        scope: text('The granted scopes, space-delimited'),
      },
    },
    400: tokenError('invalid_request, invalid_scope or unsupported_grant_type'),
    401: tokenError('invalid_client: unknown client, wrong secret, or disabled client'),
    429: tokenError('Too many failed attempts for this client; see Retry-After'),
    500: tokenError('server_error: an internal error'),
    503: tokenError('Temporarily unavailable, or too many requests are waiting; see Retry-After'),
  },
};

export const KEYS_SCHEMA = {
  operationId: 'getKeys',
  tags: [TAG],
  summary: 'Keys that sign access tokens, as a JSON Web Key Set',
  security: [],
  response: {
    200: {
      description: 'RFC 7517',
      type: 'object',
      required: ['keys'],
      properties: {
        keys: {
          type: 'array',
          items: {
            type: 'object',
            // An explicit list, so that a private part can never be sent by mistake.
            properties: {
              kty: text('Key type'),
              crv: text('Curve'),
              x: text('Public key'),
              kid: text('Key id, as in the header of tokens'),
              alg: text('Algorithm'),
              use: text('Use'),
            },
          },
        },
      },
    },
  },
};

export const METADATA_SCHEMA = {
  operationId: 'getAuthorizationServerMetadata',
  tags: [TAG],
  summary: 'Authorization server metadata',
  security: [],
  response: {
    200: {
      description: 'RFC 8414',
      type: 'object',
      required: ['issuer', 'token_endpoint', 'jwks_uri', 'response_types_supported'],
      properties: {
        issuer: text('The issuer and the audience of access tokens'),
        token_endpoint: text('URL'),
        jwks_uri: text('URL'),
        service_documentation: text('URL'),
        scopes_supported: texts('Scopes'),
        response_types_supported: texts('Empty: there is no authorization endpoint'),
        grant_types_supported: texts('Grants'),
        token_endpoint_auth_methods_supported: texts('How clients authenticate'),
      },
    },
  },
};

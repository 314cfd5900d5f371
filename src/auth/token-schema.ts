import { LIMITS } from '../limits.ts';
import { SCOPES } from './scopes.ts';

/** The routes outside the operations, as the OpenAPI document shows them. */
const TAG = 'Authentication';

const text = (description: string): object => ({ type: 'string', description });
const texts = (description: string): object => ({ type: 'array', items: { type: 'string' }, description });

const tokenError = (description: string): object => ({
  description,
  type: 'object',
  required: ['error', 'error_description'],
  properties: { error: text('A code of RFC 6749 section 5.2'), error_description: text('One sentence') },
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
        `Space-delimited; absent: all that the client may have. Scopes: ${Object.keys(SCOPES).join(', ')}.`,
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
        scope: text('What was granted, space-delimited'),
      },
    },
    400: tokenError('invalid_request, invalid_scope or unsupported_grant_type'),
    401: tokenError('invalid_client: unknown client, wrong secret, or disabled'),
    429: tokenError('Too many wrong secrets for this client; see Retry-After'),
    500: tokenError('server_error: a fault on our side'),
    503: tokenError('The database is away or too many requests wait; see Retry-After'),
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
            // Named one by one, so that a private part could not be sent even by mistake.
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
        issuer: text('Also the audience of access tokens'),
        token_endpoint: text('Address'),
        jwks_uri: text('Address'),
        service_documentation: text('Address'),
        scopes_supported: texts('Scopes'),
        response_types_supported: texts('None: there is no authorization endpoint'),
        grant_types_supported: texts('Grants'),
        token_endpoint_auth_methods_supported: texts('How clients authenticate'),
      },
    },
  },
};

import { LIMITS } from '../limits.ts';
import { SCOPES } from './scopes.ts';
import { ASSERTION_TYPE } from './token-request.ts';

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

/** How the client proves its identity, beside HTTP Basic. */
const PROOF = {
  client_id: text('With a secret in the body; otherwise optional'),
  client_secret: text('Unless HTTP Basic or an assertion is used'),
  client_assertion_type: text(`\`${ASSERTION_TYPE}\`, with a \`client_assertion\``),
  client_assertion: text(
    `A JWT that the client has signed (RFC 7523): \`iss\` and \`sub\` are the client id, \`aud\` is the issuer or the endpoint, \`exp\` is at most ${LIMITS.assertionSeconds} seconds ahead, and \`jti\` is used once`,
  ),
};

const UNAUTHENTICATED =
  'invalid_client: unknown client, wrong secret or assertion, disabled client, or an address that the client may not be used from';
const TOO_MANY =
  'Too many failed attempts from this address; see Retry-After. Right credentials are still accepted';
/** Multipart forms are accepted, too, but generators of clients handle only one form well. */
const CONSUMES = ['application/x-www-form-urlencoded'];

export const TOKEN_SCHEMA = {
  operationId: 'createToken',
  tags: [TAG],
  summary: 'Get an access token',
  description:
    'OAuth 2 client credentials grant. The client authenticates with HTTP Basic (id and secret form-urlencoded, RFC 6749 section 2.3.1), with `client_id` and `client_secret` in the body, or with an assertion that it signs with its private key (`private_key_jwt`, RFC 7523).',
  consumes: CONSUMES,
  security: [],
  body: {
    type: 'object',
    required: ['grant_type'],
    properties: {
      grant_type: { type: 'string', enum: ['client_credentials'] },
      scope: text(
        `Space-delimited; default: every scope of the client. Scopes: ${Object.keys(SCOPES).join(', ')}.`,
      ),
      ...PROOF,
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
    401: tokenError(UNAUTHENTICATED),
    429: tokenError(TOO_MANY),
    500: tokenError('server_error: an internal error'),
    503: tokenError('Temporarily unavailable; see Retry-After'),
  },
};

export const REVOCATION_SCHEMA = {
  operationId: 'revokeToken',
  tags: [TAG],
  summary: 'Revoke an access token',
  description:
    'RFC 7009. The client that the token was issued to authenticates as at the token endpoint. From then on the token is refused, on every node within ten seconds. A token that is unknown or has expired is not an error.',
  consumes: CONSUMES,
  security: [],
  body: {
    type: 'object',
    required: ['token'],
    properties: {
      token: { ...text('The access token'), minLength: 1 },
      token_type_hint: text('Ignored: there are only access tokens'),
      ...PROOF,
    },
  },
  response: {
    200: { description: 'The token is not valid, or not any more', type: 'object' },
    400: tokenError('invalid_request; or invalid_grant: the token was issued to another client'),
    401: tokenError(UNAUTHENTICATED),
    429: tokenError(`${TOO_MANY}. Or the client has revoked too many tokens`),
    500: tokenError('server_error: an internal error'),
    503: tokenError('Temporarily unavailable; see Retry-After'),
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
      required: ['issuer', 'token_endpoint', 'jwks_uri'],
      properties: {
        issuer: text('The issuer and the audience of access tokens'),
        token_endpoint: text('URL'),
        jwks_uri: text('URL'),
        service_documentation: text('URL'),
        scopes_supported: texts('Scopes'),
        grant_types_supported: texts('Grants'),
        token_endpoint_auth_methods_supported: texts('How clients authenticate'),
        token_endpoint_auth_signing_alg_values_supported: texts('Algorithms of their assertions'),
        revocation_endpoint: text('URL'),
        revocation_endpoint_auth_methods_supported: texts('How clients authenticate'),
        revocation_endpoint_auth_signing_alg_values_supported: texts('Algorithms of their assertions'),
      },
    },
  },
};

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../database/database.ts';
import { failureOf } from '../database/failure.ts';
import type { Clock } from '../kernel/clock.ts';
import { Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { Attempts } from './attempts.ts';
import type { Keyring } from './keys.ts';
import { TOKEN_PATH } from './metadata.ts';
import { splitScope } from './scopes.ts';
import { isClientId, type SecretChecker } from './secrets.ts';
import { type Client, clientWithSecret } from './store.ts';
import {
  type Credentials,
  type Form,
  invalidClient,
  invalidRequest,
  readCredentials,
  readMultipart,
  readUrlencoded,
  TokenError,
  UNAVAILABLE,
} from './token-request.ts';
import { TOKEN_SCHEMA } from './token-schema.ts';
import { issueToken } from './tokens.ts';

export type TokenEndpointParts = {
  readonly database: Database;
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly checker: SecretChecker;
  readonly attempts: Attempts;
  publicUrl(): string;
};

async function authenticateClient(
  { database, checker, attempts }: TokenEndpointParts,
  credentials: Credentials,
  request: FastifyRequest,
): Promise<Client> {
  const { clientId, clientSecret } = credentials;
  const waitSeconds = attempts.waitSeconds(credentials);
  if (waitSeconds > 0) {
    const description = `Too many failed attempts for this client. Retry after ${waitSeconds} seconds.`;
    throw new TokenError('temporarily_unavailable', description, 429, waitSeconds);
  }
  const client = isClientId(clientId) ? await clientWithSecret(database, clientId) : undefined;
  const isRight = await checker.check(clientSecret, client?.secretHash);
  if (client === undefined || !isRight) {
    attempts.failed(credentials);
    // An unknown id is not logged, because people paste secrets into the wrong field.
    request.log.warn(
      { client_id: client?.id ?? null, request_id: request.id },
      'token request with wrong credentials',
    );
    throw invalidClient('The client is unknown or the secret is wrong.');
  }
  attempts.succeeded(credentials);
  // Only a caller with the right secret learns this.
  if (client.disabledAtNs !== null) throw invalidClient('The client is disabled.');
  return client;
}

function grantedScopes(client: Client, asked: string | undefined): readonly string[] {
  const scopes = splitScope(asked ?? '');
  if (scopes.length === 0) return client.scopes;
  const refused = scopes.filter((scope) => !client.scopes.includes(scope));
  if (refused.length > 0) {
    throw new TokenError(
      'invalid_scope',
      `The client may not have the requested scope. Its scopes are: ${client.scopes.join(' ')}.`,
    );
  }
  return scopes;
}

async function answerToken(parts: TokenEndpointParts, request: FastifyRequest): Promise<object> {
  // Section 2.3.1: never in the URL, which is logged in many places.
  if (request.url.includes('?')) throw invalidRequest('Send the parameters in the body, not in the URL.');
  const form: Form = (request.body as Form | undefined) ?? new Map();
  const grantType = form.get('grant_type');
  if (grantType === undefined) throw invalidRequest('The parameter grant_type is missing.');
  if (grantType !== 'client_credentials') {
    throw new TokenError('unsupported_grant_type', 'The grant_type must be client_credentials.');
  }
  const credentials = readCredentials(request.headers.authorization, form);
  const client = await authenticateClient(parts, credentials, request);
  const scopes = grantedScopes(client, form.get('scope'));
  const issued = await issueToken(parts.keyring, parts.clock, parts.publicUrl(), client, scopes);
  return {
    access_token: issued.accessToken,
    token_type: 'bearer',
    expires_in: issued.expiresInSeconds,
    scope: issued.scope,
  };
}

/** Any error as an error of RFC 6749 section 5.2. */
function tokenErrorOf(error: unknown): TokenError {
  if (error instanceof TokenError) return error;
  if (error instanceof Problem && error.slug === 'unavailable') {
    return new TokenError('temporarily_unavailable', error.message, 503, error.retryAfterSeconds ?? 1);
  }
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  // The section allows only 400 here, even for what is a 413 or 415 elsewhere.
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return invalidRequest('The body must be sent as application/x-www-form-urlencoded.');
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return invalidRequest(`The body has more than ${LIMITS.tokenRequestBytesMax} bytes.`);
  if (
    typeof code === 'string' &&
    // The connection ended before the body was complete: the framework sets the status 400.
    (code.startsWith('FST_') || code === 'ECONNRESET') &&
    typeof statusCode === 'number' &&
    statusCode < 500
  )
    return invalidRequest('The request is malformed.');
  const failure = failureOf(error);
  if (failure === 'unavailable' || failure === 'timeout')
    return new TokenError('temporarily_unavailable', UNAVAILABLE, 503, 1);
  return new TokenError('server_error', 'An internal error occurred.', 500);
}

function sendTokenError(request: FastifyRequest, reply: FastifyReply, error: TokenError): FastifyReply {
  // RFC 9110 section 15.5.2 requires this header with every 401. But if the credentials came from a web page in the
  // body, the browser would prompt its user and hide the response from the page; RFC 6749 does not require it there.
  const isFromPage = request.headers.origin !== undefined;
  if (error.status === 401 && (request.headers.authorization !== undefined || !isFromPage))
    reply.header('www-authenticate', 'Basic realm="ferry", charset="UTF-8"');
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds);
  return reply.code(error.status).send({ error: error.code, error_description: error.message });
}

/** In its own Fastify scope: only here bodies are forms, and errors are those of OAuth. */
export async function registerTokenEndpoint(app: FastifyInstance, parts: TokenEndpointParts): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'buffer' },
      async (_request: FastifyRequest, body: Buffer) => readUrlencoded(body),
    );
    scope.addContentTypeParser(
      'multipart/form-data',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer) =>
        readMultipart(body, request.headers['content-type'] ?? ''),
    );
    scope.setErrorHandler((error, request, reply) => {
      const tokenError = tokenErrorOf(error);
      if (tokenError.status === 500)
        request.log.error({ err: error, request_id: request.id }, 'token request failed');
      return sendTokenError(request, reply, tokenError);
    });
    scope.addHook('onRequest', async (_request, reply) => {
      reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
    });
    scope.post(TOKEN_PATH, {
      schema: TOKEN_SCHEMA,
      bodyLimit: LIMITS.tokenRequestBytesMax,
      // The schema is for the documentation only; the code above validates, with the errors of OAuth.
      validatorCompiler: () => () => true,
      handler: async (request) => answerToken(parts, request),
    });
  });
}

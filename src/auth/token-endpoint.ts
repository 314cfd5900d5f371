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
    const description = `Too many wrong secrets for this client; wait for ${waitSeconds} seconds.`;
    throw new TokenError('temporarily_unavailable', description, 429, waitSeconds);
  }
  const client = isClientId(clientId) ? await clientWithSecret(database, clientId) : undefined;
  const isRight = await checker.check(clientSecret, client?.secretHash);
  if (client === undefined || !isRight) {
    attempts.failed(credentials);
    // An unknown id is not logged: people paste secrets into the wrong field.
    request.log.warn(
      { client_id: client?.id ?? null, request_id: request.id },
      'token request with wrong credentials',
    );
    throw invalidClient('The client is unknown or the secret is wrong.');
  }
  attempts.succeeded(credentials);
  // Only whoever has the secret learns this.
  if (client.disabledAtNs !== null) throw invalidClient('The client is disabled.');
  return client;
}

function grantedScopes(client: Client, asked: string | undefined): readonly string[] {
  const scopes = splitScope(asked ?? '');
  if (scopes.length === 0) return client.scopes;
  const refused = scopes.filter((scope) => !client.scopes.includes(scope));
  if (refused.length > 0) {
    throw new TokenError('invalid_scope', `The client may have only: ${client.scopes.join(' ')}.`);
  }
  return scopes;
}

async function answerToken(parts: TokenEndpointParts, request: FastifyRequest): Promise<object> {
  // Section 2.3.1: never in the address, which ends up in logs everywhere.
  if (request.url.includes('?')) throw invalidRequest('Parameters go into the body, not into the address.');
  const form: Form = (request.body as Form | undefined) ?? new Map();
  const grantType = form.get('grant_type');
  if (grantType === undefined) throw invalidRequest('The parameter grant_type is missing.');
  if (grantType !== 'client_credentials') {
    throw new TokenError('unsupported_grant_type', 'The only grant_type here is client_credentials.');
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

/** Everything that can be thrown on the way, in the form of RFC 6749 section 5.2. */
function tokenErrorOf(error: unknown): TokenError {
  if (error instanceof TokenError) return error;
  if (error instanceof Problem && error.slug === 'unavailable') {
    return new TokenError('temporarily_unavailable', error.message, 503, error.retryAfterSeconds ?? 1);
  }
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  // The section knows only 400 here, also for what is a 413 or 415 elsewhere.
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return invalidRequest('The body must be sent as application/x-www-form-urlencoded.');
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return invalidRequest(`The body has more than ${LIMITS.tokenRequestBytesMax} bytes.`);
  if (
    typeof code === 'string' &&
    code.startsWith('FST_') &&
    typeof statusCode === 'number' &&
    statusCode < 500
  )
    return invalidRequest('The request is malformed.');
  const failure = failureOf(error);
  if (failure === 'unavailable' || failure === 'timeout')
    return new TokenError('temporarily_unavailable', 'The database is away.', 503, 1);
  return new TokenError('server_error', 'Something went wrong on our side.', 500);
}

function sendTokenError(request: FastifyRequest, reply: FastifyReply, error: TokenError): FastifyReply {
  // A 401 has it (RFC 9110 section 15.5.2), also when the credentials were in the body; but a browser takes it for a
  // question to its user, and keeps the answer from the page that sent them. RFC 6749 asks for it only with the header.
  const isOfAPage = request.headers.origin !== undefined;
  if (error.status === 401 && (request.headers.authorization !== undefined || !isOfAPage))
    reply.header('www-authenticate', 'Basic realm="ferry", charset="UTF-8"');
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds);
  return reply.code(error.status).send({ error: error.code, error_description: error.message });
}

/** In a scope of its own: forms are understood here and nowhere else, and errors have another form. */
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
      // The schema is documentation; what is wrong is said in OAuth's words by the code above.
      validatorCompiler: () => () => true,
      handler: async (request) => answerToken(parts, request),
    });
  });
}

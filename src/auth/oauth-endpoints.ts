import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { failureOf } from '../database/failure.ts';
import type { Patience } from '../kernel/patience.ts';
import { Problem } from '../kernel/problem.ts';
import { type SourceOf, sourceKey } from '../kernel/source-address.ts';
import { LIMITS } from '../limits.ts';
import { type AuthenticationParts, authenticateClient } from './client-authentication.ts';
import type { Authenticable } from './credential-store.ts';
import { REVOCATION_PATH, TOKEN_PATH } from './metadata.ts';
import { answerRevocation, checkRevocation, type RevocationParts } from './revocation.ts';
import { answerToken, checkGrant, type TokenParts } from './token-endpoint.ts';
import {
  type Form,
  invalidRequest,
  readMultipart,
  readProof,
  readUrlencoded,
  TokenError,
  UNAVAILABLE,
} from './token-request.ts';
import { REVOCATION_SCHEMA, TOKEN_SCHEMA } from './token-schema.ts';

type Refusing = { readonly patience: Patience; readonly sourceOf: SourceOf };

/** An endpoint for clients that authenticate themselves. */
type Endpoint = {
  readonly url: string;
  readonly schema: object;
  /** Throws if the request cannot be right, whoever sends it. */
  check(form: Form): void;
  answer(client: Authenticable, form: Form): Promise<object>;
};

/** Any error as an error of RFC 6749 section 5.2. */
function tokenErrorOf(error: unknown): TokenError {
  if (error instanceof TokenError) return error;
  if (error instanceof Problem && error.slug === 'unavailable') {
    return new TokenError('temporarily_unavailable', error.message, 503, error.retryAfterSeconds ?? 1);
  }
  // The section allows only 400 here, even for what is a 413 or 415 elsewhere.
  if (
    error instanceof Problem &&
    (error.slug === 'invalid-request' || error.slug === 'unsupported-media-type')
  )
    return invalidRequest(`The request is malformed: ${error.message}`);
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
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

/** Wrong credentials, or too many requests. */
const isRefusal = ({ status }: TokenError): boolean => status === 401 || status === 429;

function prepareScope(scope: FastifyInstance, { patience, sourceOf }: Refusing): void {
  const sourceOfRequest = ({ raw, headers }: FastifyRequest): string =>
    sourceKey(sourceOf(raw.socket, headers['x-forwarded-for']));
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
    const laterMs = isRefusal(tokenError) ? patience.delayMs(sourceOfRequest(request), performance.now()) : 0;
    if (laterMs === 0) return sendTokenError(request, reply, tokenError);
    setTimeout(() => void sendTokenError(request, reply, tokenError), laterMs);
    return reply;
  });
  scope.addHook('onRequest', async (_request, reply) => {
    reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
  });
}

function register(
  scope: FastifyInstance,
  parts: AuthenticationParts,
  { url, schema, check, answer }: Endpoint,
): void {
  scope.post(url, {
    schema,
    bodyLimit: LIMITS.tokenRequestBytesMax,
    // The schema is for the documentation only; the code below validates, with the errors of OAuth.
    validatorCompiler: () => () => true,
    async handler(request) {
      // Section 2.3.1: never in the URL, which is logged in many places.
      if (request.url.includes('?')) throw invalidRequest('Send the parameters in the body, not in the URL.');
      const form: Form = (request.body as Form | undefined) ?? new Map();
      check(form);
      const proof = readProof(request.headers.authorization, form);
      return answer(await authenticateClient(parts, proof, request), form);
    },
  });
}

/** In their own Fastify scope: only here bodies are forms, and errors are those of OAuth. */
export async function registerOauthEndpoints(
  app: FastifyInstance,
  parts: AuthenticationParts & TokenParts & RevocationParts & Refusing,
): Promise<void> {
  await app.register(async (scope) => {
    prepareScope(scope, parts);
    register(scope, parts, {
      url: TOKEN_PATH,
      schema: TOKEN_SCHEMA,
      check: checkGrant,
      answer: (client, form) => answerToken(parts, client, form),
    });
    register(scope, parts, {
      url: REVOCATION_PATH,
      schema: REVOCATION_SCHEMA,
      check: checkRevocation,
      answer: (client, form) => answerRevocation(parts, client, form),
    });
  });
}

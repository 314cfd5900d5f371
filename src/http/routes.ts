import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem, type ProblemSlug } from '../kernel/problem.ts';
import type { Caller, Route } from '../kernel/route.ts';
import type { Connection, ForwardedFor } from '../kernel/source-address.ts';
import { LIMITS } from '../limits.ts';
import { refuseUnstorable } from './json.ts';
import { applyIdempotencyKey } from './strict-headers.ts';

/** Problems that every operation can answer, in addition to its own. */
export const COMMON_PROBLEMS: readonly ProblemSlug[] = [
  'invalid-request',
  'unauthenticated',
  'insufficient-scope',
  'rate-limited',
  'internal',
  'unavailable',
];

export function scopeProblem(required: string, found: readonly string[]): Problem {
  return new Problem('insufficient-scope', `This operation requires the scope ${required}.`, {
    required,
    found,
  });
}

function requireScope(caller: Caller, scope: string): void {
  if (caller.scopes.has(scope)) return;
  throw scopeProblem(scope, [...caller.scopes].sort());
}

/** `/v2/things/{id}` is OpenAPI's form, `/v2/things/:id` the router's. */
export function routerPath(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ':$1');
}

type BodySchema = { properties?: Record<string, unknown> };
type QuerySchema = { properties?: Record<string, { type?: string }> };

/**
 * Query parameters are strings. Only where the schema has a list or an integer is the string converted; types are never
 * guessed. A value that cannot be converted stays as it is, so that the validation names it.
 */
export function readQuery(
  query: Record<string, unknown>,
  schema: QuerySchema | undefined,
): Record<string, unknown> {
  const properties = schema?.properties ?? {};
  const read = Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      const type = properties[name]?.type;
      if (type === 'array' && typeof value === 'string') return [name, [value]];
      if (type === 'integer' && typeof value === 'string' && /^[0-9]{1,9}$/.test(value))
        return [name, Number(value)];
      return [name, value];
    }),
  );
  refuseUnstorable(read, '/query');
  return read;
}

/** Requests of one client that are in flight. Only clients that have any are in the map. */
type InFlight = { count: number; readonly leave: () => void };
const inFlightByClient = new Map<string, InFlight>();

function newInFlight(clientId: string): InFlight {
  const made: InFlight = {
    count: 0,
    leave() {
      made.count -= 1;
      if (made.count === 0) inFlightByClient.delete(clientId);
    },
  };
  inFlightByClient.set(clientId, made);
  return made;
}

/** Counts the client's requests in flight and rejects those above the limit. The count goes down with the response. */
function admit(clientId: string, reply: FastifyReply): void {
  // The client disconnected while its token was being verified: `close` is not emitted again.
  if (reply.raw.closed) return;
  const inFlight = inFlightByClient.get(clientId) ?? newInFlight(clientId);
  if (inFlight.count >= LIMITS.clientRequestsMax) {
    throw new Problem(
      'rate-limited',
      `Client ${clientId} has ${inFlight.count} requests in flight, which is the maximum.`,
      { in_flight: inFlight.count },
      1,
    );
  }
  inFlight.count += 1;
  // Emitted exactly once: after the response, when the client disconnects, or when the service cuts the connection.
  reply.raw.on('close', inFlight.leave);
}

export type Authentication = {
  authenticate(
    authorization: string | undefined,
    connection?: Connection,
    forwardedFor?: ForwardedFor,
  ): Promise<Caller>;
  recall?(
    authorization: string | undefined,
    connection: Connection,
    forwardedFor?: ForwardedFor,
  ): Caller | undefined;
};

/** Aborted when the connection closes. */
function disconnectController(reply: FastifyReply): AbortController {
  const controller = new AbortController();
  if (reply.raw.closed) controller.abort();
  else reply.raw.once('close', () => controller.abort());
  return controller;
}

/** Sends texts as they come. The token is verified at an interval: it may expire, or its client may be disabled. */
function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  texts: AsyncIterable<string>,
  type: string,
  options: { disconnected: AbortController; authenticate: Authentication['authenticate'] },
): FastifyReply {
  const { disconnected, authenticate } = options;
  const timer = setInterval(() => {
    const { authorization, 'x-forwarded-for': forwardedFor } = request.headers;
    authenticate(authorization, request.raw.socket, forwardedFor).catch(() => disconnected.abort());
  }, LIMITS.streamAuthenticateMs);
  timer.unref();
  disconnected.signal.addEventListener('abort', () => clearInterval(timer));
  return reply.type(type).header('x-accel-buffering', 'no').send(Readable.from(texts));
}

const JSON_TYPE = 'application/json; charset=utf-8';

function createHandler(route: Route, { authenticate }: Authentication) {
  return (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    // Created only if a handler needs it: most requests never wait.
    let disconnected: AbortController | undefined;
    const answered = route.handle({
      caller: request.caller!,
      body: request.body,
      query: request.query,
      params: request.params,
      signal() {
        disconnected ??= disconnectController(reply);
        return disconnected.signal;
      },
      header(name) {
        const value = request.headers[name];
        return typeof value === 'string' ? value : undefined;
      },
    });
    return answered.then(({ body, replayed }) => {
      if (route.streams !== undefined) {
        const texts = body as AsyncIterable<string>;
        disconnected ??= disconnectController(reply);
        return sendStream(request, reply, texts, route.streams, { disconnected, authenticate });
      }
      if (replayed === true) reply.header('idempotent-replayed', 'true');
      if (typeof body === 'string') reply.header('content-type', JSON_TYPE);
      return body;
    });
  };
}

/** A route, and its path in the router's form. */
export type Operation = { readonly route: Route; readonly url: string };

/** Registers an operation: token and scope are checked first, then the shape of the request, then it is handled. */
export function registerRoute(app: FastifyInstance, route: Route, authentication: Authentication): void {
  const enter = (request: FastifyRequest, reply: FastifyReply, caller: Caller): void => {
    requireScope(caller, route.scope);
    if (route.alsoScope !== undefined) requireScope(caller, route.alsoScope);
    admit(caller.clientId, reply);
    request.caller = caller;
    // An answer belongs to whoever has the token: no cache may keep it.
    reply.header('cache-control', 'no-store');
  };
  const { query } = route;
  const body: BodySchema | undefined = route.body;
  const hasRefId = 'ref_id' in (body?.properties ?? {});
  const operation: Operation = { route, url: routerPath(route.path) };
  app.route({
    method: route.method,
    url: operation.url,
    schema: {
      ...(route.body === undefined ? {} : { body: route.body }),
      querystring: query ?? { type: 'object', additionalProperties: false },
      ...(route.params === undefined ? {} : { params: route.params }),
      response: { 200: route.response },
    },
    onRequest(request, reply, done) {
      request.operation = operation;
      const { authorization, 'x-forwarded-for': forwardedFor } = request.headers;
      const { socket } = request.raw;
      const known = authentication.recall?.(authorization, socket, forwardedFor);
      if (known === undefined) {
        return authentication
          .authenticate(authorization, socket, forwardedFor)
          .then((caller) => enter(request, reply, caller));
      }
      enter(request, reply, known);
      done();
      return undefined;
    },
    ...(query === undefined && !hasRefId
      ? {}
      : {
          preValidation(request: FastifyRequest, _reply: FastifyReply, done: () => void) {
            if (query !== undefined)
              request.query = readQuery(request.query as Record<string, unknown>, query);
            if (hasRefId) applyIdempotencyKey(request);
            done();
          },
        }),
    handler: createHandler(route, authentication),
  });
}

import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem, type ProblemSlug } from '../kernel/problem.ts';
import type { Caller, Route } from '../kernel/route.ts';
import { LIMITS } from '../limits.ts';
import { refuseUnstorable } from './json.ts';

/** What any operation can answer beside its own problems. */
export const COMMON_PROBLEMS: readonly ProblemSlug[] = [
  'invalid-request',
  'unauthenticated',
  'insufficient-scope',
  'rate-limited',
  'internal',
  'unavailable',
];

export function scopeProblem(required: string, found: readonly string[]): Problem {
  return new Problem('insufficient-scope', `This operation needs the scope ${required}.`, {
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

type QuerySchema = { properties?: Record<string, { type?: string }> };

/**
 * A query is text, and types are never guessed: only where the schema says list or integer is one made of the text.
 * What does not fit is left as it is, for the validation to name.
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

/** How many requests of a client are in flight. There is one for each client that has any. */
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

/** Counts the client's requests in flight; one too many is refused. The count goes down when the answer is out. */
function admit(clientId: string, reply: FastifyReply): void {
  // Whoever hung up while the token was looked at does not come past here again.
  if (reply.raw.closed) return;
  const inFlight = inFlightByClient.get(clientId) ?? newInFlight(clientId);
  if (inFlight.count >= LIMITS.clientRequestsMax) {
    throw new Problem(
      'rate-limited',
      `Client ${clientId} has ${inFlight.count} requests in flight, the most that it may have.`,
      { in_flight: inFlight.count },
      1,
    );
  }
  inFlight.count += 1;
  // Comes exactly once, whether the answer went out, the client hung up or the service cut the connection.
  reply.raw.on('close', inFlight.leave);
}

type Authentication = {
  authenticate(authorization: string | undefined, connection?: object): Promise<Caller>;
  recall?(authorization: string | undefined, connection: object): Caller | undefined;
};

/** Aborted when the connection is gone. */
function goneController(reply: FastifyReply): AbortController {
  const controller = new AbortController();
  if (reply.raw.closed) controller.abort();
  else reply.raw.once('close', () => controller.abort());
  return controller;
}

/** Texts as they come. The token is looked at again all the while: it may expire, its client may be disabled. */
function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  texts: AsyncIterable<string>,
  type: string,
  options: { gone: AbortController; authenticate: Authentication['authenticate'] },
): FastifyReply {
  const { gone, authenticate } = options;
  const timer = setInterval(() => {
    authenticate(request.headers.authorization).catch(() => gone.abort());
  }, LIMITS.streamAuthenticateMs);
  timer.unref();
  gone.signal.addEventListener('abort', () => clearInterval(timer));
  return reply
    .type(type)
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no')
    .send(Readable.from(texts));
}

const JSON_TYPE = 'application/json; charset=utf-8';

function createHandler(route: Route, { authenticate }: Authentication) {
  return (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    // Made only for those who ask: most requests never wait.
    let gone: AbortController | undefined;
    const answered = route.handle({
      caller: request.caller!,
      body: request.body,
      query: request.query,
      params: request.params,
      signal() {
        gone ??= goneController(reply);
        return gone.signal;
      },
      header(name) {
        const value = request.headers[name];
        return typeof value === 'string' ? value : undefined;
      },
    });
    return answered.then(({ body, replayed }) => {
      if (route.streams !== undefined) {
        const texts = body as AsyncIterable<string>;
        gone ??= goneController(reply);
        return sendStream(request, reply, texts, route.streams, { gone, authenticate });
      }
      if (replayed === true) reply.header('idempotent-replayed', 'true');
      if (typeof body === 'string') reply.header('content-type', JSON_TYPE);
      return body;
    });
  };
}

/** A route where the router has it. */
export type Operation = { readonly route: Route; readonly url: string };

/** Connects an operation: token and scope first, then the shape of the request, then what it does. */
export function registerRoute(app: FastifyInstance, route: Route, authentication: Authentication): void {
  const enter = (request: FastifyRequest, reply: FastifyReply, caller: Caller): void => {
    requireScope(caller, route.scope);
    admit(caller.clientId, reply);
    request.caller = caller;
  };
  const { query } = route;
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
      const { authorization } = request.headers;
      const { socket } = request.raw;
      const known = authentication.recall?.(authorization, socket);
      if (known === undefined) {
        return authentication
          .authenticate(authorization, socket)
          .then((caller) => enter(request, reply, caller));
      }
      enter(request, reply, known);
      done();
      return undefined;
    },
    ...(query === undefined
      ? {}
      : {
          preValidation(request: FastifyRequest, _reply: FastifyReply, done: () => void) {
            request.query = readQuery(request.query as Record<string, unknown>, query);
            done();
          },
        }),
    handler: createHandler(route, authentication),
  });
}

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

function requireScope(caller: Caller, scope: string): void {
  if (caller.scopes.has(scope)) return;
  throw new Problem('insufficient-scope', `This operation needs the scope ${scope}.`, {
    required: scope,
    found: [...caller.scopes].sort(),
  });
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

const requestsByClient = new Map<string, number>();

/** Counts the client's requests in flight; one too many is refused. The count goes down when the answer is out. */
function admit(clientId: string, reply: FastifyReply): void {
  const inFlight = requestsByClient.get(clientId) ?? 0;
  if (inFlight >= LIMITS.clientRequestsMax) {
    throw new Problem(
      'rate-limited',
      `Client ${clientId} has ${inFlight} requests in flight, the most that it may have.`,
      { in_flight: inFlight },
      1,
    );
  }
  requestsByClient.set(clientId, inFlight + 1);
  reply.raw.once('close', () => {
    const left = (requestsByClient.get(clientId) ?? 1) - 1;
    if (left > 0) requestsByClient.set(clientId, left);
    else requestsByClient.delete(clientId);
  });
}

type Authenticate = (authorization: string | undefined) => Promise<Caller>;

/** Aborted when the connection is gone. Made only for those who ask: most requests never wait. */
function goneSignal(reply: FastifyReply): () => AbortController {
  let controller: AbortController | undefined;
  return () => {
    if (controller === undefined) {
      const made = new AbortController();
      controller = made;
      if (reply.raw.closed) made.abort();
      else reply.raw.once('close', () => made.abort());
    }
    return controller;
  };
}

/** Texts as they come. The token is looked at again all the while: it may expire, its client may be disabled. */
function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  texts: AsyncIterable<string>,
  type: string,
  options: { gone: AbortController; authenticate: Authenticate },
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

/** Connects an operation: token and scope first, then the shape of the request, then what it does. */
export function registerRoute(app: FastifyInstance, route: Route, authenticate: Authenticate): void {
  app.route({
    method: route.method,
    url: routerPath(route.path),
    config: { route },
    schema: {
      ...(route.body === undefined ? {} : { body: route.body }),
      querystring: route.query ?? { type: 'object', additionalProperties: false },
      ...(route.params === undefined ? {} : { params: route.params }),
      response: { 200: route.response },
    },
    onRequest: async (request, reply) => {
      const caller = await authenticate(request.headers.authorization);
      requireScope(caller, route.scope);
      admit(caller.clientId, reply);
      request.caller = caller;
    },
    preValidation: async (request) => {
      if (route.query !== undefined) {
        request.query = readQuery(request.query as Record<string, unknown>, route.query);
      }
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const gone = goneSignal(reply);
      const answer = await route.handle({
        caller: request.caller!,
        body: request.body,
        query: request.query,
        params: request.params,
        signal: () => gone().signal,
        header: (name) => {
          const value = request.headers[name];
          return typeof value === 'string' ? value : undefined;
        },
      });
      if (route.streams !== undefined) {
        const texts = answer.body as AsyncIterable<string>;
        return sendStream(request, reply, texts, route.streams, { gone: gone(), authenticate });
      }
      if (answer.replayed === true) reply.header('idempotent-replayed', 'true');
      return answer.body;
    },
  });
}

import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Actor, actorOf } from '../kernel/actor.ts';
import { invalidField, Problem, type ProblemSlug, pointerPart } from '../kernel/problem.ts';
import type { Caller, Route } from '../kernel/route.ts';
import type { Connection, ForwardedFor, SourceOf } from '../kernel/source-address.ts';
import { requireStepUp } from '../kernel/step-up.ts';
import { LIMITS } from '../limits.ts';
import { pointsOf, pointsOfAnswer } from './costs.ts';
import { refuseUnstorable } from './json.ts';
import { problemBody, problemFrom } from './problems.ts';
import { applyIdempotencyKey } from './strict-headers.ts';
import type { Turn, Turns } from './turns.ts';
import { type ClientUse, type RequestKind, rateLimitOf, type Usage } from './usage.ts';

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
 * Query parameters are strings. Only where the schema has a list, an integer or a boolean is the string converted; types are
 * never guessed. A value that cannot be converted stays as it is, so that the validation names it.
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
      if (type === 'boolean' && (value === 'true' || value === 'false')) return [name, value === 'true'];
      return [name, value];
    }),
  );
  refuseUnstorable(read, '/query');
  return read;
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
  /** The person whose session a cookie carries; undefined if there is no such cookie. Throws a problem. */
  signedIn?(request: IncomingMessage): Promise<Caller | undefined>;
};

/** A token counts before a cookie. */
async function callerOf({ authenticate, signedIn }: Authentication, raw: IncomingMessage): Promise<Caller> {
  const { authorization, cookie, 'x-forwarded-for': forwardedFor } = raw.headers;
  const person = authorization === undefined && cookie !== undefined ? await signedIn?.(raw) : undefined;
  return person ?? authenticate(authorization, raw.socket, forwardedFor);
}

/** Aborted when the connection closes. */
function disconnectController(reply: FastifyReply): AbortController {
  const controller = new AbortController();
  if (reply.raw.closed) controller.abort();
  else reply.raw.once('close', () => controller.abort());
  return controller;
}

/** Sends texts as they come. The caller is authenticated at an interval: a token may expire, a session may be revoked. */
function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  texts: AsyncIterable<string>,
  type: string,
  options: { disconnected: AbortController; authentication: Authentication },
): FastifyReply {
  const { disconnected, authentication } = options;
  const timer = setInterval(() => {
    callerOf(authentication, request.raw).catch(() => disconnected.abort());
  }, LIMITS.streamAuthenticateMs);
  timer.unref();
  disconnected.signal.addEventListener('abort', () => clearInterval(timer));
  return reply.type(type).header('x-accel-buffering', 'no').send(Readable.from(texts));
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** The read of a request, from its turn to its answer. */
export type Reading = { client: ClientUse; points: number; turn: Turn };

/** Gives the place back while it waits. */
async function rest<Result>(turns: Turns, reading: Reading, wait: Promise<Result>): Promise<Result> {
  reading.turn.end();
  const result = await wait;
  await new Promise<void>((resolve, reject) => {
    const start: Start = (error) => (error === undefined ? resolve() : reject(error));
    reading.turn = turns.take(reading.client.customer.id, 1, start);
    if (!reading.turn.isWaiting()) start();
  });
  return result;
}

/** Pages are texts; most of them cost less than they could have. */
function endReading(usage: Usage, { client, points, turn }: Reading, body: unknown): void {
  turn.end();
  if (typeof body === 'string') usage.giveBack(client, points, pointsOfAnswer(body.length));
}

/** What the audit log shows of a request that changes something: the caller, where it comes from, and its id. */
function actingCaller(request: FastifyRequest, sourceOf: SourceOf): Caller {
  const { customerId, clientId, kind, name, ownerPersonId, scopes, integration, pointsPerSecond, person } =
    request.caller!;
  const from = sourceOf(request.raw.socket, request.headers['x-forwarded-for']);
  const requestId = request.id;
  return {
    customerId,
    clientId,
    kind,
    name,
    ownerPersonId,
    from,
    requestId,
    scopes,
    integration,
    pointsPerSecond,
    person,
  };
}

/** Problems that mean that the caller may not do it, or not now. */
const isRefusal = (error: unknown): error is Problem =>
  error instanceof Problem && (error.status === 403 || error.status === 409);

/** Records an attempt at a privileged action that was refused. */
function noteRefusal(
  { privileged }: Route,
  { sourceOf, refused }: Entrance,
  request: FastifyRequest,
  error: unknown,
): void {
  if (privileged === undefined || refused === undefined || !isRefusal(error)) return;
  const { id: resourceId } = (request.params ?? {}) as { readonly id?: string };
  const actor = actorOf(actingCaller(request, sourceOf));
  refused({ actor, action: privileged.action, problem: error, resourceId });
}

function createHandler(route: Route, entrance: Entrance) {
  const { usage, turns, sourceOf } = entrance;
  const isRead = route.method === 'GET';
  return (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    // Created only if a handler needs it: most requests never wait.
    let disconnected: AbortController | undefined;
    const { reading } = request;
    const answered = route.handle({
      caller: isRead ? request.caller! : actingCaller(request, sourceOf),
      body: request.body,
      query: request.query,
      params: request.params,
      signal() {
        disconnected ??= disconnectController(reply);
        return disconnected.signal;
      },
      rest: (wait) => (reading === undefined ? wait : rest(turns, reading, wait)),
      problemText(error) {
        const problem = problemFrom(error);
        if (problem.slug === 'internal')
          request.log.error({ err: error, request_id: request.id }, 'a part of a request failed');
        return JSON.stringify(problemBody(problem, entrance.publicUrl()));
      },
      header(name) {
        const value = request.headers[name];
        return typeof value === 'string' ? value : undefined;
      },
    });
    if (route.privileged !== undefined)
      answered.catch((error: unknown) => noteRefusal(route, entrance, request, error));
    return answered.then(({ body, replayed, mediaType, status }) => {
      if (reading !== undefined) endReading(usage, reading, body);
      if (route.streams !== undefined) {
        const texts = body as AsyncIterable<string>;
        const type = mediaType ?? route.streams[0];
        disconnected ??= disconnectController(reply);
        return sendStream(request, reply, texts, type, { disconnected, authentication: entrance });
      }
      if (status !== undefined) reply.code(status);
      if (replayed === true) reply.header('idempotent-replayed', 'true');
      if (typeof body === 'string') reply.header('content-type', JSON_TYPE);
      return body;
    });
  };
}

type Start = (error?: Error) => void;

/** A route, and its path in the router's form. */
export type Operation = { readonly route: Route; readonly url: string };

/** Where requests of operations come in. */
export type Entrance = Authentication & {
  readonly usage: Usage;
  readonly turns: Turns;
  readonly sourceOf: SourceOf;
  /** Told of refused attempts at privileged actions. */
  readonly refused?: RecordRefusal | undefined;
  publicUrl(): string;
};

export type RecordRefusal = (refusal: {
  readonly actor: Actor;
  readonly action: string;
  readonly problem: Problem;
  readonly resourceId?: string | undefined;
}) => void;

/**
 * Checks the scopes of the caller and its rate. Returns whether the request may start now: a read that has to wait for its
 * turn is started by a call of `start`. Writes have their own queue, the write path.
 */
function createEnter(route: Route, entrance: Entrance) {
  const { usage, turns } = entrance;
  const kind: RequestKind = route.method === 'GET' ? 'read' : 'write';
  const cost = pointsOf(route);
  return (request: FastifyRequest, reply: FastifyReply, caller: Caller, start: Start): boolean => {
    request.caller = caller;
    try {
      if (route.scope !== null) requireScope(caller, route.scope);
      if (route.alsoScope !== undefined) requireScope(caller, route.alsoScope);
      if (route.stepUpMs !== undefined) requireStepUp(caller, route.stepUpMs);
    } catch (error) {
      noteRefusal(route, entrance, request, error);
      throw error;
    }
    const points = cost(request);
    const client = usage.enter(caller, kind, points, reply.raw);
    // An answer belongs to whoever has the token: no cache may keep it.
    reply.header('cache-control', 'no-store');
    reply.header('ratelimit-policy', client.policy);
    reply.header('ratelimit', rateLimitOf(client));
    // A connection that is closed already would not give its place back.
    if (kind === 'write' || reply.raw.closed) return true;
    const reading: Reading = { client, points, turn: turns.take(client.customer.id, points, start) };
    request.reading = reading;
    reply.raw.once('close', () => reading.turn.end());
    return !reading.turn.isWaiting();
  };
}

/** For operations whose body counts as several requests: once its shape is known to be right. */
function createCount(route: Route, { usage }: Entrance) {
  const { countsAs } = route;
  const cost = pointsOf(route);
  if (countsAs === undefined) return {};
  return {
    preHandler(request: FastifyRequest, reply: FastifyReply, done: () => void) {
      const count = countsAs(request.body);
      const client = usage.countAs(request.caller!, 'write', count, cost(request), reply.raw);
      reply.header('ratelimit', rateLimitOf(client));
      done();
    },
  };
}

/** A list that is far too long: each of its items would be looked at, and has errors of its own. */
function refuseLongLists(body: unknown, { properties = {} }: BodySchema): void {
  if (body === null || typeof body !== 'object') return;
  for (const [name, value] of Object.entries(body)) {
    const { maxItems } = (properties[name] ?? {}) as { maxItems?: number };
    if (Array.isArray(value) && maxItems !== undefined && value.length > maxItems)
      throw invalidField(`/${pointerPart(name)}`, `must have at most ${maxItems} items`);
  }
}

/** Registers an operation: token, scope and rate are checked first, then the shape of the request, then it is handled. */
export function registerRoute(app: FastifyInstance, route: Route, entrance: Entrance): void {
  const enter = createEnter(route, entrance);
  const { query } = route;
  const body: BodySchema | undefined = route.body;
  const hasRefId = 'ref_id' in (body?.properties ?? {});
  const hasLongLists = route.countsAs !== undefined;
  const operation: Operation = { route, url: routerPath(route.path) };
  app.route({
    method: route.method,
    url: operation.url,
    ...(route.bodyBytesMax !== undefined && { bodyLimit: route.bodyBytesMax }),
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
      const known = entrance.recall?.(authorization, socket, forwardedFor);
      if (known !== undefined) {
        if (enter(request, reply, known, done)) done();
        return undefined;
      }
      return callerOf(entrance, request.raw).then(
        (caller) =>
          new Promise<void>((resolve, reject) => {
            const start: Start = (error) => (error === undefined ? resolve() : reject(error));
            if (enter(request, reply, caller, start)) start();
          }),
      );
    },
    ...createCount(route, entrance),
    ...(query === undefined && !hasRefId && !hasLongLists
      ? {}
      : {
          preValidation(request: FastifyRequest, _reply: FastifyReply, done: () => void) {
            if (query !== undefined)
              request.query = readQuery(request.query as Record<string, unknown>, query);
            if (hasRefId) applyIdempotencyKey(request);
            if (hasLongLists) refuseLongLists(request.body, body!);
            done();
          },
        }),
    handler: createHandler(route, entrance),
  });
}

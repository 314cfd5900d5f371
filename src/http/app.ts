import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { createPatience, type Patience } from '../kernel/patience.ts';
import { invalidField, invalidRequest, type Problem, unavailable } from '../kernel/problem.ts';
import type { Caller, Route } from '../kernel/route.ts';
import { createSourceOf, type SourceOf, sourceKey } from '../kernel/source-address.ts';
import { LIMITS } from '../limits.ts';
import { faultsOf } from './faults.ts';
import { readBody, readNoBody } from './json.ts';
import { createPaths, type Paths } from './paths.ts';
import { problemFrom, sendProblem } from './problems.ts';
import { requestId } from './request-id.ts';
import {
  type Authentication,
  type Operation,
  type Reading,
  type RecordRefusal,
  registerRoute,
} from './routes.ts';
import { compilersFactory } from './schemas.ts';
import { headersFault } from './strict-headers.ts';
import { createTurns, type Turns } from './turns.ts';
import { createUsage, type Usage } from './usage.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined for requests that are not operations: health, tokens, documentation. */
    operation: Operation | undefined;
    /** Set once the token is verified. */
    caller: Caller | undefined;
    /** Set for reads, once they wait for their turn. */
    reading: Reading | undefined;
    /** The path in the form of the router, of a request with a method that the path does not support. */
    knownPath: string | undefined;
  }
}

export type AppOptions = {
  readonly routes: readonly Route[];
  readonly logger: Logger;
  /** Base of every absolute URL; final only once the server listens. */
  publicUrl(): string;
  /** The caller, from the Authorization header. Throws a problem. */
  authenticate: Authentication['authenticate'];
  /** The same, synchronously, if the last request of the connection had the same header. */
  recall?: NonNullable<Authentication['recall']>;
  /** The person whose session a cookie carries. */
  signedIn?: NonNullable<Authentication['signedIn']>;
  /** Rate limits and turns of this node; new ones unless given. */
  readonly usage?: Usage;
  readonly turns?: Turns;
  readonly patience?: Patience;
  /** The address that a request comes from; without it, all callers without a valid token count as one. */
  readonly sourceOf?: SourceOf;
  /** Told of refused attempts at privileged actions. */
  readonly refused?: RecordRefusal;
  /** Endpoints that are not operations: health, metrics, tokens, documentation. */
  readonly extensions: readonly ((app: FastifyInstance) => Promise<void> | void)[];
  /** Gets the paths of all routes; new ones unless given. */
  readonly paths?: Paths;
  /** Creates the server; a plain one unless given. */
  readonly serverFactory?: FastifyServerFactory;
  /** Why operations cannot be executed now, as a sentence; undefined if they can. */
  refusal?(): string | undefined;
  observe?(route: string, method: string, status: number, seconds: number): void;
};

/** The framework, without defaults that are unsafe for amounts of money. */
function createFastify({ logger, publicUrl, serverFactory }: AppOptions): FastifyInstance {
  return Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: LIMITS.requestBodyBytesMax,
    requestTimeout: LIMITS.requestArrivalMs,
    http: {
      headersTimeout: LIMITS.requestHeadersMs,
      connectionsCheckingInterval: 1_000,
      // Checked with the other headers, so that its absence gets a problem instead of an empty answer.
      requireHostHeader: false,
    },
    // The server of the factory answers what is not HTTP.
    ...(serverFactory && { serverFactory, clientErrorHandler: () => undefined }),
    // A child logger for each request costs 3 µs, and hardly any request logs. Log calls name the request themselves.
    childLoggerFactory: (shared) => shared,
    genReqId: (request) => requestId(request.headers['x-request-id']),
    // Defaults would coerce 12345678901234567890 to "12345678901234567000" and answer 200.
    ajv: {
      customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: true },
    },
    schemaController: { compilersFactory },
    routerOptions: { maxParamLength: 200 },
    // A path that the router rejects (a broken escape, an id of 300 characters) gets a problem like any other request.
    frameworkErrors(_error, request, reply) {
      reply.header('x-request-id', request.id);
      const problem = invalidField('/path', 'is not a valid URL path');
      void sendProblem(reply as unknown as FastifyReply, problem, publicUrl());
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  }) as unknown as FastifyInstance;
}

/** Answers are data, never pages: a browser must not guess their type, frame them or run anything in them. */
const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

/** `/v2/profiles/` is not the profile with an empty id, and `/v2/policies/dry-run` not the policy with that id. */
function hasWrongPart({ params, url }: FastifyRequest, paths: Paths): boolean {
  let hasParameters = false;
  for (const name in params as Record<string, unknown>) {
    if ((params as Record<string, unknown>)[name] === '') return true;
    hasParameters = true;
  }
  return hasParameters && paths.isFixed(url);
}

/** Methods that the metrics tell apart: any client can send others. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'QUERY']);

function observeWith(observe: NonNullable<AppOptions['observe']>) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const url = request.operation?.url ?? request.routeOptions.url ?? request.knownPath ?? 'unknown';
    const method = METHODS.has(request.method) ? request.method : 'other';
    observe(url, method, reply.statusCode, reply.elapsedTime / 1000);
    done();
  };
}

function addHooks(app: FastifyInstance, options: AppOptions, paths: Paths): void {
  app.decorateRequest('operation', undefined);
  app.decorateRequest('caller', undefined);
  app.decorateRequest('reading', undefined);
  app.decorateRequest('knownPath', undefined);
  // Hooks use callbacks instead of promises: each promise costs a request about half a microsecond.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    reply.headers(SECURITY_HEADERS);
    const fault = headersFault(request.raw);
    if (fault !== undefined) return done(fault);
    if (request.is404 || hasWrongPart(request, paths)) {
      request.knownPath = request.is404 ? paths.find(request.url) : undefined;
      // Before the body is read.
      return done(paths.refuse(request.method, request.url));
    }
    const refusal = options.refusal?.();
    // Health, metrics and the documentation are still answered. The path of the route: that of the request can be escaped.
    if (refusal !== undefined && /^\/(v2|oauth2)\//.test(request.routeOptions.url ?? ''))
      done(unavailable(`${refusal} Nothing was executed; retry with the same ref_id.`));
    else done();
  });
  if (options.observe !== undefined) app.addHook('onResponse', observeWith(options.observe));
}

/** Bodies are parsed by `readJson`; a request with another content type gets a 415. */
function addBodyParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request: FastifyRequest, body: Buffer, done: (error: Error | null, body?: unknown) => void) => {
      const { operation } = request;
      const isEmpty = operation !== undefined && operation.route.body === undefined;
      done(null, isEmpty ? readNoBody(body) : readBody(body));
    },
  );
}

function addErrorHandlers(app: FastifyInstance, options: AppOptions): void {
  const { sourceOf, patience = createPatience() } = options;
  const delayMs = (request: FastifyRequest, { slug }: Problem): number => {
    if (slug !== 'rate-limited' && slug !== 'unauthenticated') return 0;
    const address = (): string =>
      sourceKey(sourceOf?.(request.raw.socket, request.headers['x-forwarded-for']));
    return patience.delayMs(request.caller?.clientId ?? address(), performance.now());
  };
  app.setErrorHandler((error, request, reply) => {
    const isMisshapen = (error as FastifyError).validation !== undefined;
    const problem = isMisshapen
      ? invalidRequest(faultsOf(request))
      : problemFrom(error, request.operation?.route.bodyBytesMax);
    if (problem.slug === 'internal')
      request.log.error({ err: error, request_id: request.id }, 'request failed');
    // The rest of the body is read and discarded: a connection closed before that is reset, and the answer can be lost.
    const declaredBytes = Number(request.headers['content-length']);
    if (problem.slug === 'payload-too-large' && declaredBytes <= LIMITS.discardedBodyBytesMax)
      reply.removeHeader('connection');
    const laterMs = delayMs(request, problem);
    if (laterMs === 0) return sendProblem(reply, problem, options.publicUrl());
    setTimeout(() => void sendProblem(reply, problem, options.publicUrl()), laterMs);
    return reply;
  });
}

export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { paths = createPaths({ hasDocs: false }) } = options;
  const app = createFastify(options);
  addHooks(app, options, paths);
  addBodyParser(app);
  addErrorHandlers(app, options);
  app.addHook('onRoute', ({ url, method }) => paths.add(url, [method].flat()));
  for (const extension of options.extensions) await extension(app);
  const entrance = {
    ...options,
    usage: options.usage ?? createUsage(),
    turns: options.turns ?? createTurns(),
    sourceOf: options.sourceOf ?? createSourceOf(),
  };
  for (const route of options.routes) registerRoute(app, route, entrance);
  return app;
}

import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { newId } from '../kernel/id.ts';
import { invalidField, Problem } from '../kernel/problem.ts';
import type { Caller, Route } from '../kernel/route.ts';
import { LIMITS } from '../limits.ts';
import { readJson, readNoBody } from './json.ts';
import { answerMethodNotAllowed, problemFrom, sendProblem } from './problems.ts';
import { registerRoute } from './routes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined;
  }
}

export type AppOptions = {
  readonly routes: readonly Route[];
  readonly logger: Logger;
  /** Base of every absolute address; known for certain only once the service listens. */
  publicUrl(): string;
  /** Who is calling, or a problem: from the Authorization header. */
  authenticate(authorization: string | undefined): Promise<Caller>;
  /** Pages and endpoints outside the operations: health, metrics, tokens, documentation. */
  readonly extensions: readonly ((app: FastifyInstance) => Promise<void> | void)[];
  observe?(route: string, method: string, status: number, seconds: number): void;
};

const REQUEST_ID = /^[\x21-\x7e]+$/;

function requestId(header: unknown): string {
  const sane =
    typeof header === 'string' && header.length <= LIMITS.requestIdLengthMax && REQUEST_ID.test(header);
  return sane ? header : newId();
}

export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: LIMITS.requestBodyBytesMax,
    genReqId: (request) => requestId(request.headers['x-request-id']),
    // Defaults would coerce 12345678901234567890 to "12345678901234567000" and answer 200.
    ajv: {
      customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: true },
    },
    routerOptions: { maxParamLength: 200 },
    // What the router itself refuses (a broken escape, an id of 300 characters) is a problem like any other.
    frameworkErrors(_error, request, reply) {
      reply.header('x-request-id', request.id);
      const problem = invalidField('/path', 'is not a valid address');
      void sendProblem(reply as unknown as FastifyReply, problem, options.publicUrl());
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  }) as unknown as FastifyInstance;

  app.decorateRequest('caller', undefined);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  if (options.observe !== undefined) {
    const observe = options.observe;
    app.addHook('onResponse', async (request, reply) => {
      observe(
        request.routeOptions.url ?? 'unknown',
        request.method,
        reply.statusCode,
        reply.elapsedTime / 1000,
      );
    });
  }
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      const { route } = request.routeOptions.config as { route?: Route };
      return route !== undefined && route.body === undefined ? readNoBody(body) : readJson(body);
    },
  );
  app.setErrorHandler((error, request, reply) => {
    const problem = problemFrom(error);
    if (problem.slug === 'internal')
      request.log.error({ err: error, request_id: request.id }, 'request failed');
    return sendProblem(reply, problem, options.publicUrl());
  });
  app.setNotFoundHandler((request, reply) =>
    sendProblem(
      reply,
      new Problem('not-found', `There is no ${request.method} ${request.url.split('?', 1)[0]} here.`, {
        resource: 'path',
        id: request.url.split('?', 1)[0],
      }),
      options.publicUrl(),
    ),
  );

  const methodsByUrl = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByUrl.get(url) ?? new Set();
    for (const one of Array.isArray(method) ? method : [method]) methods.add(one);
    methodsByUrl.set(url, methods);
  });
  for (const extension of options.extensions) await extension(app);
  for (const route of options.routes) registerRoute(app, route, options.authenticate);
  answerMethodNotAllowed(app, methodsByUrl, () => options.publicUrl());
  return app;
}

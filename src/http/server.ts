import { createServer, type Server } from 'node:http';
import type { FastifyInstance, FastifyServerFactory } from 'fastify';
import type { Worker } from '../kernel/worker.ts';
import { LIMITS } from '../limits.ts';
import type { Admission } from './admission.ts';
import { type ConnectionOptions, createConnections } from './connections.ts';
import { createShortcut } from './shortcut.ts';

/** Listens on an address and serves the app that is attached to it, until it is stopped. */
export type HttpServer = Worker & {
  /** Creates the server of the app, with bounds on what clients can cost. */
  readonly factory: FastifyServerFactory;
  attach(app: FastifyInstance): void;
  /** Base URL, without a slash at the end. The port is final only once the server listens. */
  url(): string;
};

export type HttpServerOptions = {
  readonly host: string;
  readonly port: number;
  readonly connectionsPerSource?: number;
};

type Handler = Parameters<FastifyServerFactory>[0];

function createFactory(admission: Admission | undefined, bounds: Partial<ConnectionOptions>) {
  let handler: Handler | undefined;
  const connections = createConnections(
    (request, response) => {
      if (admission === undefined) handler!(request, response);
      else admission.admit(request, response, handler!);
    },
    { ...LIMITS, ...bounds },
  );
  if (admission !== undefined) {
    const { isIdle, monitor } = connections;
    const { isShedding, refusalOf } = admission;
    admission.onRefused(createShortcut({ isIdle, monitor, isShedding, refusalOf }).install);
  }
  // Called again for each further address, if the host is a name with several of them: always with the same handler.
  const factory: FastifyServerFactory = (handles, options) => {
    handler = handles;
    const { http, keepAliveTimeout, requestTimeout } = options as {
      http: object;
      keepAliveTimeout: number;
      requestTimeout: number;
    };
    const server: Server = createServer({ ...http, keepAliveTimeout, requestTimeout }, connections.take);
    connections.watch(server);
    return server;
  };
  return { factory, connections };
}

/** Without an admission, no request is refused because of overload. */
export function createHttpServer(
  { host, port, connectionsPerSource = LIMITS.sourceConnectionsMax }: HttpServerOptions,
  admission?: Admission,
  bounds: Partial<ConnectionOptions> = {},
): HttpServer {
  const { factory, connections } = createFactory(admission, {
    sourceConnectionsMax: connectionsPerSource,
    ...bounds,
  });
  let app: FastifyInstance | undefined;
  return {
    name: 'HTTP server',
    stage: 'edge',
    factory,
    attach(attached) {
      app = attached;
    },
    url() {
      const address = app?.server.address();
      const actual = address != null && typeof address === 'object' ? address.port : port;
      return `http://${host.includes(':') ? `[${host}]` : host}:${actual}`;
    },
    async start() {
      admission?.start();
      await app?.listen({ host, port });
    },
    async stop() {
      if (app === undefined) return;
      const { server } = app;
      // Requests in flight are finished, within a time limit: slow clients are disconnected.
      const cut = setTimeout(() => server.closeAllConnections(), LIMITS.requestsFinishMs);
      await connections.closeDuring(app.close());
      clearTimeout(cut);
      admission?.stop();
    },
  };
}

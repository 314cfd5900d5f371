import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyServerFactory } from 'fastify';
import type { Worker } from '../kernel/worker.ts';
import { LIMITS } from '../limits.ts';
import type { Admission } from './admission.ts';
import type { BrokenHttp, ParserError } from './broken-http.ts';
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

function createFactory(
  admission: Admission | undefined,
  bounds: Partial<ConnectionOptions>,
  broken: BrokenHttp,
) {
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
    server.on('clientError', (error: ParserError, duplex) => {
      const socket = duplex as Socket;
      if (error.code !== 'ECONNRESET')
        connections.reject(socket, (inside) => broken.answer(error, socket, inside));
    });
    server.on('connect', (request, socket) =>
      connections.reject(socket as Socket, () => broken.connect(request)),
    );
    // RFC 9110 section 10.1.1: an expectation that is not known may be ignored. The default is an empty answer.
    server.on('checkExpectation', connections.take);
    return server;
  };
  return { factory, connections };
}

/** Without an admission, no request is refused because of overload. */
export function createHttpServer(
  { host, port, connectionsPerSource = LIMITS.sourceConnectionsMax }: HttpServerOptions,
  broken: BrokenHttp,
  admission?: Admission,
  bounds: Partial<ConnectionOptions> = {},
): HttpServer {
  let app: FastifyInstance | undefined;
  const url = (): string => {
    const address = app?.server.address();
    const actual = address != null && typeof address === 'object' ? address.port : port;
    return `http://${host.includes(':') ? `[${host}]` : host}:${actual}`;
  };
  const { factory, connections } = createFactory(
    admission,
    { sourceConnectionsMax: connectionsPerSource, ...bounds },
    broken,
  );
  return {
    name: 'HTTP server',
    stage: 'edge',
    factory,
    attach(attached) {
      app = attached;
    },
    url,
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

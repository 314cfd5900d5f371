import type { FastifyInstance } from 'fastify';
import type { Worker } from '../kernel/worker.ts';
import { LIMITS } from '../limits.ts';
import { idleConnections } from './connections.ts';

/** Listens on an address and serves the app that is attached to it, until it is stopped. */
export type HttpServer = Worker & {
  attach(app: FastifyInstance): void;
  /** Base URL, without a slash at the end. The port is final only once the server listens. */
  url(): string;
};

export function createHttpServer({ host, port }: { host: string; port: number }): HttpServer {
  let attached: { app: FastifyInstance; connections: ReturnType<typeof idleConnections> } | undefined;
  return {
    name: 'HTTP server',
    stage: 'edge',
    attach(app) {
      attached = { app, connections: idleConnections(app.server) };
    },
    url() {
      const address = attached?.app.server.address();
      const actual = address != null && typeof address === 'object' ? address.port : port;
      return `http://${host.includes(':') ? `[${host}]` : host}:${actual}`;
    },
    async start() {
      await attached?.app.listen({ host, port });
    },
    async stop() {
      if (attached === undefined) return;
      const { app, connections } = attached;
      // Requests in flight are finished, within a time limit: slow clients are disconnected.
      const cut = setTimeout(() => app.server.closeAllConnections(), LIMITS.requestsFinishMs);
      await connections.closeDuring(app.close());
      clearTimeout(cut);
    },
  };
}

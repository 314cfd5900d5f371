import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** While the service stops: how soon a connection is closed after its last response. */
const SWEEP_MS = 50;

/**
 * A server that closes waits for every connection. It closes idle connections only once, when it begins to close, and
 * connections without any request so far, as browsers and HTTP clients open them in advance, only after a minute. This
 * closes both kinds at an interval, until the work has ended.
 */
export function idleConnections(server: Server): {
  closeDuring<Result>(work: Promise<Result>): Promise<Result>;
} {
  const unused = new Set<Socket>();
  server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }) => unused.delete(socket));
  return {
    async closeDuring(work) {
      const sweep = setInterval(() => {
        server.closeIdleConnections();
        for (const socket of unused) socket.destroy();
      }, SWEEP_MS);
      try {
        return await work;
      } finally {
        clearInterval(sweep);
      }
    },
  };
}

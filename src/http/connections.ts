import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** While the service stops: how soon a connection is closed once its last answer is out. */
const SWEEP_MS = 50;

/**
 * A server that closes waits for every connection. It closes those that have been used and are idle only once, and
 * those over which no request has come yet, as browsers and HTTP clients open them in advance, after a minute. So both
 * kinds are closed here, again and again, until the work is done.
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

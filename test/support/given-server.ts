import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server } from './administer.ts';

/** Several test files with several nodes each are connected at once. */
export const CONNECTIONS_MIN = 300;

function upstreamOf(url: URL): NetConnectOpts {
  const port = Number(url.port || '5432');
  const host = decodeURIComponent(url.searchParams.get('host') ?? url.hostname) || 'localhost';
  return host.startsWith('/') ? { path: join(host, `.s.PGSQL.${port}`) } : { host, port };
}

/**
 * The server of FERRY_TEST_DATABASE_URL, on a unix socket like the embedded one: tests put proxies before the socket, move it, and make
 * URLs of it. Everything is passed on as it is. The password, if there is one, is in PGPASSWORD, which the driver and the processes of
 * tests use.
 */
export async function forwardTo(text: string): Promise<Server & { stop(): Promise<void> }> {
  const url = new URL(text);
  const upstream = upstreamOf(url);
  if (url.password !== '') process.env.PGPASSWORD = decodeURIComponent(url.password);
  const socketDir = await mkdtemp(join(tmpdir(), 'ferry-test-'));
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const forwarded = connect({ ...upstream, allowHalfOpen: true });
    const pair = [client, forwarded] as const;
    for (const [socket, other] of [pair, pair.toReversed() as [Socket, Socket]]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => sockets.delete(socket));
      // Ends the other side after what it has sent: the last statement before an end arrives.
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(join(socketDir, '.s.PGSQL.5432'), resolve));
  return {
    socketDir,
    port: 5432,
    user: decodeURIComponent(url.username) || 'postgres',
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
      await rm(socketDir, { recursive: true, force: true });
    },
  };
}

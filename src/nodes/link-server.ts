import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { Vault } from '../kernel/vault.ts';
import type { Ended } from '../ledger/write-path.ts';
import { LIMITS } from '../limits.ts';
import { createLineWriter, readLines } from './lines.ts';
import { DECLINED, replyOf } from './replies.ts';
import { serverTls } from './tls.ts';

/** Where the other nodes hand commands over to this one. */
export type LinkServer = {
  /** Resolves with the port. */
  listen(): Promise<number>;
  close(): Promise<void>;
};

type Dependencies = {
  readonly vault: Vault;
  readonly host: string;
  readonly port: number;
  /** Undefined: this node does not decide. */
  execute(text: string): Promise<Ended<string>> | undefined;
};

/** A message is `<number> <text>`, the reply to it `<number> <reply>`. An empty line asks for a sign of life, and is answered by one. */
function serveOn(socket: TLSSocket, execute: Dependencies['execute']): void {
  const write = createLineWriter(socket);
  socket.setNoDelay(true);
  readLines(socket, (line) => {
    if (line === '') {
      write('');
      return;
    }
    const space = line.indexOf(' ');
    const number = line.slice(0, space);
    const executed = execute(line.slice(space + 1));
    if (executed === undefined) write(`${number} ${DECLINED}`);
    else void executed.then((ended) => write(`${number} ${replyOf(ended)}`));
  });
}

export function createLinkServer({ vault, host, port, execute }: Dependencies): LinkServer {
  const sockets = new Set<TLSSocket>();
  const server = createServer({ ...serverTls(vault), handshakeTimeout: LIMITS.nodeLinkOpenMs }, (socket) => {
    if (sockets.size >= LIMITS.nodeLinksMax) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // The close that follows is enough.
    socket.on('error', () => undefined);
    serveOn(socket, execute);
  });
  // Strangers, and nodes of other releases. A connection that does not end its handshake is closed.
  server.maxConnections = 2 * LIMITS.nodeLinksMax;
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host, port }, () => {
          server.off('error', reject).on('error', () => undefined);
          resolve((server.address() as AddressInfo).port);
        });
      }),
    async close() {
      if (!server.listening) return;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

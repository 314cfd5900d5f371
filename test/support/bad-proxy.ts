import { once } from 'node:events';
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A proxy that loses answers: a request reaches the service, and what the service answered may never reach the client. */
export type BadProxy = {
  readonly url: string;
  /** The service behind it, which may move when it is restarted. */
  target: string;
  /** How often each kind of failure happened. */
  readonly failures: Record<'cut off' | 'refused' | 'unreachable', number>;
  close(): Promise<void>;
};

/** Of four answers to operations two arrive, one is cut off in the middle, and for one the proxy answers 503 itself. */
export async function startBadProxy(target: string): Promise<BadProxy> {
  const failures = { 'cut off': 0, refused: 0, unreachable: 0 };
  let count = 0;
  const proxy = { target };

  async function ask(incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const { method = 'GET', url = '/', headers } = incoming;
    const outgoing = forward(proxy.target + url, { method, headers, agent: false });
    outgoing.end(body);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return answer;
  }

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const turn = incoming.url?.startsWith('/v2/') === true ? count++ % 4 : 0;
    if (turn === 3) {
      failures.refused += 1;
      outgoing.writeHead(503, { 'retry-after': '0' }).end('<html>no upstream</html>');
      return;
    }
    try {
      const answer = await ask(incoming, body);
      const text = await buffer(answer);
      outgoing.writeHead(answer.statusCode!, answer.headers);
      if (turn !== 1) {
        outgoing.end(text);
        return;
      }
      failures['cut off'] += 1;
      outgoing.write(text.subarray(0, text.length / 2), () => outgoing.destroy());
    } catch {
      failures.unreachable += 1;
      outgoing.destroy();
    }
  }

  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(proxy, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failures,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  });
}

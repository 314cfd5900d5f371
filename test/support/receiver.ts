import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Hit = {
  readonly id: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: any;
  readonly atMs: number;
};

export type Behaviour = (hit: Hit, response: ServerResponse) => void;

export const OK: Behaviour = (_, response) => void response.end('thanks');

/** A real HTTP receiver on its own port, whose behaviour the test sets. */
export type Receiver = {
  readonly url: string;
  readonly hits: Hit[];
  connections(): number;
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
};

export async function startReceiver(behaviour: Behaviour = OK): Promise<Receiver> {
  const hits: Hit[] = [];
  let behave = behaviour;
  let connections = 0;
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const id = String(request.headers['webhook-id']);
      const hit = {
        id,
        path: request.url ?? '',
        headers: request.headers,
        text,
        body: JSON.parse(text),
        atMs: performance.now(),
      };
      hits.push(hit);
      behave(hit, response);
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    hits,
    connections: () => connections,
    behave(next) {
      behave = next;
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

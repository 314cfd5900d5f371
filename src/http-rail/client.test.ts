import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { newSecret } from '../webhooks/secrets.ts';
import { type AdapterClient, createAdapterClient } from './client.ts';

/** What became of a request, by what happens to its connection. */
const servers: { close(): void; closeAllConnections?(): void }[] = [];
const clients: AdapterClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections?.();
    server.close();
  }
});

async function portOf(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', () => done()));
  return (server.address() as AddressInfo).port;
}

const serve = async (listener: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await portOf(createServer(listener))}`;

function clientOf(url: string, timeoutMs = 60_000): AdapterClient {
  const client = createAdapterClient({ url, secrets: [newSecret()], timeoutMs, nowMs: () => Date.now() });
  clients.push(client);
  return client;
}

const PUT = { method: 'PUT', path: '/payments/k', body: { b: 1, a: [{ d: 2, c: 3 }] } } as const;
const signal = new AbortController().signal;

describe('a request', () => {
  it('always has the same bytes, and the path of the URL', async () => {
    const seen: string[] = [];
    const url = await serve((request, response) => {
      request.on('data', (chunk) => seen.push(`${request.method} ${request.url} ${String(chunk)}`));
      request.on('end', () => response.end('{"x": 1}'));
    });
    const reply = await clientOf(`${url}/base/`).call(PUT, signal);
    expect(reply).toMatchObject({ kind: 'answered', status: 200, body: { x: 1 }, isSecond: false });
    expect(seen).toEqual(['PUT /base/payments/k {"a":[{"c":3,"d":2}],"b":1}']);
  });

  it('was not sent if nobody listens', async () => {
    expect(await clientOf('http://127.0.0.1:1').call(PUT, signal)).toMatchObject({ kind: 'not-sent' });
  });

  it('was not sent if the name has no address', async () => {
    expect(await clientOf('http://adapter.invalid').call(PUT, signal)).toMatchObject({ kind: 'not-sent' });
  });

  it('was not sent if the TLS handshake fails: nothing but the handshake is on the wire', async () => {
    let received = '';
    const tcp = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
        socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      });
    });
    const reply = await clientOf(`https://127.0.0.1:${await portOf(tcp)}`).call(PUT, signal);
    expect(reply).toMatchObject({ kind: 'not-sent' });
    expect(received).not.toContain('payments');
  });

  it('may have arrived if the connection closes without an answer', async () => {
    const url = await serve((request) => void request.socket.destroy());
    expect(await clientOf(url).call(PUT, signal)).toMatchObject({ kind: 'no-answer' });
  });

  it('may have arrived if there is no answer in time', async () => {
    const url = await serve(() => undefined);
    const reply = await clientOf(url, 200).call(PUT, signal);
    expect(reply).toEqual({ kind: 'no-answer', reason: 'no answer within 200 ms' });
  });

  it('has no answer if the answer is cut off, or larger than an answer can be', async () => {
    const cut = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"status"', () => response.destroy());
    });
    expect(await clientOf(cut).call(PUT, signal)).toMatchObject({ kind: 'no-answer' });
    const large = await serve((_request, response) => void response.end(`"${'x'.repeat(70_000)}"`));
    expect(await clientOf(large).call(PUT, signal)).toEqual({
      kind: 'no-answer',
      reason: 'the answer has more than 65536 bytes',
    });
  });

  it('is not sent if the caller has given up, and fails with the reason if the caller gives up', async () => {
    let requests = 0;
    const url = await serve(() => {
      requests += 1;
    });
    const client = clientOf(url);
    await expect(client.call(PUT, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
    expect(requests).toBe(0);
    const controller = new AbortController();
    const call = client.call(PUT, controller.signal);
    setTimeout(() => controller.abort(new Error('given up')), 20);
    await expect(call).rejects.toThrow('given up');
  });

  it('is repeated once on a new connection if the idle one had been closed, and says so', async () => {
    const sockets: Socket[] = [];
    let answers = 0;
    const tcp = createTcpServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', () => {
        // The first connection closes when it is used a second time, as if it had been idle for too long.
        if (socket === sockets[0] && answers > 0) {
          socket.resetAndDestroy();
          return;
        }
        answers += 1;
        socket.write('HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\n{}');
      });
    });
    const client = clientOf(`http://127.0.0.1:${await portOf(tcp)}`);
    expect(await client.call(PUT, signal)).toMatchObject({ kind: 'answered', isSecond: false });
    expect(await client.call(PUT, signal)).toMatchObject({ kind: 'answered', isSecond: true });
    expect(sockets).toHaveLength(2);
    for (const socket of sockets) socket.destroy();
  });
});

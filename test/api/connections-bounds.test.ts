import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { createBrokenHttp } from '../../src/http/broken-http.ts';
import type { ConnectionOptions } from '../../src/http/connections.ts';
import { createPaths } from '../../src/http/paths.ts';
import { createHttpServer, type HttpServer } from '../../src/http/server.ts';
import { until } from '../support/until.ts';

const HOST = '127.0.0.1';
/** More than the buffers of both sides of a connection. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x');

const running: HttpServer[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of running.splice(0)) await server.stop();
});

/** An app with a page that waits until it is released, and a large one. */
async function start(connections: Partial<ConnectionOptions>) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const handled: string[] = [];
  const broken = createBrokenHttp({
    publicUrl: () => 'http://localhost',
    paths: createPaths({ hasDocs: false }),
    logger: pino({ level: 'silent' }),
    observe: () => undefined,
  });
  const server = createHttpServer({ host: HOST, port: 0 }, broken, undefined, connections);
  const pages = (app: FastifyInstance): void => {
    app.get('/slow/:name', (request) => {
      const { name } = request.params as { name: string };
      handled.push(name);
      return released.then(() => ({ name }));
    });
    app.get('/large', async () => LARGE);
    app.get('/small', async () => ({ ok: true }));
  };
  const app = await createApp({
    routes: [],
    logger: pino({ level: 'silent' }),
    publicUrl: () => 'http://localhost',
    authenticate: () => Promise.reject(new Error('unused')),
    extensions: [pages],
    serverFactory: server.factory,
  });
  server.attach(app);
  running.push(server);
  await server.start();
  return { url: server.url(), port: Number(new URL(server.url()).port), release, handled };
}

type Client = { readonly socket: Socket; text(): string; isClosed(): boolean };

async function open(port: number): Promise<Client> {
  const socket = connect(port, HOST);
  sockets.push(socket);
  let text = '';
  let isClosed = false;
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
  });
  socket.on('data', (data) => {
    text += data;
  });
  await once(socket, 'connect');
  return { socket, text: () => text, isClosed: () => isClosed };
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const answersIn = (text: string): number => text.split('HTTP/1.1 200 OK').length - 1;

describe('requests that are sent ahead', () => {
  it('are handled one after the other, and answered in order', async () => {
    const { port, release, handled } = await start({ pipelinedRequestsMax: 3 });
    const client = await open(port);
    client.socket.write(['a', 'b', 'c', 'd'].map((name) => get(`/slow/${name}`)).join(''));
    await until('the first one is handled', () => handled.length > 0);
    expect(handled).toEqual(['a']);
    release();
    await until('all are answered', () => answersIn(client.text()) === 4);
    expect(handled).toEqual(['a', 'b', 'c', 'd']);
    expect([...client.text().matchAll(/"name":"(\w)"/g)].map((match) => match[1])).toEqual(handled);
    expect(client.isClosed()).toBe(false);
  });

  it('beyond the bound close the connection, and are not handled', async () => {
    const { port, handled, release } = await start({ pipelinedRequestsMax: 3 });
    const client = await open(port);
    client.socket.write(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => get(`/slow/${name}`)).join(''));
    await until('it is closed', client.isClosed);
    release();
    const other = await open(port);
    other.socket.write(get('/small'));
    await until('another one is answered', () => answersIn(other.text()) === 1);
    expect(handled).toEqual(['a']);
  });
});

describe('connections', () => {
  it('beyond the bound take the place of the one that has been idle for longest', async () => {
    const { port, release, handled } = await start({ connectionsMax: 3 });
    const busy = await open(port);
    busy.socket.write(get('/slow/busy'));
    await until('it is handled', () => handled.length === 1);
    const older = await open(port);
    older.socket.write(get('/small'));
    await until('it is answered', () => answersIn(older.text()) === 1);
    const younger = await open(port);
    younger.socket.write(get('/small'));
    await until('it is answered', () => answersIn(younger.text()) === 1);

    const added = await open(port);
    await until('the longest idle one is closed', older.isClosed);
    added.socket.write(get('/small'));
    await until('the new one is answered', () => answersIn(added.text()) === 1);
    expect(younger.isClosed()).toBe(false);
    release();
    await until('the busy one is answered', () => answersIn(busy.text()) === 1);
  });

  it('beyond the bound are closed if all others are busy', async () => {
    const { port, release, handled } = await start({ connectionsMax: 2 });
    const busy = [await open(port), await open(port)];
    for (const { socket } of busy) socket.write(get('/slow/x'));
    await until('both are handled', () => handled.length === 2);
    const refused = await open(port);
    await until('it is closed', refused.isClosed);
    release();
    for (const { text } of busy) await until('both are answered', () => answersIn(text()) === 1);
    const accepted = await open(port);
    accepted.socket.write(get('/small'));
    await until('it is answered', () => answersIn(accepted.text()) === 1);
  });

  it('of one source are bounded, and those of other sources are not affected', async () => {
    let source: string | undefined = '192.0.2.1';
    const { port } = await start({ sourceConnectionsMax: 2, source: () => source });
    const first = await open(port);
    const second = await open(port);
    const third = await open(port);
    await until('the third one is closed', third.isClosed);
    source = '192.0.2.2';
    const other = await open(port);
    // A proxy on the same machine.
    source = undefined;
    const local = await Promise.all([open(port), open(port), open(port)]);
    for (const client of [first, second, other, ...local]) {
      client.socket.write(get('/small'));
      await until('it is answered', () => answersIn(client.text()) === 1);
    }
    first.socket.destroy();
    source = '192.0.2.1';
    await until('the source has room again', async () => {
      const again = await open(port);
      again.socket.write(get('/small'));
      await until('it is answered or closed', () => again.isClosed() || answersIn(again.text()) === 1);
      return !again.isClosed();
    });
  });
});

describe('a client that does not read its answer', () => {
  const roomy = { connectionUnreadBytesMax: 2 * LARGE.length, unreadBytesMax: 20 * LARGE.length };

  /** Reads only the beginning of the answer. */
  async function askWithoutReading(port: number): Promise<Client> {
    const client = await open(port);
    client.socket.write(get('/large'));
    await once(client.socket, 'data');
    client.socket.pause();
    return client;
  }

  /** A paused socket does not notice that the other side has closed: the next bytes that it writes do. */
  async function untilClosed({ socket, isClosed }: Client): Promise<void> {
    await until('the connection is closed', () => {
      if (!isClosed()) socket.write(get('/small'));
      return isClosed();
    });
  }

  it('is disconnected after a time without progress', async () => {
    const { port } = await start({ ...roomy, unreadMs: 300, unreadLookMs: 50 });
    await untilClosed(await askWithoutReading(port));
  });

  it('keeps its connection as long as it reads, however slowly', async () => {
    const { port } = await start({ ...roomy, unreadMs: 30_000, unreadLookMs: 10 });
    const client = await open(port);
    client.socket.write(get('/large'));
    for (let round = 0; round < 20; round += 1) {
      client.socket.pause();
      await new Promise((resume) => setTimeout(resume, 20));
      client.socket.resume();
      await new Promise((resume) => setImmediate(resume));
    }
    await until('all of it has arrived', () => client.text().length > LARGE.length);
    expect(client.isClosed()).toBe(false);
  });

  it('is disconnected at once if there is too much of it', async () => {
    const { port } = await start({ connectionUnreadBytesMax: 1024 * 1024, unreadLookMs: 20 });
    await untilClosed(await askWithoutReading(port));
  });

  it('is disconnected if all answers together are too much: those that have not read for longest', async () => {
    const { port } = await start({ ...roomy, unreadBytesMax: 1.5 * LARGE.length, unreadLookMs: 20 });
    const first = await askWithoutReading(port);
    const second = await askWithoutReading(port);
    await untilClosed(first);
    second.socket.resume();
    await until('the second answer has arrived', () => second.text().length > LARGE.length);
  });
});

import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { until } from '../support/until.ts';
import { expectInOrder, type Row, useDeliveries } from './delivery-support.ts';

const {
  database,
  closeAtEnd,
  newCustomer,
  startNode,
  receiver,
  createEndpoint,
  rows,
  allDelivered,
  emitOne,
  emitSteps,
} = useDeliveries();

/** A receiver that gets the raw connection. */
async function rawReceiver(behave: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    behave(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closeAtEnd(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
}

describe('a receiver that misbehaves', () => {
  /** The first delivery to the endpoint that misbehaves, after its first attempt, beside an endpoint that works. */
  async function beside(url: string, timeoutMs = 60_000): Promise<Row> {
    newCustomer();
    const node = await startNode({ impatient: { url, timeoutMs } });
    const good = await receiver();
    const badId = await createEndpoint(node, url);
    const goodId = await createEndpoint(node, good.url);
    await emitSteps(node, 20);
    await until('the working endpoint has all events', () => good.hits.length >= 60);
    expect(good.hits).toHaveLength(60);
    expectInOrder(good);
    await until('all are recorded', () => allDelivered(goodId, 60));
    await until('the other endpoint was tried', async () => ((await rows(badId))[0]?.attempts ?? 0) > 0);
    const [bad] = await rows(badId);
    await node.stop();
    return bad!;
  }

  it('fails: the answer is stored, it is retried, and the other endpoint gets everything', async () => {
    const target = await receiver();
    target.behave((_, response) => response.writeHead(503).end('down'));
    const bad = await beside(target.url);
    expect(bad).toMatchObject({ status: 'PENDING', response: { status: 503, body: 'down' } });
  });

  it('hangs: it is cut off after the timeout', async () => {
    const bad = await beside(await rawReceiver(() => undefined), 300);
    expect(bad).toMatchObject({ status: 'PENDING', response: null, error: 'no answer within 300 ms' });
  });

  it('answers byte by byte: the timeout is for the whole answer', async () => {
    const text = 'HTTP/1.1 200 OK\r\nx-long: ';
    const url = await rawReceiver((socket) => {
      let at = 0;
      const timer = setInterval(() => socket.write(text[at++] ?? 'a'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    const bad = await beside(url, 300);
    expect(bad).toMatchObject({ status: 'PENDING', response: null, error: 'no answer within 300 ms' });
  });

  it('redirects: the redirect is an answer like any other, and is not followed', async () => {
    const [target, inner] = [await receiver(), await receiver()];
    target.behave((_, response) => response.writeHead(307, { location: inner.url }).end());
    const bad = await beside(target.url);
    expect(bad).toMatchObject({
      status: 'PENDING',
      response: { status: 307, headers: { location: inner.url } },
    });
    expect(inner.connections()).toBe(0);
  });

  it('sends a gigabyte: some of it is stored, the rest is never read', async () => {
    const target = await receiver();
    let sent = 0;
    target.behave((_, response) => {
      response.writeHead(200, { 'content-length': String(2 ** 30) });
      const chunk = Buffer.alloc(64 * 1024, 'x');
      const more = (): void => {
        while (!response.destroyed && sent < 2 ** 30) {
          sent += chunk.length;
          if (!response.write(chunk)) break;
        }
      };
      response.on('drain', more);
      more();
    });
    const bad = await beside(target.url);
    expect(bad).toMatchObject({ status: 'DELIVERED', response: { status: 200 } });
    expect(bad.response.body).toHaveLength(4_096);
    expect(sent).toBeLessThan(2 ** 30 / 4);
  });

  it('closes the connection early: before the answer it is a failure, after the status it is an answer', async () => {
    const silent = await beside(await rawReceiver((socket) => socket.once('data', () => socket.destroy())));
    expect(silent).toMatchObject({
      status: 'PENDING',
      response: null,
      error: 'the connection was closed before an answer',
    });
    const cut = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf';
    const half = await beside(
      await rawReceiver((socket) => socket.once('data', () => socket.write(cut, () => socket.destroy()))),
    );
    expect(half).toMatchObject({ status: 'DELIVERED', response: { status: 200, body: 'half' } });
  });
});

it('an internal error is retried after a while, not in a tight loop', async () => {
  newCustomer();
  const target = await receiver();
  target.behave((_, response) => void response.writeHead(500).end());
  const before = await startNode();
  const id = await createEndpoint(before, target.url);
  await emitOne(before);
  await until('it was tried', async () => (await rows(id))[0]?.attempts === 1);
  await before.stop();
  // The delivery of an event that does not exist is an internal error.
  await database().query(
    'update webhook_deliveries set event_id = $2, due_at_ms = 0 where endpoint_id = $1',
    [id, newId()],
  );
  const warnings: string[] = [];
  const log = { info: () => undefined, warn: (_: object, text: string) => warnings.push(text) } as never;
  const node = await startNode({ log });
  await until('it is logged', () => warnings.length > 0);
  await sleep(300);
  await node.stop();
  // A tight loop logs hundreds of lines in that time.
  expect(new Set(warnings)).toEqual(new Set(['could not process a delivery']));
  expect(warnings.length).toBeLessThan(10);
});

it('two nodes share endpoints without duplicating or reordering anything', async () => {
  newCustomer();
  const nodes = await Promise.all([startNode(), startNode()]);
  const targets = await Promise.all(Array.from({ length: 6 }, receiver));
  const ids = await Promise.all(targets.map((target) => createEndpoint(nodes[0], target.url)));
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(nodes.map((node) => emitSteps(node, 20)));
    // Longer than a node keeps an idle endpoint, so that either node may claim it next.
    await sleep(250);
  }
  for (const [index, target] of targets.entries()) {
    await until('all have arrived', () => allDelivered(ids[index]!, 360));
    expect(target.hits).toHaveLength(360);
    expectInOrder(target);
  }
  await Promise.all(nodes.map((node) => node.stop()));
});

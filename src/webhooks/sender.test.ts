import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createSender } from './sender.ts';

/** Answers with a status and a part of the body, and then resets the connection. */
async function answerAndReset(socket: Socket): Promise<void> {
  socket.on('error', () => undefined);
  socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart');
  await sleep(100);
  socket.resetAndDestroy();
}

it('an answer counts, even if the connection is reset while its body is read', async () => {
  let requests = 0;
  const server = createServer((socket) => {
    socket.once('data', () => {
      requests += 1;
      void answerAndReset(socket);
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const sender = createSender({ reach: 'anywhere' });
  expect(await sender.post(`http://127.0.0.1:${port}/`, {}, '{}')).toMatchObject({
    status: 200,
    body: 'part',
    error: undefined,
  });
  expect(requests).toBe(1);
  sender.close();
  server.close();
});

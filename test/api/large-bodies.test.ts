import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService();
afterAll(() => service.stop());
const customer = await service.createCustomer();

it('a body that is too large gets its answer, and the connection can be used again', async () => {
  const { hostname, port } = new URL(service.url);
  const head = (bytes: number, end: string) =>
    `POST /v2/operator/reconciliations HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${customer.authorization}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n${end}\r\n`;
  for (let round = 0; round < 10; round += 1) {
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const bytes = LIMITS.statementBytesMax + 50_000;
    socket.write(head(bytes, ''));
    // Sent after the service has answered: it must not have closed the connection by then.
    await once(socket, 'readable');
    socket.write(Buffer.alloc(bytes, ' '));
    socket.write(`${head(2, 'Connection: close\r\n')}{}`);
    const answers = await text(socket);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 400']);
  }
});

it('after a body of any length the connection is closed', async () => {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const bytes = LIMITS.discardedBodyBytesMax + 1;
  socket.write(
    `POST /v2/profiles HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${customer.authorization}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`,
  );
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 [\s\S]*\r\nconnection: close\r\n/i);
});

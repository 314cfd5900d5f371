import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient, createCustomer } from '../../src/auth/administration.ts';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { readConfig } from '../../src/config/config.ts';
import { assemble, type Service } from '../../src/main.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const lines: string[] = [];
let test: TestDatabase;
let service: Service;
let authorization: string;
beforeAll(async () => {
  test = await createTestDatabase();
  const logger = pino({ level: 'info' }, { write: (text: string) => void lines.push(text) });
  const config = readConfig({ PORT: '0', FERRY_WORKERS: 'off' });
  service = await assemble({ config, database: test.database, logger });
  await service.start();
  const customer = await createCustomer(test.database, { name: 'Uploader', integration: 'FIRST_PARTY' });
  const client = { customer: customer.id, name: 'test', scopes: SCOPE_NAMES };
  const { clientId, clientSecret } = await createClient(test.database, service.vault, client);
  const response = await fetch(`${service.url()}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  authorization = `Bearer ${((await response.json()) as { access_token: string }).access_token}`;
});
afterAll(async () => {
  await service.stop();
  await test.drop();
});

it.each([
  ['an operation', '/v2/transfer/platform', 'application/json'],
  ['a token request', '/oauth2/token', 'application/x-www-form-urlencoded'],
])('%s whose body never arrives completely leaves nothing in the log', async (_what, path, type) => {
  const answered: number[] = [];
  const watch = (_request: unknown, response: ServerResponse): void => {
    response.once('close', () => answered.push(response.statusCode));
  };
  service.app.server.on('request', watch);
  lines.length = 0;
  const socket = connect(Number(new URL(service.url()).port), '127.0.0.1');
  await once(socket, 'connect');
  // The token of a connection is verified with its first request: after it, the body of the next one is read at once.
  socket.write(`GET /v2/profiles HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
  await once(socket, 'data');
  await until('the answer is complete', () => answered.length === 1);
  const arrived = once(service.app.server, 'request');
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    `Authorization: ${authorization}`,
    `Content-Type: ${type}`,
  ];
  socket.write(`${head.join('\r\n')}\r\nContent-Length: 1000\r\n\r\n{"a`);
  await arrived;
  socket.destroy();
  await until('the request has ended', () => answered.length === 2);
  expect(answered[0]).toBe(200);
  // A later request has passed through the same log.
  expect((await fetch(`${service.url()}/health/live`)).status).toBe(200);
  expect(lines).toEqual([]);
  service.app.server.off('request', watch);
});

import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

/** Requests that break HTTP itself: they get a problem like any other request, and never instead of an earlier answer. */
let service: TestService;
let platform: { path: string; body: string; authorization: string };
beforeAll(async () => {
  service = await startTestService();
  const customer = await service.createCustomer();
  const from = await service.createProfile(customer, { USD: '1000' });
  const to = await service.createProfile(customer);
  platform = {
    path: '/v2/transfer/platform',
    body: JSON.stringify({ from_profile_id: from, to_profile_id: to, asset: 'USD', amount: '1' }),
    authorization: customer.authorization,
  };
});
afterAll(() => service.stop());

type Received = { status: number; head: string; body: any };

/** Sends the text, and reads until the service closes the connection. */
async function exchange(request: string): Promise<Received[]> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.write(request, 'latin1');
  const answers = await text(socket);
  return answers
    .split(/(?=HTTP\/1\.1 )/)
    .map((answer) => {
      const end = answer.indexOf('\r\n\r\n');
      const body = answer.slice(end + 4);
      return {
        status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]),
        head: answer.slice(0, end).toLowerCase(),
        body: body === '' ? undefined : JSON.parse(body),
      };
    })
    .filter(({ status }) => status >= 200);
}

function expectProblem(received: Received | undefined, status: number, slug: string): void {
  expect(received).toMatchObject({
    status,
    body: { type: `${service.url}/problems/${slug}`, status, detail: expect.any(String), meta: {} },
  });
  expect(received!.head).toContain('content-type: application/problem+json');
  expect(received!.head).toMatch(/x-request-id: [0-9a-f-]{36}/);
  expect(received!.head).toContain('connection: close');
}

const GET = 'GET /v2/profiles HTTP/1.1\r\nHost: x\r\n';

describe('what is not HTTP', () => {
  it.each([
    ['garbage', '\u0016\u0003\u0001\u0000garbage\r\n\r\n'],
    ['an unknown method', GET.replace('GET', 'FROB')],
    ['a header without a name', `${GET}: x\r\n\r\n`],
    ['a length and chunks', `${GET}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ])('gets a 400: %s', async (_what, request) => {
    const [answer, ...more] = await exchange(request);
    expectProblem(answer, 400, 'invalid-request');
    expect(more).toEqual([]);
  });

  it('gets a 431 if the headers are too large', async () => {
    const [answer] = await exchange(`${GET}X-Huge: ${'x'.repeat(70_000)}\r\n\r\n`);
    expectProblem(answer, 431, 'headers-too-large');
  });

  it('does not replace the answer to the request before it, which was executed', async () => {
    const { path, authorization, body } = platform;
    const request = [
      `POST ${path} HTTP/1.1`,
      'Host: x',
      `Authorization: ${authorization}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '',
      `${body}{"more":1}`,
    ].join('\r\n');
    const [first, second, ...more] = await exchange(request);
    expect(first).toMatchObject({ status: 200, body: { status: 'COMPLETED' } });
    expectProblem(second, 400, 'invalid-request');
    expect(more).toEqual([]);
  });

  it('inside of a body that nobody reads gets no second answer', async () => {
    const head = `POST ${platform.path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const answers = await exchange(`${head}2\r\n{}\r\nnonsense\r\n`);
    expect(answers.map(({ status }) => status)).toEqual([expect.toBeOneOf([400, 401])]);
  });
});

describe('an unusual request', () => {
  it('without a Host header gets a 400 that names it', async () => {
    const [answer] = await exchange('GET /v2/profiles HTTP/1.1\r\nConnection: close\r\n\r\n');
    expectProblem(answer, 400, 'invalid-request');
    expect(answer!.body.meta.errors).toEqual([{ pointer: '/headers/host', message: 'is required' }]);
  });

  it('of HTTP/1.0 needs no Host header', async () => {
    const [answer] = await exchange('GET /health/live HTTP/1.0\r\n\r\n');
    expect(answer!.status).toBe(200);
  });

  it('that expects something unknown is answered as if it did not', async () => {
    const [answer] = await exchange(`${GET}Expect: a-miracle\r\nConnection: close\r\n\r\n`);
    expectProblem(answer, 401, 'unauthenticated');
  });

  it('with the method CONNECT gets a 405', async () => {
    const [answer] = await exchange('CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n');
    expectProblem(answer, 405, 'method-not-allowed');
  });
});

import { connect, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBrokenHttp } from '../../src/http/broken-http.ts';
import { createPaths } from '../../src/http/paths.ts';
import { LIMITS } from '../../src/limits.ts';
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
    ['a method that is no token', GET.replace('GET', 'F(OO')],
    ['an unknown version', GET.replace('HTTP/1.1', 'HTTP/3.7')],
    ['another protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a space in the name of a header', `${GET}X Y: z\r\n\r\n`],
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
    expect(answer!.head).toMatch(/allow: *(\r|$)/m);
  });
});

describe('an unknown method', () => {
  const send = (method: string, path: string, headers = '') =>
    exchange(`${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`);

  // Those that the parser knows, those that it does not, and one that only another protocol has.
  it.each(['PROPFIND', 'LOCK', 'SOURCE', 'FROB', 'GETX', 'PRO', 'get', 'F-OO', 'DESCRIBE'])(
    'gets a 405 with what the path supports: %s',
    async (method) => {
      const id = '0198c5a5-0000-7000-8000-000000000001';
      const [list] = await send(method, '/v2/profiles?limit=1', 'X-Request-Id: mine-1\r\n');
      expect(list).toMatchObject({ status: 405, body: { meta: { allow: ['GET', 'HEAD', 'POST'] } } });
      expect(list!.body.detail).toBe(`/v2/profiles supports GET, HEAD, POST, not ${method}.`);
      expect(list!.head).toMatch(/\r\nallow: get, head, post(\r|$)/);
      expect(list!.head).toContain('x-request-id: mine-1');
      const [one] = await send(method, `/v2/transfer/transfers/${id}`);
      expectProblem(one, 405, 'method-not-allowed');
      expect(one!.head).toMatch(/\r\nallow: get, head(\r|$)/);
    },
  );

  it.each(['PROPFIND', 'FROB'])('for a path that does not exist gets a 404: %s', async (method) => {
    expectProblem((await send(method, '/v2/nothing'))[0], 404, 'not-found');
    expectProblem((await send(method, '/v2/transfer/transfers/'))[0], 404, 'not-found');
  });

  it('behind a request with a body is answered after it', async () => {
    const first = `POST /v2/transfer/platform HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nab}`;
    const answers = await exchange(`${first}FROB /v2/events HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answers.map(({ status }) => status)).toEqual([401, 405]);
    expect(answers[1]!.body.meta.allow).toEqual(['GET', 'HEAD']);
  });
});

describe('a trailing slash', () => {
  it.each([
    '/v2/profiles/',
    '/v2/transfer/transfers/',
    '/v2/profiles//balances',
    '/oauth2/token/',
    '/health/live/',
  ])('is another path, which does not exist: %s', async (path) => {
    const [answer] = await exchange(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expectProblem(answer, 404, 'not-found');
    expect(answer!.body.meta).toEqual({ resource: 'path', id: path });
  });
});

describe('a compressed body', () => {
  it('gets a 415 that says what is accepted', async () => {
    const lines = ['Host: x', 'Connection: close', 'Content-Encoding: gzip', 'Content-Length: 2', '', '{}'];
    const [answer] = await exchange(`POST ${platform.path} HTTP/1.1\r\n${lines.join('\r\n')}`);
    expectProblem(answer, 415, 'unsupported-media-type');
    expect(answer!.head).toContain('\r\naccept-encoding: identity');
  });
});

describe('operators see what is not HTTP', () => {
  async function counted(route: string, method: string, status: number): Promise<number> {
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    const series = `ferry_http_request_seconds_count{route="${route}",method="${method}",status="${status}"} `;
    const line = metrics.split('\n').find((one) => one.startsWith(series));
    return line === undefined ? 0 : Number(line.slice(series.length));
  }

  const CHUNKS = `POST /v2/transfer/platform HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine-2\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n`;
  it.each([
    ['a bad request line', 'GARBAGE\r\n\r\n', 'unknown', 'other', 400],
    ['a bad header', `${GET}: x\r\n\r\n`, 'unknown', 'other', 400],
    ['headers that are too large', `${GET}X: ${'x'.repeat(70_000)}\r\n\r\n`, 'unknown', 'other', 431],
    ['an unknown method', `${GET.replace('GET', 'FROB')}\r\n`, '/v2/profiles', 'other', 405],
    [
      'another method',
      `${GET.replace('GET', 'LOCK')}Connection: close\r\n\r\n`,
      '/v2/profiles',
      'other',
      405,
    ],
    ['a proxy request', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', 'unknown', 'other', 405],
  ])('in the metrics: %s', async (_what, request, route, method, status) => {
    const before = await counted(route, method, status);
    expect((await exchange(request))[0]!.status).toBe(status);
    await expect.poll(() => counted(route, method, status)).toBe(before + 1);
  });

  it('in the log, with the id that the client got; of very many, only the first of each minute', () => {
    const lines: any[] = [];
    const broken = createBrokenHttp({
      publicUrl: () => 'http://localhost',
      paths: createPaths({ hasDocs: false }),
      logger: { info: (...line: unknown[]) => void lines.push(line) } as never,
      observe: () => undefined,
    });
    const error = Object.assign(new Error('quotes the bytes'), { code: 'HPE_INVALID_HEADER_TOKEN' });
    const answers = Array.from({ length: 1_000 }, () => broken.answer(error, new Socket(), undefined));
    const id = /x-request-id: ([0-9a-f-]{36})/.exec(answers[0]!)![1];
    const facts = { request_id: id, status: 400, problem: 'invalid-request', code: error.code };
    expect(lines[0]).toEqual([facts, 'a request was not valid HTTP']);
    expect(lines).toHaveLength(LIMITS.brokenRequestsLoggedMax);
  });

  it('a malformed chunk under the id of its request, once', async () => {
    const authorization = `Authorization: ${platform.authorization}\r\n`;
    const all = async () =>
      (await counted('/v2/transfer/platform', 'POST', 400)) + (await counted('unknown', 'other', 400));
    const before = await all();
    const [answer, ...more] = await exchange(`${CHUNKS}${authorization}\r\n2\r\n{}\r\nzz\r\n`);
    expect(more).toEqual([]);
    expect(answer!.status).toBe(400);
    expect(answer!.head).toContain('x-request-id: mine-2');
    await expect.poll(all).toBe(before + 1);
  });
});

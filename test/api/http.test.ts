import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { newId } from '../../src/kernel/id.ts';
import { route } from '../../src/kernel/route.ts';
import { Type } from '../../src/kernel/type.ts';
import { LIMITS } from '../../src/limits.ts';
import {
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let alice: TestCustomer;
beforeAll(async () => {
  service = await startTestService();
  alice = await service.createCustomer();
});
afterAll(() => service.stop());

const post = (body: string, headers?: Record<string, string>) =>
  alice.call('POST', '/v2/transfer/platform', body, headers);

describe('all errors of a request are reported at once', () => {
  const [one, other] = [newId(), newId()];
  const WIRE = { profile_id: one, fiat_account_id: other };
  const CRYPTO = { profile_id: one, asset: 'BTC', crypto_network: 'BITCOIN', destination_address: 'x' };
  const leg = { direction: 'DELIVER', asset: 'USD', amount: '1' };
  const settlement = (legs: object[]) => ({ source_profile_id: one, target_profile_id: one, legs });
  it.each([
    [
      'a platform transfer',
      '/v2/transfer/platform?x=1',
      { from_profile_id: one, to_profile_id: one, asset: 'XYZ', amount: '0', foo: 1 },
      ['/foo', '/query/x', '/to_profile_id', '/asset', '/amount'],
    ],
    [
      'a fiat withdrawal',
      '/v2/transfer/fiat-withdrawals',
      { ...WIRE, asset: 'BTC', amount: '1', total: '1', foo: 1 },
      ['/foo', '/asset', '/amount', '/total'],
    ],
    [
      'a crypto withdrawal',
      '/v2/transfer/crypto-withdrawals',
      { ...CRYPTO, amount: 1 },
      ['/amount', '/destination_address'],
    ],
    [
      'a guaranteed fee',
      '/v2/transfer/fees/crypto-withdrawal',
      { asset: 'BTC', crypto_network: 'BITCOIN', destination_address: 'x', foo: 1 },
      ['/foo', '/destination_address', '/amount', '/total'],
    ],
    [
      'a settlement transaction',
      '/v2/settlement/transactions',
      settlement([{ ...leg, direction: 'SEND', amount: '0' }, { ...leg, asset: 'XX' }, leg]),
      ['/legs/0/direction', '/target_profile_id', '/legs/0/amount', '/legs/1/asset'],
    ],
    [
      'something that is none',
      '/v2/settlement/transactions',
      { legs: 7 },
      ['/source_profile_id', '/target_profile_id', '/legs'],
    ],
  ])('(%s)', async (_title, path, body, pointers) => {
    const answer = await alice.call('POST', path, body);
    const { errors } = expectProblem(answer, 400, 'invalid-request');
    expect(errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers);
  });
});

describe('a body', () => {
  it.each([
    ['nothing', ''],
    ['half of an object', '{"amount":'],
    ['a text', 'amount=1'],
  ])('that is %s is a 400 without its words', async (_, body) => {
    const meta = expectProblem(
      await post(body, { 'content-type': 'application/json' }),
      400,
      'invalid-request',
    );
    expect(JSON.stringify(meta)).not.toContain('amount');
  });

  it.each([
    ['a zero character', '{"metadata":{"a":"\\u0000"}}', '/metadata/a'],
    ['half a surrogate pair', '{"metadata":{"a":"\\ud800"}}', '/metadata/a'],
  ])('with %s is a 400 that names the field', async (_, body, pointer) => {
    expectInvalid(await post(body), pointer);
  });

  it.each(['{"__proto__":{"amount":"1"}}', '{"__prot\\u006f__":{"amount":"1"}}'])(
    'with the key of a prototype is a 400: %s',
    async (body) => {
      expectInvalid(await post(body), '');
    },
  );

  it('that is nested too deeply is a 400', async () => {
    const depth = 50_000;
    expectInvalid(await post(`{"x":${'['.repeat(depth)}"\\u0041"${']'.repeat(depth)}}`), '');
  });

  it('with thousands of errors gets the first hundred', async () => {
    const legs = JSON.stringify({ legs: Array.from({ length: 5_000 }, () => ({ a: 1, b: 2 })) });
    const answer = await alice.call('POST', '/v2/settlement/transactions', legs);
    expect(expectProblem(answer, 400, 'invalid-request').errors).toHaveLength(LIMITS.errorsShownMax);
    expect(answer.body.detail).toMatch(/; and \d+ more\.$/);
  });
});

describe('an address', () => {
  it('with a NUL character in its query is a 400 that names the parameter', async () => {
    expectInvalid(await alice.call('GET', '/v2/profiles?nicknames=a%00b'), '/query/nicknames/0');
  });

  it.each(['/v2/profiles/%zz', `/v2/profiles/${'a'.repeat(300)}`])(
    'that is malformed is a problem: %s',
    async (path) => {
      const answer = await fetch(service.url + path);
      expect(answer.status).toBe(400);
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('answers 405 to other methods, and lists the allowed ones in the header and in meta', async () => {
    const answer = await alice.call('PATCH', '/v2/profiles');
    expect(expectProblem(answer, 405, 'method-not-allowed')).toEqual({ allow: ['GET', 'HEAD', 'POST'] });
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST');
  });

  it('does not take a fixed path for the id of something else', async () => {
    const answer = await alice.call('GET', '/v2/policies/dry-run?limit=1');
    expect(expectProblem(answer, 405, 'method-not-allowed')).toEqual({ allow: ['POST'] });
  });

  // With a raw client: fetch does not send TRACE.
  it.each(['OPTIONS', 'TRACE', 'PATCH', 'DELETE', 'QUERY'])('answers %s so, too', async (method) => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${service.url}/v2/transfer/platform`, { method }, resolve).on('error', reject).end();
    });
    answer.resume();
    expect(answer.statusCode).toBe(405);
    expect(answer.headers.allow).toBe('POST');
  });
});

describe('an error', () => {
  const messages = async (method: string, path: string, body?: object): Promise<string[]> => {
    const meta = expectProblem(await alice.call(method, path, body), 400, 'invalid-request');
    return meta.errors.map((one: { pointer: string; message: string }) => `${one.pointer} ${one.message}`);
  };

  it('uses the right words: parameters, fields, items', async () => {
    expect(await messages('GET', '/v2/profiles?colour=red')).toEqual([
      '/query/colour is not a known parameter',
    ]);
    const ids = { source_profile_id: newId(), target_profile_id: newId() };
    const settlement = { ...ids, colour: 'red', legs: [], ref_id: '' };
    expect((await messages('POST', '/v2/settlement/transactions', settlement)).sort()).toEqual([
      '/colour is not a known field',
      '/legs must have at least 1 item',
      '/ref_id must have at least 1 character',
    ]);
    const legs = Array.from({ length: 101 }, () => ({ direction: 'DELIVER', asset: 'USD', amount: '1' }));
    expect(await messages('POST', '/v2/settlement/transactions', { ...ids, legs })).toEqual([
      '/legs must have at most 100 items',
    ]);
  });
});

describe('a request id', () => {
  it('that is valid is kept, and any other is replaced', async () => {
    const kept = await fetch(`${service.url}/health/live`, { headers: { 'x-request-id': 'abc-123' } });
    expect(kept.headers.get('x-request-id')).toBe('abc-123');
    const replaced = await fetch(`${service.url}/health/live`, { headers: { 'x-request-id': 'a b' } });
    expect(replaced.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('limits on connections', () => {
  /** An app with one operation that waits for `release`, and whose tokens are verified after `verified`. */
  async function startSlowApp(verified?: Promise<void>) {
    let asked = 0;
    let waiting = 0;
    const [clientId, customerId] = [newId(), newId()];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const slow = route({
      method: 'GET',
      path: '/v2/slow',
      operationId: 'slow',
      tag: 'Test',
      summary: 'Waits until it is released',
      scope: 'funding:read_profile',
      response: Type.Object({}),
      problems: [],
      async handle({ rest }) {
        waiting += 1;
        await rest(released);
        return { body: {} };
      },
    });
    const scopes = new Set(['funding:read_profile']);
    const app = await createApp({
      routes: [slow],
      logger: pino({ level: 'silent' }),
      publicUrl: () => 'http://localhost',
      async authenticate() {
        asked += 1;
        await verified;
        return { customerId, clientId, scopes, integration: 'FIRST_PARTY' };
      },
      extensions: [],
    });
    const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/v2/slow`;
    return { app, url, release, asked: () => asked, waiting: () => waiting };
  }

  /** Fewer at a time than the system lets wait: on a busy machine it loses some of those beyond, and nobody sends them again. */
  async function asManyAsAllowed<Request>(
    start: () => Request,
    arrived: () => number,
  ): Promise<readonly Request[]> {
    const started: Request[] = [];
    while (started.length < LIMITS.clientRequestsMax) {
      for (let count = 0; count < 200; count += 1) started.push(start());
      await expect.poll(arrived).toBe(started.length);
    }
    return started;
  }

  function openSlow(url: string): Socket {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write('GET /v2/slow HTTP/1.1\r\nHost: x\r\n\r\n');
    return socket;
  }

  /** Sends a request, and waits until it is accepted and waits with the others, or is refused. */
  async function attempt(url: string, waiting: () => number) {
    const before = waiting();
    let refusal: number | undefined;
    const answer = fetch(url).then(({ status }) => {
      refusal = status;
      return status;
    });
    // Awaited by the caller if the request is accepted.
    answer.catch(() => undefined);
    await until('the request waits or is refused', () => waiting() > before || refusal !== undefined);
    return { refusal, answer };
  }

  it('refuse a client with too many requests in flight with a 429, and accept it again afterwards', async () => {
    const { app, url, release, waiting } = await startSlowApp();
    const calls = await asManyAsAllowed(() => fetch(url), waiting);
    const refused = await fetch(url);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toMatchObject({ meta: { in_flight: LIMITS.clientRequestsMax } });
    release();
    expect((await Promise.all(calls)).every((answer) => answer.status === 200)).toBe(true);
    await expect.poll(async () => (await fetch(url)).status).toBe(200);
    await app.close();
  });

  it('accept a client again that has closed the connections of all its requests', async () => {
    const { app, url, release, waiting } = await startSlowApp();
    const sockets = await asManyAsAllowed(() => openSlow(url), waiting);
    expect((await fetch(url)).status).toBe(429);
    for (const socket of sockets) socket.destroy();
    let last = await attempt(url, waiting);
    await until('it is let in', async () => {
      if (last.refusal !== undefined) last = await attempt(url, waiting);
      return last.refusal === undefined;
    });
    release();
    expect(await last.answer).toBe(200);
    await app.close();
  });

  it('do not count requests whose connection was closed before the token was verified', async () => {
    const { promise: verified, resolve: verify } = Promise.withResolvers<void>();
    const { app, url, release, asked, waiting } = await startSlowApp(verified);
    const sockets = await asManyAsAllowed(() => openSlow(url), asked);
    for (const socket of sockets) socket.destroy();
    const connections = (): Promise<number> =>
      new Promise((done) => app.server.getConnections((_, count) => done(count)));
    await expect.poll(connections).toBe(0);
    verify();
    await expect.poll(waiting).toBe(LIMITS.clientRequestsMax);
    const { refusal, answer } = await attempt(url, waiting);
    expect(refusal).toBeUndefined();
    release();
    expect(await answer).toBe(200);
    await app.close();
  });

  it('do not let a slow sender delay a stop', async () => {
    const other = await startTestService();
    const { port } = new URL(other.url);
    const arrived = once(other.app.server, 'request');
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => undefined);
    let answered = '';
    socket.on('data', (data) => {
      answered += data;
    });
    socket.write(
      'POST /oauth2/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\na',
    );
    const dribble = setInterval(() => socket.write('a'), 200);
    await arrived;
    await other.stop();
    clearInterval(dribble);
    socket.destroy();
    // The stop has closed the connection. A stop that waited for the request to time out would have sent a 408.
    expect(LIMITS.requestsFinishMs).toBeLessThan(LIMITS.requestArrivalMs);
    expect(answered).toBe('');
  });
});

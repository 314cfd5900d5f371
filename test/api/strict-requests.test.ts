import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answer,
  expectInvalid,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';
import { expectNothingWritten } from '../support/transfers.ts';

const PATH = '/v2/transfer/platform';

let service: TestService;
let customer: TestCustomer;
let base: Record<string, string>;
beforeAll(async () => {
  service = await startTestService();
  customer = await service.createCustomer();
  const from = await service.createProfile(customer, { USD: '1000' });
  const to = await service.createProfile(customer);
  base = { from_profile_id: from, to_profile_id: to, asset: 'USD', amount: '1' };
});
afterAll(() => service.stop());

const refused = (send: () => Promise<Answer>): Promise<Answer> => expectNothingWritten(service, send);

/** Sends exactly these bytes. */
async function raw(lines: readonly string[], body: string): Promise<{ status: number; body: any }> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    [...lines, `content-length: ${Buffer.byteLength(body)}`, 'connection: close', '', body].join('\r\n'),
  );
  const answer = await text(socket);
  const content = answer.slice(answer.indexOf('\r\n\r\n') + 4);
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)![1]), body: JSON.parse(content) };
}

describe('a body', () => {
  it('with a field twice is refused, at any depth, and the field is named', async () => {
    const json = JSON.stringify(base);
    for (const [body, name] of [
      [json.replace('{', '{"amount":"900",'), '"amount"'],
      [json.replace('{', '{"metadata":{"a":"1","\\u0061":"2"},'), '"a"'],
    ] as const) {
      const answer = await refused(() => customer.call('POST', PATH, body));
      expectInvalid(answer, '');
      expect(answer.body.meta.errors[0].message).toContain(name);
    }
  });

  it('must not be null, even where it is optional', async () => {
    const path = `/v2/operator/fiat-accounts/${base.from_profile_id}/approve`;
    expectInvalid(await refused(() => customer.call('POST', path, 'null')), '');
    expectInvalid(await refused(() => customer.call('POST', PATH, 'null')), '');
  });

  it('that is nested too deep is refused', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expectInvalid(await refused(() => customer.call('POST', PATH, deep)), '');
  });

  it('in another encoding or charset is refused before it is read', async () => {
    const body = JSON.stringify(base);
    for (const [header, value, pointer] of [
      ['content-type', 'application/json; charset=iso-8859-1', '/headers/content-type'],
      ['content-type', 'application/json; charset="utf-16"', '/headers/content-type'],
    ] as const)
      expectInvalid(await refused(() => customer.call('POST', PATH, body, { [header]: value })), pointer);
    for (const coding of ['gzip', 'x-unknown']) {
      const answer = await refused(() => customer.call('POST', PATH, body, { 'content-encoding': coding }));
      expectProblem(answer, 415, 'unsupported-media-type');
      expect(answer.headers.get('accept-encoding')).toBe('identity');
    }
    for (const type of ['application/json;charset=UTF-8', 'application/json; charset="utf-8"']) {
      const answer = await customer.call('POST', PATH, body, { 'content-type': type });
      expect(answer.status).toBe(200);
    }
  });
});

describe('a header', () => {
  it.each(['Host: other.example', 'Authorization: Bearer other', 'Content-Type: application/json'])(
    'that is sent twice is refused: %s',
    async (second) => {
      const lines = [
        `POST ${PATH} HTTP/1.1`,
        'Host: ferry.example',
        'Authorization: Bearer one',
        'Content-Type: application/json',
        second,
      ];
      const answer = await raw(lines, JSON.stringify(base));
      expect(answer).toMatchObject({
        status: 400,
        body: {
          meta: {
            errors: [{ pointer: `/headers/${second.split(':')[0]!.toLowerCase()}` }],
          },
        },
      });
    },
  );
});

describe('a token request', () => {
  it('with such a header gets an error of OAuth', async () => {
    const response = await fetch(`${service.url}/oauth2/token`, {
      method: 'POST',
      headers: { 'content-encoding': 'gzip' },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: 'invalid_request',
      error_description: expect.stringContaining('content-encoding'),
    });
  });
});

describe('an Idempotency-Key header', () => {
  const send = (key: string, changes: object = {}): Promise<Answer> =>
    customer.call('POST', PATH, { ...base, ...changes }, { 'idempotency-key': key });

  it('counts as the ref_id of a body that has none, quoted or not', async () => {
    const first = await send('"key-1"');
    expect(first).toMatchObject({ status: 200, body: { ref_id: 'key-1' } });
    const again = await send('key-1');
    expect(again.body.id).toBe(first.body.id);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await send('key-1', { ref_id: 'key-1' })).body.id).toBe(first.body.id);
  });

  it('is refused if the body has another ref_id', async () => {
    expectInvalid(await refused(() => send('key-2', { ref_id: 'key-3' })), '/ref_id');
  });

  it('must be a valid ref_id', async () => {
    expectInvalid(await refused(() => send('x'.repeat(200))), '/ref_id');
  });
});

describe('an answer', () => {
  it('cannot be cached, framed or taken for anything but data', async () => {
    for (const answer of [
      await customer.call('POST', PATH, base),
      await customer.call('POST', PATH, {}),
      await customer.call('GET', '/v2/profiles'),
    ]) {
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/);
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    }
  });
});

import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { assemble, type Service } from '../../src/main.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectProblem, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

type Raw = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
};

/** Without fetch, which decompresses and caches. */
async function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${service.url}${path}`, { method, headers }, resolve).once('error', reject).end();
  });
  return { status: response.statusCode!, headers: response.headers, body: await buffer(response) };
}

const PATHS = ['/docs/', '/docs/js/scalar.js', '/openapi.json', '/problems', '/problems/unavailable'];

describe.each(PATHS)('%s', (path) => {
  it('is the same in every encoding, and may be cached', async () => {
    const plain = await get(path);
    expect(plain.status).toBe(200);
    expect(plain.headers['content-encoding']).toBeUndefined();
    const br = await get(path, { 'accept-encoding': 'gzip, br' });
    expect(br.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
    const gzip = await get(path, { 'accept-encoding': 'gzip' });
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    for (const { headers, body } of [plain, br, gzip]) {
      expect(headers).toMatchObject({
        vary: 'accept-encoding',
        'cache-control': 'public, max-age=300',
        'content-length': String(body.length),
        'content-type': plain.headers['content-type'],
        'x-request-id': expect.any(String),
      });
    }
    expect(new Set([plain, br, gzip].map(({ headers }) => headers.etag)).size).toBe(3);
  });

  it('is not sent again to a client that has it', async () => {
    const accepted = { 'accept-encoding': 'br' };
    const { etag } = (await get(path, accepted)).headers;
    for (const known of [etag!, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await get(path, { ...accepted, 'if-none-match': known });
      expect({ known, status: answer.status, bytes: answer.body.length }).toEqual({
        known,
        status: 304,
        bytes: 0,
      });
      expect(answer.headers).toMatchObject({ etag, vary: 'accept-encoding' });
    }
    expect((await get(path, { ...accepted, 'if-none-match': '"other"' })).status).toBe(200);
    // Another encoding is another representation.
    expect((await get(path, { 'if-none-match': etag! })).status).toBe(200);
  });

  it('has the same headers for HEAD, without a body', async () => {
    const accepted = { 'accept-encoding': 'br' };
    const full = await get(path, accepted);
    const head = await get(path, accepted, 'HEAD');
    expect({ status: head.status, bytes: head.body.length }).toEqual({ status: 200, bytes: 0 });
    for (const name of ['content-length', 'content-type', 'content-encoding', 'etag'])
      expect(head.headers[name]).toBe(full.headers[name]);
  });
});

it('/docs leads to the page', async () => {
  const { status, headers } = await get('/docs');
  expect(status).toBe(301);
  expect(new URL(headers.location!, `${service.url}/docs`).href).toBe(`${service.url}/docs/`);
});

describe('FERRY_DOCS=off', () => {
  let test: TestDatabase;
  let quiet: Service;
  beforeAll(async () => {
    test = await createTestDatabase();
    const config = readConfig({ PORT: '0', FERRY_WORKERS: 'off', FERRY_DOCS: 'off' });
    quiet = await assemble({ config, database: test.database, logger: pino({ level: 'silent' }) });
    await quiet.start();
  });
  afterAll(async () => {
    await quiet.stop();
    await test.drop();
  });

  it('answers 404 on all pages of the documentation', async () => {
    for (const path of ['/docs', ...PATHS]) {
      const response = await fetch(`${quiet.url()}${path}`);
      const body = (await response.json()) as object;
      expectProblem({ status: response.status, headers: response.headers, body }, 404, 'not-found');
      expect(body).toMatchObject({ detail: `There is no operation GET ${path}.` });
    }
  });

  it('leaves everything else as it is, and mentions the documentation nowhere', async () => {
    expect((await fetch(`${quiet.url()}/v2/profiles`)).status).toBe(401);
    const metadata = await fetch(`${quiet.url()}/.well-known/oauth-authorization-server`);
    const answer = (await metadata.json()) as Record<string, unknown>;
    expect(answer.issuer).toBe(quiet.url());
    expect(answer.service_documentation).toBeUndefined();
  });
});

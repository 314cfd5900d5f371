import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEventCatalogue } from '../../src/events/types.ts';
import { Problem } from '../../src/kernel/problem.ts';
import { isPublicAddress } from '../../src/webhooks/addresses.ts';
import { webhookRoutes } from '../../src/webhooks/routes.ts';
import { createSender, type ResolveHost } from '../../src/webhooks/sender.ts';
import { expectInvalid, startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { CERTIFICATE, KEY } from './certificate.ts';

const PUBLIC = '93.184.215.14';

/** Hosts in every notation that a URL parser may accept. */
const REFUSED_HOSTS: readonly (readonly [string, string])[] = [
  ['loopback', '127.0.0.1'],
  ['another loopback', '127.255.255.254'],
  ['loopback in two parts', '127.1'],
  ['loopback as a decimal number', '2130706433'],
  ['loopback as a hexadecimal number', '0x7f000001'],
  ['loopback in hexadecimal parts', '0x7f.0x0.0x0.0x1'],
  ['loopback in octal parts', '0177.0.0.01'],
  ['loopback as an octal number', '017700000001'],
  ['loopback in wide digits', '１２７.０.０.１'],
  ['loopback, percent-encoded', '%31%32%37.0.0.1'],
  ['unspecified', '0.0.0.0'],
  ['unspecified as zero', '0'],
  ['this network', '0.1.2.3'],
  ['private, class A', '10.0.0.1'],
  ['private, class B', '172.16.0.1'],
  ['private, end of class B', '172.31.255.255'],
  ['private, class C', '192.168.1.1'],
  ['private, octal', '012.0.0.1'],
  ['link-local', '169.254.1.1'],
  ['the metadata service', '169.254.169.254'],
  ['the metadata service as a number', '2852039166'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['protocol assignments', '192.0.0.1'],
  ['documentation', '192.0.2.1'],
  ['benchmarks', '198.18.0.1'],
  ['multicast', '224.0.0.1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['IPv6 loopback', '[::1]'],
  ['IPv6 loopback, written out', '[0:0:0:0:0:0:0:1]'],
  ['IPv6 unspecified', '[::]'],
  ['IPv6 link-local', '[fe80::1]'],
  ['IPv6 unique local', '[fd00::1]'],
  ['IPv6 multicast', '[ff02::1]'],
  ['IPv6 site-local', '[fec0::1]'],
  ['IPv6 documentation', '[2001:db8::1]'],
  ['IPv4-mapped loopback', '[::ffff:127.0.0.1]'],
  ['IPv4-mapped loopback in hexadecimal', '[::ffff:7f00:1]'],
  ['IPv4-mapped public address', `[::ffff:${PUBLIC}]`],
  ['IPv4-compatible loopback', '[::127.0.0.1]'],
  ['IPv4-translated', '[::ffff:0:127.0.0.1]'],
  ['NAT64', '[64:ff9b::7f00:1]'],
  ['local NAT64', '[64:ff9b:1::7f00:1]'],
  ['6to4', '[2002:7f00:1::]'],
  ['Teredo', '[2001:0:4136:e378:8000:63bf:3fff:fdd2]'],
  ['localhost', 'localhost'],
  ['localhost with a dot', 'localhost.'],
  ['a name under localhost', 'a.localhost'],
  ['a local name', 'printer.local'],
  ['an internal name', 'metadata.google.internal'],
  ['a name without a domain', 'database'],
];

const REFUSED_URLS: readonly (readonly [string, string])[] = [
  ['plain http', 'http://example.com/'],
  ['another protocol', 'ftp://example.com/'],
  ['a file', 'file:///etc/passwd'],
  ['a user name', 'https://user@example.com/'],
  ['a password', 'https://:pw@example.com/'],
  ['a host hidden behind a user name', 'https://example.com@127.0.0.1/'],
  ['a fragment', 'https://example.com/#x'],
  ['the port of mail', 'https://example.com:25/'],
  ['the port of SSH', 'https://example.com:22/'],
  ['no host', 'https:///x'],
  ['no URL', 'example.com/hook'],
];

describe('production refuses at registration', () => {
  let service: TestService;
  let customer: TestCustomer;
  beforeAll(async () => {
    service = await startTestService({
      FERRY_MODE: 'production',
      DATABASE_URL: 'postgres://localhost/unused',
      FERRY_PUBLIC_URL: 'https://ferry.test',
      FERRY_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
    });
    customer = await service.createCustomer();
  });
  afterAll(() => service.stop());

  it.each(REFUSED_HOSTS)('%s (%s)', async (_, host) => {
    const answer = await customer.call('POST', '/v2/events/webhooks', { url: `https://${host}/hook` });
    expectInvalid(answer, '/url');
    expect(answer.body.detail).toMatch(/public (address|internet)|absolute URL/);
  });

  it.each(REFUSED_URLS)('%s (%s)', async (_, url) => {
    expectInvalid(await customer.call('POST', '/v2/events/webhooks', { url }), '/url');
  });

  it('the same addresses in an update', async () => {
    const made = await customer.call('POST', '/v2/events/webhooks', { url: `https://${PUBLIC}/` });
    expect(made.status).toBe(200);
    const path = `/v2/events/webhooks/${made.body.id}`;
    expectInvalid(await customer.call('PUT', path, { url: 'https://[::1]/' }), '/url');
    await customer.call('DELETE', path);
  });
});

it.each([
  PUBLIC,
  '1.1.1.1',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '2606:4700:4700::1111',
  '2a00:1450:4001::200e',
])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

it.each(['', 'x', '::1%lo', 'fe80::1%eth0', '127.0.0.1', '::ffff:8.8.8.8'])('%s is not', (address) =>
  expect(isPublicAddress(address)).toBe(false),
);

describe('the address that is connected to', () => {
  let port: number;
  let connections = 0;
  const server = createServer({ cert: CERTIFICATE, key: KEY }, (_, response) => response.end('ok'));
  server.on('connection', () => {
    connections += 1;
  });
  beforeAll(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Answers in turn; the last one repeats. */
  function answers(...lists: string[][]): ResolveHost {
    let at = 0;
    return async () => {
      const list = lists[Math.min(at, lists.length - 1)]!;
      at += 1;
      return list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    };
  }

  const url = (): string => `https://hooks.example.com:${port}/hook`;

  it.each([
    ['loopback', ['127.0.0.1']],
    ['IPv6 loopback', ['::1']],
    ['IPv4-mapped loopback', ['::ffff:127.0.0.1']],
    ['a private address', ['10.1.2.3']],
    ['the metadata service', ['169.254.169.254']],
    ['a public address and loopback', [PUBLIC, '127.0.0.1']],
  ])('a name that resolves to %s is refused, at registration and when it is called', async (_, list) => {
    const sender = createSender({
      reach: 'public',
      resolveHost: answers(list),
      ca: CERTIFICATE,
      timeoutMs: 60_000,
    });
    expect(await sender.hostFault(url())).toMatch(/^the host does not have a public address$/);
    const before = connections;
    const result = await sender.post(url(), {}, '{}');
    expect(result).toMatchObject({
      status: undefined,
      error: expect.stringMatching(/^the host does not have a public address$/),
    });
    expect(connections).toBe(before);
    sender.close();
  });

  it('a name that changes its answer after the check is refused', async () => {
    const resolveHost = answers([PUBLIC], ['127.0.0.1']);
    const sender = createSender({ reach: 'public', resolveHost, ca: CERTIFICATE, timeoutMs: 60_000 });
    expect(await sender.hostFault(url())).toBeUndefined();
    const before = connections;
    expect((await sender.post(url(), {}, '{}')).error).toMatch(/^the host does not have a public address$/);
    expect(connections).toBe(before);
    sender.close();
  });

  it('is the one that was checked: there is no second lookup that could get another answer', async () => {
    const asked: string[] = [];
    const sender = createSender({
      reach: 'public',
      ca: CERTIFICATE,
      isAllowed: (address) => address === '127.0.0.1',
      async resolveHost(host) {
        asked.push(host);
        return asked.length === 1
          ? [{ address: '127.0.0.1', family: 4 }]
          : [{ address: '10.0.0.1', family: 4 }];
      },
    });
    expect(await sender.post(url(), {}, '{}')).toMatchObject({ status: 200, body: 'ok' });
    expect(asked).toEqual(['hooks.example.com']);
    sender.close();
  });

  it('is checked again on the socket itself, before anything is sent', async () => {
    let calls = 0;
    // The check of the lookup passes, that of the socket does not.
    const sender = createSender({
      reach: 'public',
      ca: CERTIFICATE,
      resolveHost: answers(['127.0.0.1']),
      isAllowed: () => {
        calls += 1;
        return calls === 1;
      },
    });
    expect((await sender.post(url(), {}, '{}')).error).toMatch(/^the host does not have a public address$/);
    expect(calls).toBe(2);
    sender.close();
  });

  it('must have the certificate of the name', async () => {
    const isAllowed = (): boolean => true;
    const resolveHost = answers(['127.0.0.1']);
    const untrusting = createSender({ reach: 'public', resolveHost, isAllowed });
    expect((await untrusting.post(url(), {}, '{}')).error).toMatch(
      /^the TLS certificate is not valid \(DEPTH_ZERO_SELF_SIGNED_CERT\)$/,
    );
    const trusting = createSender({ reach: 'public', resolveHost, isAllowed, ca: CERTIFICATE });
    const wrong = `https://other.example.com:${port}/`;
    expect((await trusting.post(wrong, {}, '{}')).error).toMatch(
      /^the TLS certificate is not valid \(ERR_TLS_CERT_ALTNAME_INVALID\)$/,
    );
    untrusting.close();
    trusting.close();
  });

  it.each(REFUSED_HOSTS)('%s (%s) is refused also when it is already in the database', async (_, host) => {
    const sender = createSender({ reach: 'public', timeoutMs: 60_000 });
    const result = await sender.post(`https://${host}:${port}/`, {}, '{}');
    expect(result).toMatchObject({ status: undefined, error: expect.stringContaining('must') });
    sender.close();
  });

  it('of a refused name is reported as an error of the field url', async () => {
    const sender = createSender({ reach: 'public', resolveHost: answers(['192.168.0.7']) });
    const [create] = webhookRoutes({
      database: undefined as never,
      writePath: undefined as never,
      catalogue: createEventCatalogue([]),
      sender,
      reach: 'public',
      clock: undefined as never,
      changed: () => undefined,
    }).filter((route) => route.operationId === 'createWebhook');
    const refused = create!.handle({ caller: {}, body: { url: 'https://intern.example.com/' } } as never);
    const problem = await refused.catch((error: unknown) => error as Problem);
    expect(problem).toBeInstanceOf(Problem);
    // What a name resolves to inside the operator's network is not for customers.
    expect((problem as Problem).message).not.toContain('192.168.0.7');
    expect((problem as Problem).meta.errors).toMatchObject([{ pointer: '/url' }]);
  });
});

import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuthTiming } from '../../src/auth/auth.ts';
import { allowAddresses, changeScopes } from '../../src/auth/credentials.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  type AuthNode,
  eventually,
  newTestClient,
  postToken,
  READ_AND_WRITE,
  signedByUs,
  startAuthNode,
  type TestClient,
  tokenFor,
} from './auth-nodes.ts';

/** What a client may do with a token that it already has. */
const FAST: AuthTiming = { pollMs: 100, staleMs: 700, keyReloadIntervalMs: 25 };

let test: TestDatabase;
let node: AuthNode;
let other: AuthNode;
beforeAll(async () => {
  test = await createTestDatabase();
  const options = { timing: FAST, trustedProxies: ['127.0.0.0/8'] };
  node = await startAuthNode(test.database, options);
  other = await startAuthNode(test.database, { ...options, publicUrl: node.url });
});
afterAll(async () => {
  await Promise.all([node.stop(), other.stop()]);
  await test.drop();
});

/** One connection, as a proxy has it, over which requests of many addresses come. */
const connection = new Agent({ keepAlive: true, maxSockets: 1 });
afterAll(() => connection.destroy());

function call(
  { url }: AuthNode,
  token: string,
  from = '192.0.2.1',
): Promise<{ status: number; detail: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': from };
    request(`${url}/v2/who-am-i`, { agent: connection, headers }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode!, detail: JSON.parse(text).detail ?? '' }));
    })
      .on('error', reject)
      .end();
  });
}

const statusOf = async (...args: Parameters<typeof call>): Promise<number> => (await call(...args)).status;

function login({ clientId, clientSecret }: TestClient, from: string): Promise<Response> {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  return postToken(node.url, form, { 'x-forwarded-for': from });
}

describe('a client that is restricted to addresses', () => {
  it('gets tokens from these addresses only, at once', async () => {
    const client = await newTestClient(test.database);
    await allowAddresses(test.database, client.clientId, ['192.0.2.0/24', '2001:db8::/32']);
    for (const from of ['192.0.2.7', '2001:db8::7', '198.51.100.1, 192.0.2.9'])
      expect((await login(client, from)).status).toBe(200);
    const refused = await login(client, '198.51.100.1');
    expect(refused.status).toBe(401);
    expect(await refused.json()).toEqual({
      error: 'invalid_client',
      error_description: 'The client may not be used from the address 198.51.100.1.',
    });
    // With wrong credentials nobody learns that there is a restriction.
    const wrong = await login({ ...client, clientSecret: 'wrong' }, '198.51.100.1');
    expect(await wrong.json()).toMatchObject({
      error_description: 'The client is unknown or the secret is wrong.',
    });
  });

  it('can use its tokens from these addresses only, also on connections that they were used on before', async () => {
    const client = await newTestClient(test.database);
    const token = await tokenFor(node, client);
    for (const each of [node, other])
      for (const from of ['192.0.2.1', '198.51.100.1']) expect(await statusOf(each, token, from)).toBe(200);
    await allowAddresses(test.database, client.clientId, ['192.0.2.0/24']);
    for (const each of [node, other]) {
      await eventually(async () => (await statusOf(each, token, '198.51.100.1')) === 401);
      for (const [from, status] of [
        ['192.0.2.1', 200],
        ['198.51.100.1', 401],
        ['192.0.2.1', 200],
        ['192.0.2.2, 127.0.0.2', 200],
        ['192.0.2.2, 198.51.100.1', 401],
      ] as const)
        expect(await statusOf(each, token, from), from).toBe(status);
      expect((await call(each, token, '198.51.100.1')).detail).toBe(
        'The client of this access token may not be used from the address 198.51.100.1.',
      );
    }
    await allowAddresses(test.database, client.clientId, null);
    for (const each of [node, other])
      await eventually(async () => (await statusOf(each, token, '198.51.100.1')) === 200);
  });

  it('is not restricted by what a caller writes into the header if no proxy is trusted', async () => {
    const direct = await startAuthNode(test.database, { timing: FAST, publicUrl: node.url });
    const client = await newTestClient(test.database);
    const token = await tokenFor(node, client);
    await allowAddresses(test.database, client.clientId, ['192.0.2.0/24']);
    await eventually(async () => (await statusOf(direct, token, '192.0.2.1')) === 401);
    await allowAddresses(test.database, client.clientId, ['127.0.0.1']);
    await eventually(async () => (await statusOf(direct, token, '198.51.100.1')) === 200);
    await direct.stop();
  });

  it('has only ranges that exist, fifty at most', async () => {
    const { clientId } = await newTestClient(test.database);
    const allow = (ranges: string[]) => allowAddresses(test.database, clientId, ranges);
    for (const range of ['10.1.2.3/8', 'localhost', '', '10.0.0.0/33'])
      await expect(allow(['10.0.0.0/8', range])).rejects.toThrow(`"${range}" is not an address`);
    await expect(allow(Array.from({ length: 51 }, (_, host) => `192.0.2.${host}`))).rejects.toThrow(/50/);
    await expect(allowAddresses(test.database, 'ferry_unknown', null)).rejects.toThrow(/no client/);
    // A range that was written by hand matches nothing, and stops nobody else's refresh.
    await test.database.query(
      `update clients set allowed_addresses = '{nonsense,192.0.2.0/24}' where id = $1`,
      [clientId],
    );
    const client = await newTestClient(test.database);
    expect(await statusOf(node, await tokenFor(node, client))).toBe(200);
  });
});

describe('the scopes of a token', () => {
  it('count only as far as its client still has them, within seconds on every node', async () => {
    const client = await newTestClient(test.database);
    const token = await tokenFor(node, client);
    for (const each of [node, other]) expect(await statusOf(each, token)).toBe(200);
    await changeScopes(test.database, client.clientId, [READ_AND_WRITE[1]!]);
    for (const each of [node, other]) {
      await eventually(async () => (await statusOf(each, token)) === 403);
      const caller = await each.auth.authenticate(`Bearer ${token}`);
      expect([...caller.scopes]).toEqual([READ_AND_WRITE[1]]);
    }
    expect(await statusOf(node, await tokenFor(node, client))).toBe(403);
  });

  it('do not grow with those of its client', async () => {
    const client = await newTestClient(test.database);
    const token = await tokenFor(node, client, READ_AND_WRITE[1]);
    expect(await statusOf(node, token)).toBe(403);
    await changeScopes(test.database, client.clientId, [...READ_AND_WRITE, 'operator:review']);
    const late = await startAuthNode(test.database, { publicUrl: node.url });
    expect([...(await late.auth.authenticate(`Bearer ${token}`)).scopes]).toEqual([READ_AND_WRITE[1]]);
    await late.stop();
  });

  it('must exist', async () => {
    const { clientId } = await newTestClient(test.database);
    await expect(changeScopes(test.database, clientId, ['tea:write'])).rejects.toThrow(/Unknown scope/);
    await expect(changeScopes(test.database, clientId, [])).rejects.toThrow(/at least one scope/);
    await expect(changeScopes(test.database, 'ferry_unknown', READ_AND_WRITE)).rejects.toThrow(/no client/);
  });
});

describe('the lifetime of a token', () => {
  const now = (): number => Math.floor(Date.now() / 1000);

  it.each([
    ['for ten years, issued two hours ago', -7_200, 315_360_000, /older than 3600 seconds/],
    ['for ten years, issued in ten years', 315_360_000, 630_720_000, /future/],
    ['for another minute, issued two hours ago', -7_200, 60, /older than 3600 seconds/],
  ])('is an hour, even if the service signed it %s', async (_title, iat, exp, detail) => {
    const client = await newTestClient(test.database);
    const token = await signedByUs(test.database, {
      iss: node.url,
      aud: node.url,
      client_id: client.clientId,
      scope: READ_AND_WRITE.join(' '),
      iat: now() + iat,
      exp: now() + exp,
      jti: 'a',
    });
    const { status, detail: text } = await call(node, token);
    expect([status, text]).toEqual([401, expect.stringMatching(detail)]);
  });
});

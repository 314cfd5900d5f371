import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, type GenerateKeyPairResult, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { disableClient, registerClient } from '../../src/auth/administration.ts';
import { allowAddresses, changeScopes } from '../../src/auth/credentials.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { problemOf } from '../support/ledger.ts';
import { rightNow, shiftWallClock } from '../support/wall-clock.ts';
import {
  type AuthNode,
  eventually,
  newTestClient,
  postToken,
  startAuthNode,
  type TestClient,
  tokenFor,
} from './auth-nodes.ts';

/** An external authorization server, reduced to its keys. */
type Issuer = {
  url: string;
  server: Server;
  keys: Map<string, GenerateKeyPairResult>;
  published: Set<string>;
};

async function startIssuer(): Promise<Issuer> {
  const keys = new Map<string, GenerateKeyPairResult>();
  for (const alg of ['ES256', 'EdDSA', 'RS256']) keys.set(alg, await generateKeyPair(alg));
  const published = new Set(keys.keys());
  const server = createServer((_request, response) => {
    void Promise.all(
      [...published].map(async (alg) => ({ ...(await exportJWK(keys.get(alg)!.publicKey)), alg, kid: alg })),
    ).then((jwks) => response.end(JSON.stringify({ keys: jwks })));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, server, keys, published };
}

let test: TestDatabase;
let issuer: Issuer;
let node: AuthNode;
let client: TestClient;
const AUDIENCE = 'https://payments.example';
beforeAll(async () => {
  test = await createTestDatabase();
  issuer = await startIssuer();
  node = await startAuthNode(test.database, { externalIssuer: external(issuer.url) });
  client = await newTestClient(test.database, 'THIRD_PARTY');
});
afterAll(async () => {
  await node.stop();
  issuer.server.close();
  await test.drop();
});

function external(url: string) {
  return { issuer: url, jwksUrl: `${url}/keys`, customerClaim: 'tenant', audience: AUDIENCE };
}

const secondsAhead = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

function signed(claims: JWTPayload = {}, alg = 'ES256', typ = 'at+jwt'): Promise<string> {
  const issuedAt = Math.floor(Date.now() / 1000);
  const payload = {
    iss: issuer.url,
    aud: AUDIENCE,
    client_id: 'their-client',
    scope: 'transfer:read_transfer settlement:read_transaction',
    tenant: client.customerId,
    iat: issuedAt,
    exp: issuedAt + 60,
    ...claims,
  };
  return new SignJWT(payload)
    .setProtectedHeader({ alg, typ, kid: alg })
    .sign(issuer.keys.get(alg)!.privateKey);
}

const authenticate = (token: string) => node.auth.authenticate(`Bearer ${token}`);

describe('tokens of an external issuer', () => {
  it.each(['ES256', 'EdDSA'])('are accepted with %s, and mapped to the customer by id', async (alg) => {
    expect(await authenticate(await signed({}, alg))).toEqual({
      customerId: client.customerId,
      clientId: 'their-client',
      scopes: new Set(['transfer:read_transfer', 'settlement:read_transaction']),
      integration: 'THIRD_PARTY',
    });
  });

  it('are mapped to the customer by name', async () => {
    const token = await signed({ tenant: client.customerName });
    expect(await authenticate(token)).toMatchObject({ customerId: client.customerId });
    const response = await fetch(`${node.url}/v2/who-am-i`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await response.json()).toMatchObject({ client_id: 'their-client' });
  });

  it.each([
    ['their customer is unknown', () => signed({ tenant: 'Nobody' }), /tenant/],
    ['their customer claim is not a string', () => signed({ tenant: [client.customerId] }), /tenant/],
    ['they are for another audience', () => signed({ aud: 'https://other.example' }), /aud/],
    ['they have expired', () => signed({ exp: Math.floor(Date.now() / 1000) - 1 }), /expired/],
    ['they do not say when they were issued', () => signed({ iat: undefined as never }), /no iat claim/],
    ['they are older than a day', () => signed({ iat: secondsAhead(-86_401) }), /older than 86400 seconds/],
    ['they are from the future', () => signed({ iat: secondsAhead(400), exp: secondsAhead(900) }), /future/],
    ['they are ID tokens', () => signed({}, 'ES256', 'JWT'), /typ/],
    ['they are from another issuer', () => signed({ iss: 'https://other.example' }), /issuer/],
    ['their algorithm is not accepted', () => signed({}, 'RS256'), /algorithm/],
  ])('are refused if %s', async (_, make, detail) => {
    const problem = await problemOf(authenticate(await make()));
    expect([problem.status, problem.meta]).toEqual([401, { error: 'invalid_token' }]);
    expect(problem.message).toMatch(detail);
  });

  it('are refused if their key is not published, and get 503 if the keys cannot be fetched', async () => {
    const other = await startIssuer();
    const start = () => startAuthNode(test.database, { externalIssuer: external(other.url) });
    const make = (scope: string): Promise<string> =>
      new SignJWT({
        iss: other.url,
        aud: AUDIENCE,
        client_id: 'c',
        scope,
        tenant: client.customerId,
        iat: Math.floor(Date.now() / 1000),
        exp: Math.floor(Date.now() / 1000) + 60,
      })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'ES256' })
        .sign(other.keys.get('ES256')!.privateKey);
    other.published.delete('ES256');
    const [before, after] = [await start(), await start()];
    const refused = await problemOf(before.auth.authenticate(`Bearer ${await make('a')}`));
    expect([refused.status, refused.message]).toEqual([401, expect.stringContaining('unknown key')]);
    other.server.closeAllConnections();
    await new Promise((resolve) => other.server.close(resolve));
    const unknown = await problemOf(after.auth.authenticate(`Bearer ${await make('b')}`));
    expect([unknown.status, unknown.retryAfterSeconds]).toEqual([503, 5]);
    await Promise.all([before.stop(), after.stop()]);
  });

  it('are accepted with a key that was just published, even after the wall clock was set back', async () => {
    const other = await startIssuer();
    const start = await startAuthNode(test.database, { externalIssuer: external(other.url) });
    const token = (alg: string): Promise<string> =>
      new SignJWT({
        iss: other.url,
        aud: AUDIENCE,
        client_id: 'c',
        scope: 'a',
        tenant: client.customerId,
        iat: Math.floor(rightNow() / 1000),
        exp: Math.floor(rightNow() / 1000) + 60,
      })
        .setProtectedHeader({ alg, typ: 'at+jwt', kid: alg })
        .sign(other.keys.get(alg)!.privateKey);
    other.published.delete('EdDSA');
    expect(await start.auth.authenticate(`Bearer ${await token('ES256')}`)).toMatchObject({ clientId: 'c' });
    other.published.add('EdDSA');
    shiftWallClock(-3_600_000);
    const fresh = await token('EdDSA');
    await eventually(async () => {
      const answer = await start.auth.authenticate(`Bearer ${fresh}`).catch((error: unknown) => error);
      return !(answer instanceof Error);
    });
    shiftWallClock(0);
    await start.stop();
    other.server.close();
  });

  it('count only as far as their client, if it is registered here, still has their scopes', async () => {
    const own = await startAuthNode(test.database, {
      externalIssuer: external(issuer.url),
      timing: { pollMs: 50 },
    });
    const { database } = test;
    const request = { customer: client.customerId, name: 'theirs', scopes: ['transfer:read_transfer'] };
    await registerClient(database, { ...request, clientId: 'registered' });
    const token = await signed({ client_id: 'registered' });
    const scopes = async () => [...(await own.auth.authenticate(`Bearer ${token}`)).scopes];
    expect(await scopes()).toEqual(['transfer:read_transfer']);
    await changeScopes(database, 'registered', ['settlement:read_transaction', 'operator:review']);
    await expect.poll(scopes, { timeout: 30_000 }).toEqual(['settlement:read_transaction']);

    const stranger = await newTestClient(database);
    const others = await signed({ client_id: 'registered', tenant: stranger.customerId });
    expect((await problemOf(own.auth.authenticate(`Bearer ${others}`))).message).toMatch(/another customer/);

    const call = async (): Promise<number> =>
      (await fetch(`${own.url}/v2/who-am-i`, { headers: { authorization: `Bearer ${token}` } })).status;
    await changeScopes(database, 'registered', ['transfer:read_transfer']);
    await expect.poll(call, { timeout: 30_000 }).toBe(200);
    await allowAddresses(database, 'registered', ['192.0.2.0/24']);
    await expect.poll(call, { timeout: 30_000 }).toBe(401);
    await allowAddresses(database, 'registered', null);
    await expect.poll(call, { timeout: 30_000 }).toBe(200);
    await disableClient(database, 'registered');
    await expect.poll(call, { timeout: 30_000 }).toBe(401);
    await own.stop();
  });

  it('replace those of the service: it issues none, and accepts none of its own', async () => {
    const own = await startAuthNode(test.database);
    const token = await tokenFor(own, client);
    expect(await own.auth.authenticate(`Bearer ${token}`)).toMatchObject({ clientId: client.clientId });
    expect((await problemOf(authenticate(token))).status).toBe(401);
    await own.stop();
    const response = await postToken(node.url, { grant_type: 'client_credentials' });
    expect(response.status).toBe(404);
    expect((await fetch(`${node.url}/oauth2/revoke`, { method: 'POST' })).status).toBe(404);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(((await response.json()) as { detail: string }).detail).toContain(issuer.url);
    for (const path of ['jwks.json', 'oauth-authorization-server']) {
      expect((await fetch(`${node.url}/.well-known/${path}`)).status).toBe(404);
    }
  });
});

import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCustomer, seedClient } from '../../src/auth/administration.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { connectUnlocked, testVault } from '../support/vault.ts';
import {
  type AuthNode,
  basic,
  discover,
  insecure,
  newTestClient,
  postToken,
  READ_AND_WRITE,
  startAuthNode,
  type TestClient,
  tokenFor,
} from './auth-nodes.ts';

let test: TestDatabase;
let node: AuthNode;
let client: TestClient;
beforeAll(async () => {
  test = await createTestDatabase();
  node = await startAuthNode(test.database);
  client = await newTestClient(test.database, 'THIRD_PARTY');
});
afterAll(async () => {
  await node.stop();
  await test.drop();
});

const BASIC = 'Basic realm="ferry", charset="UTF-8"';
const grant = { grant_type: 'client_credentials' };
const inBody = () => ({ ...grant, client_id: client.clientId, client_secret: client.clientSecret });

async function expectTokenError(
  response: Response,
  status: number,
  error: string,
  challenge: string | null = BASIC,
): Promise<void> {
  expect({ status: response.status, body: await response.json() }).toEqual({
    status,
    body: { error, error_description: expect.stringMatching(/^[A-Z].+\.$/) },
  });
  expect(response.headers.get('content-type')).toContain('application/json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('pragma')).toBe('no-cache');
  expect(response.headers.get('www-authenticate')).toBe(status === 401 ? challenge : null);
}

async function grantedTo(
  authentication: oauth.ClientAuth,
  clientId: string,
  scope?: string,
): Promise<oauth.TokenEndpointResponse> {
  const as = await discover(node.url);
  const response = await oauth.clientCredentialsGrantRequest(
    as,
    { client_id: clientId },
    authentication,
    scope === undefined ? {} : { scope },
    insecure,
  );
  expect(response.headers.get('cache-control')).toBe('no-store');
  return oauth.processClientCredentialsResponse(as, { client_id: clientId }, response);
}

describe('a standard OAuth library', () => {
  it('discovers the endpoints', async () => {
    expect(await discover(node.url)).toMatchObject({
      issuer: node.url,
      token_endpoint: `${node.url}/oauth2/token`,
      jwks_uri: `${node.url}/.well-known/jwks.json`,
      grant_types_supported: ['client_credentials'],
      revocation_endpoint: `${node.url}/oauth2/revoke`,
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['EdDSA', 'Ed25519', 'ES256', 'RS256', 'PS256'],
      scopes_supported: expect.arrayContaining(['identity:write_account', 'operator:review']),
    });
  });

  it.each([
    ['client_secret_basic', oauth.ClientSecretBasic],
    ['client_secret_post', oauth.ClientSecretPost],
  ])('gets a token with %s and calls an operation with it', async (_, method) => {
    const token = await grantedTo(method(client.clientSecret), client.clientId);
    expect(token).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: READ_AND_WRITE.join(' ') });
    const response = await oauth.protectedResourceRequest(
      token.access_token,
      'GET',
      new URL(`${node.url}/v2/who-am-i`),
      undefined,
      undefined,
      insecure,
    );
    expect(await response.json()).toEqual({
      customer_id: client.customerId,
      client_id: client.clientId,
      integration: 'THIRD_PARTY',
    });
  });

  it('verifies the token as RFC 9068, with the published keys', async () => {
    const { access_token: token } = await grantedTo(
      oauth.ClientSecretBasic(client.clientSecret),
      client.clientId,
    );
    const request = new Request(`${node.url}/v2/who-am-i`, { headers: { authorization: `Bearer ${token}` } });
    const claims = await oauth.validateJwtAccessToken(await discover(node.url), request, node.url, insecure);
    expect(claims).toMatchObject({
      iss: node.url,
      aud: node.url,
      sub: client.clientId,
      client_id: client.clientId,
      customer_id: client.customerId,
      scope: READ_AND_WRITE.join(' '),
    });
    const keys = createRemoteJWKSet(new URL(`${node.url}/.well-known/jwks.json`));
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      typ: 'at+jwt',
      algorithms: ['EdDSA'],
    });
    expect(protectedHeader).toEqual({ alg: 'EdDSA', typ: 'at+jwt', kid: expect.any(String) });
    expect(payload.exp! - payload.iat!).toBe(3600);
    expect(payload.jti).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('gets fewer scopes when it asks for fewer', async () => {
    const token = await grantedTo(
      oauth.ClientSecretPost(client.clientSecret),
      client.clientId,
      READ_AND_WRITE[1],
    );
    expect(token.scope).toBe(READ_AND_WRITE[1]);
    expect(decodeJwt(token.access_token).scope).toBe(READ_AND_WRITE[1]);
    const response = await fetch(`${node.url}/v2/who-am-i`, {
      headers: { authorization: `Bearer ${token.access_token}` },
    });
    expect(response.status).toBe(403);
  });

  it('can authenticate with a secret that needs escaping in a Basic header', async () => {
    const customer = await createCustomer(test.database, { name: 'Encodings', integration: 'FIRST_PARTY' });
    const [clientId, clientSecret] = ['id:with%colon+plus', 'pä:ss w+ö%rd&=/?#~"\\'];
    const seed = { clientId, clientSecret, customer: customer.id, name: 'odd', scopes: READ_AND_WRITE };
    expect(await seedClient(test.database, testVault, seed)).toBe(true);
    for (const method of [oauth.ClientSecretBasic, oauth.ClientSecretPost]) {
      expect(await grantedTo(method(clientSecret), clientId)).toMatchObject({ expires_in: 3600 });
      await expect(grantedTo(method(`${clientSecret} `), clientId)).rejects.toThrow();
    }
  });
});

describe('the token endpoint', () => {
  it('accepts a multipart form', async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries(inBody())) form.set(name, value);
    const response = await fetch(`${node.url}/oauth2/token`, { method: 'POST', body: form });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ token_type: 'bearer', expires_in: 3600 });
  });

  it('rejects files in a multipart form', async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries(inBody())) form.set(name, value);
    form.set('scope', new Blob(['x']), 'scope.txt');
    const response = await fetch(`${node.url}/oauth2/token`, { method: 'POST', body: form });
    await expectTokenError(response, 400, 'invalid_request');
  });

  it('accepts a client_id in the body that equals the one in the Basic header', async () => {
    const headers = { authorization: basic(client.clientId, client.clientSecret) };
    const same = await postToken(node.url, { ...grant, client_id: client.clientId }, headers);
    expect(same.status).toBe(200);
    const other = await postToken(node.url, { ...grant, client_id: 'other' }, headers);
    await expectTokenError(other, 400, 'invalid_request');
  });

  it('treats a parameter without a value as absent, and ignores unknown ones', async () => {
    const response = await postToken(node.url, { ...inBody(), scope: '', audience: 'anything' });
    expect(((await response.json()) as { scope: string }).scope).toBe(READ_AND_WRITE.join(' '));
  });

  it('refuses a wrong secret, in the body and in the header', async () => {
    const secret = `${client.clientSecret.slice(0, -1)}!`;
    const wrong = { ...inBody(), client_secret: secret };
    await expectTokenError(await postToken(node.url, wrong), 401, 'invalid_client');
    // A browser would handle the challenge itself, and prompt its user instead of returning the response to the page.
    const ofAPage = await postToken(node.url, wrong, { origin: node.url });
    await expectTokenError(ofAPage, 401, 'invalid_client', null);
    const header = await postToken(node.url, grant, { authorization: basic(client.clientId, secret) });
    await expectTokenError(header, 401, 'invalid_client');
  });

  it('logs the request id of a refused request', async () => {
    const wrong = { ...inBody(), client_secret: 'wrong' };
    const refused = await postToken(node.url, wrong, { 'x-request-id': 'refused-1' });
    expect(refused.headers.get('x-request-id')).toBe('refused-1');
    expect(node.logs()).toContain('"request_id":"refused-1"');
  });

  it.each([
    ['an unknown client', () => ({ ...inBody(), client_id: 'ferry_000' }), {}, 401, 'invalid_client'],
    ['an id that cannot be stored', () => ({ ...inBody(), client_id: 'a\0b' }), {}, 401, 'invalid_client'],
    ['no authentication', () => grant, {}, 401, 'invalid_client'],
    ['a secret without an id', () => ({ ...grant, client_secret: 'x' }), {}, 401, 'invalid_client'],
    ['another scheme', () => grant, { authorization: 'Bearer abc' }, 401, 'invalid_client'],
    ['a Basic header without a colon', () => grant, { authorization: 'Basic YWJj' }, 401, 'invalid_client'],
    [
      'a Basic header that is not encoded',
      () => grant,
      { authorization: 'Basic JTolJQ==' },
      401,
      'invalid_client',
    ],
    [
      'two authentication methods at once',
      inBody,
      { authorization: basic('a', 'b') },
      400,
      'invalid_request',
    ],
    [
      'another grant type',
      () => ({ ...inBody(), grant_type: 'password' }),
      {},
      400,
      'unsupported_grant_type',
    ],
    ['no grant type', () => ({ client_id: 'a', client_secret: 'b' }), {}, 400, 'invalid_request'],
    [
      'a repeated parameter',
      () => 'grant_type=client_credentials&scope=a&scope=b',
      {},
      400,
      'invalid_request',
    ],
    [
      'a scope that the client may not have',
      () => ({ ...inBody(), scope: 'operator:review' }),
      {},
      400,
      'invalid_scope',
    ],
    ['JSON', () => JSON.stringify(grant), { 'content-type': 'application/json' }, 400, 'invalid_request'],
    [
      'an invalid multipart form',
      () => 'x',
      { 'content-type': 'multipart/form-data' },
      400,
      'invalid_request',
    ],
    ['a large body', () => 'a'.repeat(20_000), {}, 400, 'invalid_request'],
  ] as [string, () => Record<string, string> | string, Record<string, string>, number, string][])(
    'refuses %s',
    async (_, body, headers, status, error) => {
      await expectTokenError(await postToken(node.url, body(), headers), status, error);
    },
  );

  it('refuses parameters in the URL, which is logged in many places', async () => {
    const address = `${node.url}/oauth2/token?${new URLSearchParams(inBody()).toString()}`;
    await expectTokenError(await fetch(address, { method: 'POST' }), 400, 'invalid_request');
  });

  it('accepts forms only here: other operations accept only JSON, and GET is a 405 problem', async () => {
    const authorization = `Bearer ${await tokenFor(node, client)}`;
    const post = (type: string, body: string) =>
      fetch(`${node.url}/v2/echo`, {
        method: 'POST',
        body,
        headers: { authorization, 'content-type': type },
      });
    expect((await post('application/json', '{"text":"a"}')).status).toBe(200);
    expect((await post('application/x-www-form-urlencoded', 'text=a')).status).toBe(415);
    expect((await post('multipart/form-data; boundary=x', '--x--')).status).toBe(415);
    const get = await fetch(`${node.url}/oauth2/token`);
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    expect(get.headers.get('content-type')).toContain('application/problem+json');
  });

  it('answers 503 while the database is unavailable', async () => {
    const database = connectUnlocked(test.address, 2);
    const unavailable = await startAuthNode(database);
    await database.close();
    const response = await postToken(unavailable.url, inBody());
    expect(response.headers.get('retry-after')).toBe('1');
    await expectTokenError(response, 503, 'temporarily_unavailable');
    await unavailable.stop();
  });

  it('answers 429 after ten wrong secrets from one address, and nobody else is refused', async () => {
    const proxied = await startAuthNode(test.database, { trustedProxies: ['127.0.0.0/8'] });
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const attacked = await newTestClient(test.database);
    const right = { ...grant, client_id: attacked.clientId, client_secret: attacked.clientSecret };
    const wrong = { ...right, client_secret: 'wrong' };
    const attempt = (address: string) => postToken(proxied.url, wrong, from(address));
    for (let host = 1; host <= 10; host += 1) {
      expect((await attempt(`2001:db8::${host}`)).status).toBe(401);
      expect((await attempt('192.0.2.1')).status).toBe(401);
    }
    for (const address of ['2001:db8::ffff', '192.0.2.1']) {
      const refused = await attempt(address);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      await expectTokenError(refused, 429, 'temporarily_unavailable');
      // The first login of the client on this node, from the address of the attacker.
      expect((await postToken(proxied.url, right, from(address))).status).toBe(200);
    }
    for (const address of ['2001:db8:0:1::1', '192.0.2.2']) expect((await attempt(address)).status).toBe(401);
    expect((await postToken(proxied.url, right, from('192.0.2.3'))).status).toBe(200);
    await proxied.stop();
    // An attack does not fill the log.
    expect(proxied.logs().match(/wrong credentials/g)).toHaveLength(22);
  });
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenId, type OpenId } from '../../src/people/openid.ts';
import { createVault, newDataKey } from '../../src/sealing/vault.ts';

/** A provider whose token says what a test wants it to say. */
const CLIENT_ID = 'ferry';
const BACK = 'https://pay.example/signin/openid/callback';
const keys = await generateKeyPair('ES256');
const others = await generateKeyPair('ES256');
const server = createServer();
let issuer: string;
let idToken = '';
let openId: OpenId;

beforeAll(async () => {
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answers: Record<string, () => object> = {
    '/.well-known/openid-configuration': () => ({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      id_token_signing_alg_values_supported: ['ES256'],
    }),
    '/jwks': () => ({ keys: [jwk] }),
    '/token': () => ({ access_token: 'a', token_type: 'bearer', expires_in: 60, id_token: idToken }),
  };
  server.on('request', (request, response) => {
    const answer = answers[request.url!];
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer?.() ?? {}));
  });
  const vault = createVault([{ id: 1, key: newDataKey() }]);
  const clock = { now: () => BigInt(Date.now()) * 1_000_000n, nowMs: () => Date.now() };
  const provider = { issuer, clientId: CLIENT_ID, clientSecret: 'secret', name: 'Liar' };
  openId = createOpenId(provider, vault, clock);
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

type Lie = {
  readonly claims?: Record<string, unknown>;
  readonly key?: typeof keys.privateKey;
};

/** A whole sign-in, whose token has these lies in it. */
async function signIn({ claims = {}, key = keys.privateKey }: Lie) {
  const { url, cookie } = await openId.start(BACK);
  const asked = new URL(url).searchParams;
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const told = {
    iss: issuer,
    sub: 'ada',
    aud: CLIENT_ID,
    iat: nowSeconds,
    exp: nowSeconds + 300,
    nonce: asked.get('nonce'),
    email: 'ada@example.com',
    email_verified: true,
    ...claims,
  };
  idToken = await new SignJWT(told).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(key);
  const query = new URLSearchParams({ code: 'code', state: asked.get('state')!, iss: issuer });
  return openId.finish(BACK, query, cookie);
}

describe('the token of the provider', () => {
  it('is believed if everything in it is right', async () => {
    expect(await signIn({})).toEqual({
      issuer,
      subject: 'ada',
      email: 'ada@example.com',
      authenticatedAgoMs: undefined,
      stepUp: undefined,
    });
  });

  it.each<[string, () => Lie]>([
    ['is signed with another key', () => ({ key: others.privateKey })],
    ['has the nonce of another sign-in', () => ({ claims: { nonce: 'A'.repeat(43) } })],
    ['has no nonce', () => ({ claims: { nonce: undefined } })],
    ['is for another client', () => ({ claims: { aud: 'somebody-else' } })],
    ['is from another issuer', () => ({ claims: { iss: 'https://evil.example' } })],
    ['has expired', () => ({ claims: { exp: Math.floor(Date.now() / 1_000) - 3_600 } })],
  ])('is refused if it %s', async (_what, lie) => {
    await expect(signIn(lie())).rejects.toMatchObject({ slug: 'unauthenticated' });
  });

  it('is not believed about an address without the word true', async () => {
    for (const claims of [{ email_verified: 'true' }, { email_verified: undefined }, { email: 7 }])
      expect((await signIn({ claims })).email).toBeUndefined();
  });
});

import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addKeys, listKeys, removeKey } from '../../src/auth/credentials.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  type AuthNode,
  discover,
  insecure,
  newTestClient,
  postToken,
  startAuthNode,
  type TestClient,
} from './auth-nodes.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const grant = { grant_type: 'client_credentials' };

let test: TestDatabase;
let node: AuthNode;
let other: AuthNode;
let client: TestClient;
let key: CryptoKey;
const KID = 'main';
beforeAll(async () => {
  test = await createTestDatabase();
  const trustedProxies = ['127.0.0.0/8'];
  node = await startAuthNode(test.database, { trustedProxies });
  other = await startAuthNode(test.database, { trustedProxies, publicUrl: node.url });
  client = await newTestClient(test.database);
  key = await addKey(client.clientId, 'EdDSA', KID);
});
afterAll(async () => {
  await Promise.all([node.stop(), other.stop()]);
  await test.drop();
});

/** The private key of a new pair whose public key the client has. */
async function addKey(clientId: string, algorithm: string, kid: string): Promise<CryptoKey> {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  await addKeys(test.database, clientId, JSON.stringify({ ...(await exportJWK(pair.publicKey)), kid }));
  return pair.privateKey;
}

let count = 0;
function claims(): JWTPayload {
  const now = Math.floor(Date.now() / 1000);
  count += 1;
  const { clientId } = client;
  return { iss: clientId, sub: clientId, aud: node.url, iat: now, exp: now + 60, jti: `assertion-${count}` };
}

function sign(
  payload: JWTPayload,
  header: { kid?: string; alg?: string } = {},
  by: CryptoKey = key,
): Promise<string> {
  return new SignJWT(payload).setProtectedHeader({ alg: 'EdDSA', kid: KID, ...header }).sign(by);
}

async function login(assertion: string, url = node.url): Promise<{ status: number; body: any }> {
  const form = { ...grant, client_assertion_type: ASSERTION_TYPE, client_assertion: assertion };
  count += 1;
  // Each from another address, because failures are counted by address.
  const answer = await postToken(url, form, { 'x-forwarded-for': `192.0.2.${count % 256}` });
  return { status: answer.status, body: await answer.json() };
}

describe('a client with a key', () => {
  it.each(['EdDSA', 'ES256', 'RS256', 'PS256'])(
    'gets and revokes a token with a standard library and %s',
    async (algorithm) => {
      const own = await newTestClient(test.database);
      const privateKey = await addKey(own.clientId, algorithm, `key-${algorithm}`);
      const as = await discover(node.url);
      expect(as.token_endpoint_auth_methods_supported).toContain('private_key_jwt');
      const proof = oauth.PrivateKeyJwt({ key: privateKey, kid: `key-${algorithm}` });
      const them = { client_id: own.clientId };
      const response = await oauth.clientCredentialsGrantRequest(as, them, proof, {}, insecure);
      const { access_token: token } = await oauth.processClientCredentialsResponse(as, them, response);
      expect(await node.auth.authenticate(`Bearer ${token}`)).toMatchObject({ clientId: own.clientId });
      const revoked = await oauth.revocationRequest(as, them, proof, token, insecure);
      await oauth.processRevocationResponse(revoked);
      await expect(node.auth.authenticate(`Bearer ${token}`)).rejects.toThrow(/revoked/);
    },
  );

  it('may name the issuer or the token endpoint, also in a list, and leave out the kid of its only key', async () => {
    const { url } = node;
    for (const aud of [url, `${url}/oauth2/token`, ['https://other.example', url]])
      expect((await login(await sign({ ...claims(), aud }))).status).toBe(200);
    const withoutKid = await new SignJWT(claims()).setProtectedHeader({ alg: 'EdDSA' }).sign(key);
    expect((await login(withoutKid)).status).toBe(200);
  });

  it('can use an assertion once, on whichever node', async () => {
    const assertion = await sign(claims());
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => login(assertion, node.url)),
      ...Array.from({ length: 5 }, () => login(assertion, other.url)),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status !== 200).map(({ body }) => body);
    expect(refused[0].error_description).toMatch(/used before/);
  });

  it('still has its secret, and may use only one of the two in a request', async () => {
    const { clientId, clientSecret } = client;
    const secret = { ...grant, client_id: clientId, client_secret: clientSecret };
    expect((await postToken(node.url, secret)).status).toBe(200);
    const both = { ...secret, client_assertion_type: ASSERTION_TYPE, client_assertion: await sign(claims()) };
    expect((await postToken(node.url, both)).status).toBe(400);
    const named = { ...grant, client_assertion_type: ASSERTION_TYPE, client_assertion: await sign(claims()) };
    expect((await postToken(node.url, { ...named, client_id: 'another' })).status).toBe(400);
    expect((await postToken(node.url, { ...named, client_assertion_type: 'jwt' })).status).toBe(400);
    expect((await postToken(node.url, { ...named, client_id: clientId })).status).toBe(200);
  });

  it('names the key by its kid if it has several that fit, and is refused at once if the key is removed', async () => {
    const own = await newTestClient(test.database);
    const [one, two] = [
      await addKey(own.clientId, 'EdDSA', 'one'),
      await addKey(own.clientId, 'EdDSA', 'two'),
    ];
    const ours = () => ({ ...claims(), iss: own.clientId, sub: own.clientId });
    const unnamed = await new SignJWT(ours()).setProtectedHeader({ alg: 'EdDSA' }).sign(one);
    expect((await login(unnamed)).body.error_description).toMatch(/several keys/);
    expect((await login(await sign(ours(), { kid: 'one' }, one))).status).toBe(200);
    expect((await login(await sign(ours(), { kid: 'one' }, two))).status).toBe(401);
    expect((await login(await sign(ours(), { kid: 'two' }, two))).status).toBe(200);
    await removeKey(test.database, own.clientId, 'two');
    expect((await login(await sign(ours(), { kid: 'two' }, two))).status).toBe(401);
    expect((await login(await sign(ours(), { kid: 'one' }, one))).status).toBe(200);
  });
});

describe('an assertion', () => {
  const now = (): number => Math.floor(Date.now() / 1000);
  const without = (name: string): JWTPayload =>
    Object.fromEntries(Object.entries(claims()).filter(([claim]) => claim !== name));

  it.each([
    ['is for another service', () => sign({ ...claims(), aud: 'https://other.example' }), /aud claim/],
    ['has no audience', () => sign(without('aud')), /aud claim/],
    ['has expired', () => sign({ ...claims(), exp: now() - 60 }), /expired/],
    ['never expires', () => sign(without('exp')), /exp claim/],
    ['expires in an hour', () => sign({ ...claims(), exp: now() + 3_600 }), /300 seconds ahead/],
    ['is not valid yet', () => sign({ ...claims(), nbf: now() + 120 }), /nbf claim/],
    ['has no id', () => sign(without('jti')), /jti claim/],
    ['has an id that is too long', () => sign({ ...claims(), jti: 'x'.repeat(257) }), /jti/],
    ['has an id that cannot be stored', () => sign({ ...claims(), jti: 'a\0b' }), /jti/],
    ['is from another issuer', () => sign({ ...claims(), iss: 'ferry_1' }), /iss claim/],
    ['has no subject', () => sign(without('sub')), /sub claim/],
    ['is for an unknown client', () => sign({ ...claims(), sub: 'ferry_unknown' }), /unknown/],
    ['is for an id that cannot be stored', () => sign({ ...claims(), sub: 'a\0b' }), /unknown/],
    ['names an unknown key', () => sign(claims(), { kid: 'unknown' }), /unknown/],
    ['is not signed', async () => new UnsecuredJWT(claims()).encode(), /unknown/],
    ['is not a JWT', async () => 'a.b.c', /must be a JWT/],
  ] as [string, () => Promise<string>, RegExp][])('is refused if it %s', async (_, make, detail) => {
    const { status, body } = await login(await make());
    expect([status, body.error]).toEqual([401, 'invalid_client']);
    expect(body.error_description).toMatch(detail);
  });

  it('is refused if another key signed it, whatever algorithm it claims', async () => {
    const { privateKey } = await generateKeyPair('EdDSA');
    const es256 = await generateKeyPair('ES256');
    const [stored] = await listKeys(test.database, client.clientId);
    const hmac = new TextEncoder().encode(stored!.jwk.x);
    const forged = [
      await sign(claims(), {}, privateKey),
      await sign(claims(), { alg: 'ES256' }, es256.privateKey),
      await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: KID }).sign(hmac),
    ];
    for (const assertion of forged) expect((await login(assertion)).status).toBe(401);
  });
});

describe('a key', () => {
  const add = (jwk: object | string): Promise<string[]> =>
    addKeys(test.database, client.clientId, typeof jwk === 'string' ? jwk : JSON.stringify(jwk));

  it('gets its thumbprint as its id if it has none, and loses everything but its public members', async () => {
    const own = await newTestClient(test.database);
    const { publicKey } = await generateKeyPair('ES256');
    const jwk = { ...(await exportJWK(publicKey)), use: 'sig', key_ops: ['verify'], note: 'mine' };
    const [kid] = await addKeys(test.database, own.clientId, JSON.stringify({ keys: [jwk] }));
    expect(kid).toMatch(/^[\w-]{43}$/);
    const [stored] = await listKeys(test.database, own.clientId);
    expect(stored).toMatchObject({ kid, jwk: { kty: 'EC', crv: 'P-256', x: jwk.x, y: jwk.y, kid } });
    expect(Object.keys(stored!.jwk).sort()).toEqual(['crv', 'kid', 'kty', 'x', 'y']);
  });

  it('is refused if it is private, weak, of another kind, or broken', async () => {
    const pair = await generateKeyPair('EdDSA', { extractable: true });
    const [good, secret] = [await exportJWK(pair.publicKey), await exportJWK(pair.privateKey)];
    const p384 = await exportJWK((await generateKeyPair('ES384')).publicKey);
    const { n, ...rsa } = await exportJWK((await generateKeyPair('RS256')).publicKey);
    const short = Buffer.from(n!, 'base64url').subarray(0, 128).toString('base64url');
    for (const [jwk, reason] of [
      [secret, /private/],
      [p384, /Ed25519, P-256 or RSA/],
      [{ kty: 'oct', k: 'c2VjcmV0' }, /private/],
      [{ ...rsa, n: short }, /2048 to 4096 bits, not 1024/],
      [{ ...good, x: 'AAAA' }, /not a valid public key/],
      [{ ...good, use: 'enc' }, /must be one for/],
      [{ ...good, alg: 'ES256' }, /must be one for/],
      [{ ...good, kid: 'x y' }, /visible ASCII/],
      [{ ...good, kid: KID }, /already has a key/],
      [{ keys: [] }, /empty/],
      [[], /JSON Web Key/],
      ['nonsense', /not JSON/],
    ] as [object | string, RegExp][])
      await expect(add(jwk), JSON.stringify(jwk)).rejects.toThrow(reason);
    await expect(addKeys(test.database, 'ferry_unknown', JSON.stringify(good))).rejects.toThrow(/no client/);
  });

  it('is one of ten at most: a set that has too many is refused as a whole', async () => {
    const own = await newTestClient(test.database);
    const { publicKey } = await generateKeyPair('EdDSA');
    const jwk = await exportJWK(publicKey);
    const set = (length: number) =>
      JSON.stringify({ keys: Array.from({ length }, (_, kid) => ({ ...jwk, kid: `${kid}` })) });
    await expect(addKeys(test.database, own.clientId, set(11))).rejects.toThrow(/10 keys.*11/);
    expect(await listKeys(test.database, own.clientId)).toEqual([]);
    expect(await addKeys(test.database, own.clientId, set(10))).toHaveLength(10);
  });
});

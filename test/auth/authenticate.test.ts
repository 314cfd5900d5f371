import { createHmac, createPublicKey } from 'node:crypto';
import { decodeJwt, exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { disableClient } from '../../src/auth/administration.ts';
import { createAuth } from '../../src/auth/auth.ts';
import { failureOf } from '../../src/database/failure.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { NS_PER_MS } from '../../src/kernel/instant.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { problemOf } from '../support/ledger.ts';
import { connectUnlocked, testVault } from '../support/vault.ts';
import {
  type AuthNode,
  counting,
  newTestClient,
  READ_AND_WRITE,
  refusal,
  signedByUs,
  startAuthNode,
  type TestClient,
  tokenFor,
} from './auth-nodes.ts';

let test: TestDatabase;
let node: AuthNode;
let client: TestClient;
let token: string;
/** How far the service's clock is ahead of the correct time. */
let aheadMs = 0;
const clock: Clock = {
  now: () => BigInt(clock.nowMs()) * NS_PER_MS,
  nowMs: () => Date.now() + aheadMs,
};
beforeAll(async () => {
  test = await createTestDatabase();
  node = await startAuthNode(test.database, { clock, timing: { keyReloadIntervalMs: 20 } });
  client = await newTestClient(test.database);
  token = await tokenFor(node, client);
});
afterAll(async () => {
  await node.stop();
  await test.drop();
});
afterEach(() => {
  aheadMs = 0;
});

/** The claims of a valid token. */
function claims(): JWTPayload {
  const issuedAt = Math.floor(Date.now() / 1000);
  return {
    iss: node.url,
    aud: node.url,
    sub: client.clientId,
    client_id: client.clientId,
    customer_id: client.customerId,
    scope: 'transfer:read_transfer',
    iat: issuedAt,
    exp: issuedAt + 3600,
    jti: 'a',
  };
}

function without(name: string): JWTPayload {
  return Object.fromEntries(Object.entries(claims()).filter(([key]) => key !== name));
}

async function expectInvalid(forged: string, detail: RegExp): Promise<void> {
  const problem = await refusal(node.auth, forged);
  expect(problem).toMatchObject({ slug: 'unauthenticated', status: 401, meta: { error: 'invalid_token' } });
  expect(problem.message).toMatch(detail);
  // The refused token was not cached as valid.
  expect((await refusal(node.auth, forged)).status).toBe(401);
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

describe('the Authorization header', () => {
  it('authenticates a token and identifies the caller', async () => {
    expect(await node.auth.authenticate(`Bearer ${token}`)).toEqual({
      customerId: client.customerId,
      clientId: client.clientId,
      name: 'test',
      scopes: new Set(READ_AND_WRITE),
      integration: 'FIRST_PARTY',
    });
    expect(await node.auth.authenticate(`bearer ${token}`)).toMatchObject({ clientId: client.clientId });
  });

  it.each([
    ['is absent', undefined, undefined],
    ['has another scheme', 'Basic YTpi', undefined],
    ['is empty', '', undefined],
    ['has no token', 'Bearer', 'invalid_token'],
    ['has two tokens', 'Bearer a.b.c d.e.f', 'invalid_token'],
    ['has no JWT', 'Bearer abc', 'invalid_token'],
    ['has only dots', 'Bearer ..', 'invalid_token'],
    ['has a very long token', `Bearer ${'a'.repeat(9_000)}`, 'invalid_token'],
  ])('is refused if it %s', async (_, header, error) => {
    const problem = await problemOf(node.auth.authenticate(header));
    expect([problem.status, problem.meta.error]).toEqual([401, error]);
  });

  it('is challenged as RFC 6750 requires', async () => {
    const challenge = async (headers: Record<string, string>): Promise<unknown> => {
      const response = await fetch(`${node.url}/v2/who-am-i`, { headers });
      return [response.status, response.headers.get('www-authenticate')];
    };
    expect(await challenge({})).toEqual([401, 'Bearer realm="ferry"']);
    expect(await challenge({ authorization: 'Bearer abc' })).toEqual([
      401,
      'Bearer realm="ferry", error="invalid_token"',
    ]);
  });
});

describe('a token signed with the key of the service', () => {
  it('is valid if all its claims are; the tests below change one claim each', async () => {
    const good = await signedByUs(test.database, claims());
    expect(await node.auth.authenticate(`Bearer ${good}`)).toMatchObject({ clientId: client.clientId });
  });

  it.each([
    ['it has expired', () => ({ ...claims(), exp: Math.floor(Date.now() / 1000) - 1 }), {}, /expired/],
    ['it never expires', () => without('exp'), {}, /exp /],
    ['it is for another service', () => ({ ...claims(), aud: 'https://other.example' }), {}, /aud /],
    ['it has no audience', () => without('aud'), {}, /aud /],
    ['it is from another issuer', () => ({ ...claims(), iss: 'https://other.example' }), {}, /issuer/],
    ['it has no scope', () => without('scope'), {}, /scope /],
    ['its scope is a list', () => ({ ...claims(), scope: ['transfer:read_transfer'] }), {}, /malformed/],
    ['it has no client id', () => without('client_id'), {}, /client_id /],
    ['its client is unknown', () => ({ ...claims(), client_id: 'ferry_unknown' }), {}, /disabled/],
    ['it is not an access token', claims, { typ: 'JWT' }, /typ /],
    ['its key is unknown', claims, { kid: 'unknown' }, /unknown key/],
  ] as [string, () => JWTPayload, { typ?: string; kid?: string }, RegExp][])(
    'is refused if %s',
    async (_, payload, header, detail) => {
      await expectInvalid(await signedByUs(test.database, payload(), header), detail);
    },
  );
});

describe('a forged token', () => {
  it('is refused without a signature (alg none)', async () => {
    await expectInvalid(new UnsecuredJWT(claims()).encode(), /algorithm|malformed/);
    const { kid } = await publicKey();
    const unsigned = `${encode({ alg: 'none', typ: 'at+jwt', kid })}.${encode(claims())}.`;
    await expectInvalid(unsigned, /algorithm|malformed/);
    const [header, payload] = token.split('.');
    await expectInvalid(`${header}.${payload}.`, /signature|malformed/);
  });

  it('is refused if it is an HMAC with the public key as its secret', async () => {
    const jwk = await publicKey();
    const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    for (const secret of [pem, Buffer.from(jwk.x as string, 'base64url'), JSON.stringify(jwk)]) {
      const signed = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: jwk.kid })}.${encode(claims())}`;
      const signature = createHmac('sha256', secret).update(signed).digest('base64url');
      await expectInvalid(`${signed}.${signature}`, /algorithm/);
    }
  });

  it('is refused if its payload was altered', async () => {
    const [header, , signature] = token.split('.');
    const altered = { ...decodeJwt(token), scope: 'operator:review' };
    await expectInvalid(`${header}.${encode(altered)}.${signature}`, /signature/);
  });

  it("is refused if it embeds the attacker's key under a valid key id", async () => {
    const { publicKey: theirs, privateKey } = await generateKeyPair('EdDSA');
    const { kid } = await publicKey();
    const jwk = await exportJWK(theirs);
    const forged = await new SignJWT(claims())
      .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: kid as string, jwk })
      .sign(privateKey);
    await expectInvalid(forged, /signature/);
  });

  it('is refused with another asymmetric algorithm', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    const { kid } = await publicKey();
    const forged = await new SignJWT(claims())
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: kid as string })
      .sign(privateKey);
    await expectInvalid(forged, /algorithm/);
  });
});

async function publicKey(): Promise<Record<string, unknown>> {
  const response = await fetch(`${node.url}/.well-known/jwks.json`);
  const { keys } = (await response.json()) as { keys: Record<string, unknown>[] };
  expect(keys).toHaveLength(1);
  // No private part.
  expect(Object.keys(keys[0]!).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  return keys[0]!;
}

describe('a token that was verified before', () => {
  it('costs no query', async () => {
    const counted = counting(test.database);
    const publicUrl = (): string => node.url;
    const [vault, { log }] = [testVault, node.app];
    const auth = createAuth({ database: counted.database, vault, clock, publicUrl, log });
    await auth.authenticate(`Bearer ${token}`);
    const before = counted.queries();
    expect(before).toBeGreaterThan(0);
    for (let time = 0; time < 1_000; time += 1) await auth.authenticate(`Bearer ${token}`);
    expect(counted.queries()).toBe(before);
  });

  it('is refused once it has expired', async () => {
    const short = await signedByUs(test.database, {
      ...claims(),
      exp: Math.floor(Date.now() / 1000) + 3_600,
    });
    aheadMs = 3_000_000;
    expect(await node.auth.authenticate(`Bearer ${short}`)).toMatchObject({ clientId: client.clientId });
    aheadMs = 3_601_000;
    await expectInvalid(short, /expired/);
  });

  it('does not validate another token with the same prefix', async () => {
    await node.auth.authenticate(`Bearer ${token}`);
    const last = token.at(-2) === 'A' ? 'B' : 'A';
    await expectInvalid(`${token.slice(0, -2)}${last}${token.at(-1)}`, /signature/);
  });

  it('gets 503 if the node cannot find out whether its client is still enabled', async () => {
    const database = connectUnlocked(test.address, 2);
    const publicUrl = (): string => node.url;
    const [vault, { log }] = [testVault, node.app];
    const [fresh, stale] = [600_000, 1].map((staleMs) =>
      createAuth({ database, vault, clock, publicUrl, log, timing: { staleMs } }),
    );
    for (const auth of [fresh!, stale!]) await auth.authenticate(`Bearer ${token}`);
    await database.close();
    expect(await fresh!.authenticate(`Bearer ${token}`)).toMatchObject({ clientId: client.clientId });
    await vi.waitFor(async () => {
      const reason = await stale!.authenticate(`Bearer ${token}`).catch((error: unknown) => error);
      expect(failureOf(reason)).toBe('unavailable');
    }, 30_000);
  });
});

describe('a connection', () => {
  const header = (): string => `Bearer ${token}`;

  it('caches its last caller, by the exact header', async () => {
    const connection = {};
    expect(node.auth.recall(header(), connection)).toBeUndefined();
    const caller = await node.auth.authenticate(header(), connection);
    expect(node.auth.recall(header(), connection)).toBe(caller);
    expect(node.auth.recall(header(), {})).toBeUndefined();
    for (const other of [undefined, `${header()} `, header().slice(0, -1), header().replace('B', 'b')]) {
      expect(node.auth.recall(other, connection)).toBeUndefined();
    }
  });

  it('does not cache a caller whose token was refused', async () => {
    const connection = {};
    const at = header().length - 10;
    const other = header().charAt(at) === 'A' ? 'B' : 'A';
    const forged = header().slice(0, at) + other + header().slice(at + 1);
    await problemOf(node.auth.authenticate(forged, connection));
    expect(node.auth.recall(forged, connection)).toBeUndefined();
  });

  it('does not know anybody any more whose token has expired', async () => {
    const short = `Bearer ${await signedByUs(test.database, { ...claims(), exp: Math.floor(Date.now() / 1000) + 3_600 })}`;
    const connection = {};
    await node.auth.authenticate(short, connection);
    aheadMs = 3_000_000;
    expect(node.auth.recall(short, connection)).toMatchObject({ clientId: client.clientId });
    aheadMs = 3_601_000;
    expect(node.auth.recall(short, connection)).toBeUndefined();
  });

  it('refuses a cached client that was disabled, and a token whose key is no longer trusted', async () => {
    const other = await startAuthNode(test.database, { timing: { pollMs: 20, keyReloadIntervalMs: 20 } });
    const doomed = await newTestClient(test.database);
    const call = async (bearer: string): Promise<number> => {
      const headers = { authorization: `Bearer ${bearer}` };
      return (await fetch(`${other.url}/v2/who-am-i`, { headers })).status;
    };
    const disabled = await tokenFor(other, doomed);
    expect([await call(disabled), await call(disabled)]).toEqual([200, 200]);
    await disableClient(test.database, doomed.clientId);
    await vi.waitFor(async () => expect(await call(disabled)).toBe(401), 30_000);

    const distrusted = await tokenFor(other, client);
    expect([await call(distrusted), await call(distrusted)]).toEqual([200, 200]);
    await other.auth.rotateKey({ distrustOld: true });
    expect(await call(distrusted)).toBe(401);
    await other.stop();
  });
});

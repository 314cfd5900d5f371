import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { disableClient } from '../../src/auth/administration.ts';
import type { AuthTiming } from '../../src/auth/auth.ts';
import { deleteExpired } from '../../src/auth/credential-store.ts';
import { LIMITS } from '../../src/limits.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  type AuthNode,
  basic,
  discover,
  eventually,
  insecure,
  newTestClient,
  startAuthNode,
  type TestClient,
  tokenFor,
} from './auth-nodes.ts';

const FAST: AuthTiming = { pollMs: 100, staleMs: 700, keyReloadIntervalMs: 25 };

let test: TestDatabase;
let node: AuthNode;
let other: AuthNode;
let client: TestClient;
beforeAll(async () => {
  test = await createTestDatabase();
  node = await startAuthNode(test.database, { timing: FAST });
  other = await startAuthNode(test.database, { timing: FAST, publicUrl: node.url });
  client = await newTestClient(test.database);
});
afterAll(async () => {
  await Promise.all([node.stop(), other.stop()]);
  await test.drop();
});

async function revoke(
  form: Record<string, string>,
  { clientId, clientSecret } = client,
): Promise<{ status: number; body: any }> {
  const answer = await fetch(`${node.url}/oauth2/revoke`, {
    method: 'POST',
    headers: { authorization: basic(clientId, clientSecret) },
    body: new URLSearchParams(form),
  });
  return { status: answer.status, body: await answer.json() };
}

/** On a connection that has used the token before, and on others. */
async function status({ url }: AuthNode, token: string): Promise<number> {
  const answer = await fetch(`${url}/v2/who-am-i`, { headers: { authorization: `Bearer ${token}` } });
  await answer.text();
  return answer.status;
}

describe('a revoked token', () => {
  it('is refused on the node at once, on every other within a poll, and alone', async () => {
    const [doomed, spared] = [await tokenFor(node, client), await tokenFor(node, client)];
    for (const each of [node, other])
      for (const token of [doomed, spared]) expect(await status(each, token)).toBe(200);
    const as = await discover(node.url);
    const proof = oauth.ClientSecretBasic(client.clientSecret);
    const answer = await oauth.revocationRequest(as, { client_id: client.clientId }, proof, doomed, insecure);
    await oauth.processRevocationResponse(answer);
    expect(await status(node, doomed)).toBe(401);
    await eventually(async () => (await status(other, doomed)) === 401);
    for (const each of [node, other]) {
      expect(await status(each, spared)).toBe(200);
      await expect(each.auth.authenticate(`Bearer ${doomed}`)).rejects.toThrow(/revoked/);
    }
    // A node that starts later has never seen it.
    const late = await startAuthNode(test.database, { publicUrl: node.url });
    expect([await status(late, doomed), await status(late, spared)]).toEqual([401, 200]);
    await late.stop();
  });

  it('can be revoked again, and so can any text that is no token', async () => {
    const token = await tokenFor(node, client);
    for (const text of [token, token, `${token}x`, 'nonsense', '..', 'a'.repeat(9_000)])
      expect(await revoke({ token: text, token_type_hint: 'access_token' })).toEqual({
        status: 200,
        body: {},
      });
    expect(await status(node, token)).toBe(401);
  });

  it('stays valid if another client asks, or one that does not authenticate', async () => {
    const token = await tokenFor(node, client);
    const stranger = await newTestClient(test.database);
    expect(await revoke({ token }, stranger)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant', error_description: expect.stringMatching(/another client/) },
    });
    expect((await revoke({ token }, { ...client, clientSecret: 'wrong' })).status).toBe(401);
    expect((await revoke({})).body.error).toBe('invalid_request');
    const anonymous = await fetch(`${node.url}/oauth2/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token }),
    });
    expect(anonymous.status).toBe(401);
    await disableClient(test.database, stranger.clientId);
    expect((await revoke({ token }, stranger)).status).toBe(401);
    expect(await status(node, token)).toBe(200);
  });

  it('is remembered only until it has expired, and only so many of one client are', async () => {
    const own = await newTestClient(test.database);
    const token = await tokenFor(node, own);
    const fill = `insert into revoked_tokens (client_id, jti, expires_at_ns)
      select $1, 'filled-' || number, $2 from generate_series(1, $3) as number`;
    const ahead = BigInt(Date.now() + 3_600_000) * 1_000_000n;
    await test.database.query(fill, [own.clientId, ahead, LIMITS.revokedTokensMax]);
    expect((await revoke({ token }, own)).status).toBe(429);
    await test.database.query('update revoked_tokens set expires_at_ns = 1 where client_id = $1', [
      own.clientId,
    ]);
    expect(await deleteExpired(test.database, 600)).toBe(true);
    expect(await deleteExpired(test.database, 600)).toBe(false);
    expect((await revoke({ token }, own)).status).toBe(200);
    const rows = await test.database.query<{ jti: string; at: bigint }>(
      'select jti, expires_at_ns as at from revoked_tokens where client_id = $1',
      [own.clientId],
    );
    const { jti, exp } = decodeJwt(token);
    expect(rows).toEqual([{ jti, at: expect.any(BigInt) }]);
    expect(rows[0]!.at).toBeGreaterThan(BigInt(exp!) * 1_000_000_000n);
    expect(await status(node, token)).toBe(401);
  });
});
